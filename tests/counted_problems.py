"""Rows of four kinds, and proofs of small problems by every method."""

import numpy as np

from toprank.control import Run
from toprank.exact.search.choice import compile_for
from toprank.exact.search.driver import search

KINDS = ("random", "tied", "duplicated", "whole")
METHODS = ("boxes", "cells", "slices")


def rows_of(kind, rng, n, d):
    if kind == "tied":
        return np.round(rng.normal(size=(n, d)))
    if kind == "whole":
        return rng.integers(-40, 41, (n, d)).astype(float)
    X = rng.normal(size=(n, d))
    if kind == "duplicated":
        X = X[rng.integers(0, n // 2 + 1, n)]
    return X


def proved(problem, method, **options):
    compile_for(problem, method)
    with Run(rng=0, time_limit=60) as run:
        return search(problem, run, method=method, **options)
