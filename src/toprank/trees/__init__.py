"""Ranking trees, forests of them, and the consensus of several rankings."""
