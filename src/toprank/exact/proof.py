"""The partition a search made, kept in the certificate, and its replay by other means."""

from __future__ import annotations

import base64
import binascii
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.problem import RankingProblem
from toprank.exact.search.methods import hand_over, replay_log

__all__ = ["check_proof", "proof_part"]

MOST_FEATURES = 16
"""With a price on coefficients all sets of columns are gone through: no more than this many columns."""
TOLERANCE = 1e-9


def proof_part(
    method: str, columns: NDArray[np.int64], bound: float, log: dict[bytes, bytes]
) -> dict[str, Any]:
    """What was shown about some columns, in text that JSON keeps: no coefficients on them reach `bound`."""
    return {
        "method": method,
        "columns": columns.tolist(),
        "bound": bound,
        "log": {_text(key): _text(value) for key, value in log.items()},
    }


def check_proof(problem: RankingProblem, proof: dict[str, Any], bound: float) -> list[str]:
    """What a proof fails to show of the claim that no coefficients are worth more than the bound.

    Every part is replayed: its columns' statistic stays below the part's bound (up to a billionth). Then each
    set of columns must lie within a part whose bound, less the price of the set, is no more than claimed.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc")
    >>> check_proof(problem, {"parts": []}, 1.0)
    ['the proof leaves out coefficients on the columns [0]']
    """
    try:
        parts = [(_part_columns(part, problem), float(part["bound"]), part) for part in proof["parts"]]
        complaints = [
            text for columns, most, part in parts for text in _replayed(problem, columns, most, part)
        ]
    except (AttributeError, KeyError, TypeError, ValueError, binascii.Error) as error:
        return [f"the proof is damaged: {error!r}"]
    limit = bound + TOLERANCE * max(1.0, abs(bound))
    covered = [(set(columns.tolist()), most) for columns, most, _ in parts]
    for chosen in _sets_of_columns(problem):
        price = problem.penalty * len(chosen) if problem.penalty else 0.0
        if not any(columns.issuperset(chosen) and most - price <= limit for columns, most in covered):
            return [*complaints, f"the proof leaves out coefficients on the columns {list(chosen)}"]
    return complaints


def _part_columns(part: dict[str, Any], problem: RankingProblem) -> NDArray[np.int64]:
    columns = np.array(part["columns"], dtype=np.int64)
    if columns.ndim != 1 or not len(columns) or columns.min() < 0 or columns.max() >= problem.n_features:
        raise ValueError("a part about columns that do not exist")
    return columns


def _replayed(
    problem: RankingProblem, columns: NDArray[np.int64], most: float, part: dict[str, Any]
) -> list[str]:
    log = {_bytes(key): _bytes(value) for key, value in part["log"].items()}
    limit = most + TOLERANCE / 2 * max(1.0, abs(most))
    name = str(part["method"])
    return replay_log(name, hand_over(name, problem, columns), log, limit)


def _sets_of_columns(problem: RankingProblem) -> list[tuple[int, ...]]:
    """All sets where they have a price; otherwise the largest stands for its subsets."""
    everything = tuple(range(problem.n_features))
    if not problem.penalty:
        return [everything]
    if problem.n_features > MOST_FEATURES:
        raise ValueError(f"more than {MOST_FEATURES} columns with a price cannot be gone through")
    sizes = range(1, problem.n_features + 1)
    return [chosen for size in sizes for chosen in itertools.combinations(everything, size)]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
