"""Dask arrays in partitions: statistics, logistic regression, reranking, convex rankers, boosting."""
