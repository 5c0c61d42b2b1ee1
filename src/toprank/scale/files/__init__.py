"""Files of any size: found, read in parts and batches, scored; only the best rows are kept."""
