"""Rows that do not fit into memory: files read in batches."""
