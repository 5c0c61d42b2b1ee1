"""Choosing a ranker's parameters by cross-validation."""
