"""Exact search on long lists of which only the top counts: boxes of directions that carry rows, not pairs."""
