"""Exact search with two features on lists of any length: intervals of directions, and orders of the rows."""
