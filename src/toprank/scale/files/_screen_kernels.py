"""Compiled pass over a column of numbers: what it adds to the scores, and how large its numbers are."""

from __future__ import annotations

import numpy as np

from toprank.compiled import njit

__all__ = ["add_scaled"]


@njit(cache=True, nogil=True)
def add_scaled(values, bits, no_sign, fill, factor, total):
    """Add factor * values to the totals, fill for each missing one; the largest of their bits, signs apart.

    Without the sign the bits of floating-point numbers are ordered as their absolute values, then come those
    of infinity and of what is no number: one comparison of whole numbers a cell, made in vectors, says how
    large the column is and whether all of it is finite.
    """
    most = no_sign ^ no_sign  # nought, of the type of the bits
    for i in range(len(values)):
        value = np.float64(values[i])
        total[i] += factor * (fill if np.isnan(value) else value)
        size = bits[i] & no_sign
        if size > most:
            most = size
    return most
