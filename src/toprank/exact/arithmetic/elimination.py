"""Exact differences of pairs as whole numbers, and which combinations of them vanish."""

from __future__ import annotations

from fractions import Fraction

from toprank.exact.pairs import PairArrays, lengths

__all__ = ["exact_reach", "null_vectors", "same_direction", "whole_difference"]


def _exact_difference(arrays: PairArrays, pair: int) -> list[Fraction]:
    upper, lower = arrays.rows[arrays.upper[pair]].tolist(), arrays.rows[arrays.lower[pair]].tolist()
    return [Fraction(a) - Fraction(b) for a, b in zip(upper, lower, strict=True)]


def exact_reach(arrays: PairArrays, pair: int) -> Fraction:
    """The largest lead of a pair in the box, relative to its length."""
    rounded = arrays.rows[arrays.upper[pair]] - arrays.rows[arrays.lower[pair]]
    length = int(lengths(rounded[None, :])[0])
    return sum(map(abs, _exact_difference(arrays, pair)), start=Fraction(0)) / Fraction(2) ** length


def whole_difference(arrays: PairArrays, pair: int) -> list[int]:
    """The exact difference of a pair, times a power of two that makes it whole numbers."""
    exact = _exact_difference(arrays, pair)
    common = max((v.denominator for v in exact), default=1)
    return [int(v * common) for v in exact]


def same_direction(one: list[int], other: list[int]) -> bool:
    """Whether two rows are positive multiples of each other."""
    a, b = (next((v for v in row if v), 0) for row in (one, other))
    return a * b > 0 and all(v * b == w * a for v, w in zip(one, other, strict=True))


def null_vectors(rows: list[list[int]]) -> list[list[int]]:
    """A basis of the combinations of the rows that vanish, by elimination without fractions.

    >>> null_vectors([[1, 2], [3, 4], [5, 6]])
    [[-2, 4, -2]]
    """
    count, d = len(rows), len(rows[0])
    table = [[*row, *(int(i == k) for k in range(count))] for i, row in enumerate(rows)]
    done = 0
    for column in range(d):
        pivot = next((i for i in range(done, count) if table[i][column]), None)
        if pivot is None:
            continue
        table[done], table[pivot] = table[pivot], table[done]
        for i in range(done + 1, count):
            a, b = table[done][column], table[i][column]
            if b:
                table[i] = [a * v - b * w for v, w in zip(table[i], table[done], strict=True)]
        done += 1
    return [row[d:] for row in table[done:]]
