"""Losses over pairs: RankSVM, least squares, greedy selection."""
