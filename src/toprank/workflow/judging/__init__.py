"""What rankers and columns are worth on rows that were held out, and whether a gain may be luck."""
