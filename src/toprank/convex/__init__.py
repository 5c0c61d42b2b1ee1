"""Minimise a convex loss of the scores plus a penalty, and say how far from the minimum the answer is."""
