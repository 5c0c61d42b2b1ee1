"""Boosting of single columns: the loss's own gradients, or no gradients at all."""
