"""Accuracy at the top quantile: pins, the quadratic program of one pin, Pat&Mat."""
