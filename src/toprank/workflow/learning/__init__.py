"""One fit and all around it: which rows, which rankers, how deep, what the time allows."""
