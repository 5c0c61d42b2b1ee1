"""Rankers made of rankers: blends of cross-fitted members, bags of one ranker."""
