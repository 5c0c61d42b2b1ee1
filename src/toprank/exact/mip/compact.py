"""Our own mixed-integer program: fewer pairs, tighter constants, and room for a user's constraints.

Against the papers' Subrank program (see `toprank.exact.mip.as_published`):

- only positive-negative pairs get a variable, and equal differences share one;
- each pair has its own constant: z_p = 1 forces D_p.w >= eps through
  D_p.w >= eps - M_p (1 - z_p), M_p = eps + max -D_p.w over the coefficients that are possible;
- pairs that every possible w wins or loses are fixed;
- the relaxation never exceeds the value of all positives first.

The statistic comes from the negatives' side. Let s_iv = 1 when positive i is beaten by at most v negatives,
and A_v the number of such positives: then A_v positives stand above the (v+1)-th best negative, and the p-th
of them gains g(p, v) - g(p, v + 1) by it. A_v is written in unary, a_v1 >= a_v2 >= ..., with these steps as
objective; where they shrink with p (convex position weights) the a need not be whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.control import Run
from toprank.exact.mip.constraints import Constraints, TopGroup
from toprank.exact.mip.program import MixedIntegerProgram, ProgramBuilder, with_margin
from toprank.exact.problem import RankingProblem

__all__ = ["Strengthening", "compact_program"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Strengthening:
    """Which of the improvements to use; all by default. For measuring them one by one."""

    own_constants: bool = True
    merge_equal: bool = True
    fix_decided: bool = True


@dataclass(frozen=True)
class _Pairs:
    """Pairs as the program sees them: one variable for each distinct difference."""

    differences: Floats  # (variables, d)
    variable: NDArray[np.intp]  # of each pair
    constants: Floats  # eps + max of -D.w
    fixed_lost: NDArray[np.bool_]
    fixed_won: NDArray[np.bool_]


def compact_program(
    problem: RankingProblem,
    constraints: Constraints | None = None,
    *,
    strengthening: Strengthening | None = None,
    run: Run | None = None,
) -> MixedIntegerProgram:
    """A ranking problem, several queries and preferences included, as a mixed-integer program.

    Parameters
    ----------
    problem : RankingProblem
    constraints : Constraints, optional
        A user's demands; `problem` knows nothing of them.
    strengthening : Strengthening, optional
        Which improvements to use.
    run : Run, optional
        Building stops when it says so.

    Notes
    -----
    On a score card the variables are the points themselves and a pair is won from ``D.points >= margin`` on,
    a little sooner than `problem.evaluate` says when the largest point is above 1: the bound stays a bound.
    """
    problem, demands = with_margin(problem), constraints or Constraints()
    options = strengthening or Strengthening()
    demands.check(problem.X.shape[0], problem.n_features)
    arrays = problem.arrays()
    lower, upper = demands.bounds(problem.n_features)
    pairs = _pairs(arrays.differences, arrays.margin, lower, upper, options)
    builder = ProgramBuilder("compact", run)
    encoders = [_coefficients(builder, problem, demands, lower, upper)]
    encoders.append(_pair_variables(builder, problem, pairs))
    offset = problem.objective.offset
    for q in range(len(problem.queries)):
        members = np.flatnonzero(arrays.positive_query[arrays.positive] == q)
        table = problem.objective.table(q)
        encoders.append(_list_rows(builder, q, members, arrays, pairs, table))
        offset += float(table[:, -1].sum())
    for number, group in enumerate(demands.top_groups):
        encoders.append(_group_rows(builder, number, group, problem, float(demands.integer_range or 1)))

    def encode(w: Floats) -> Floats:
        allowed = demands.nearest(w)
        return np.concatenate([part(allowed) for part in encoders])

    return builder.build(encode, offset=offset, epsilon=arrays.margin)


# -- pairs --------------------------------------------------------------------------------------------


def _pairs(
    differences: Floats, margin: float, lower: Floats, upper: Floats, options: Strengthening
) -> _Pairs:
    distinct, variable = differences, np.arange(len(differences))
    if options.merge_equal:
        distinct, variable = np.unique(differences, axis=0, return_inverse=True)
    best = np.maximum(distinct * lower, distinct * upper).sum(axis=1)
    worst = np.minimum(distinct * lower, distinct * upper).sum(axis=1)
    constants = margin - worst
    if not options.own_constants:
        constants = np.full(len(distinct), constants.max(initial=0.0))
    decided = options.fix_decided
    # A hair of slack: fixing must survive the rounding of these sums.
    slack = 1e-12 * (np.abs(distinct).sum(axis=1) + margin)
    return _Pairs(
        distinct,
        variable.ravel(),
        constants,
        decided & (best < margin - slack),
        decided & (worst >= margin + slack),
    )


def _coefficients(
    builder: ProgramBuilder, problem: RankingProblem, demands: Constraints, lower: Floats, upper: Floats
) -> Any:
    """Variables w (whole numbers on a score card) and, where they are counted, gamma."""
    d = problem.n_features
    if demands.integer_range is not None and not np.all(problem.scales == problem.scales[0]):
        raise ValueError(
            "integer_range needs columns on one scale: make the problem with scales=[1, 1, ...]."
        )
    builder.variables("w", d, lower=lower, upper=upper, integer=demands.integer_range is not None)
    counted = problem.penalty > 0 or demands.max_features is not None
    if counted:
        builder.variables("gamma", d, objective=-problem.penalty)
        one, unit = sp.eye_array(d), float(demands.integer_range or 1)
        builder.constrain("non-zero above", {"gamma": unit * one, "w": -one}, lower=0.0)
        builder.constrain("non-zero below", {"gamma": unit * one, "w": one}, lower=0.0)
        if demands.max_features is not None:
            builder.constrain("max_features", {"gamma": np.ones((1, d))}, upper=demands.max_features)

    def encode(w: Floats) -> Floats:
        return np.concatenate((w, w != 0)).astype(float) if counted else w

    return encode


def _pair_variables(builder: ProgramBuilder, problem: RankingProblem, pairs: _Pairs) -> Any:
    """Variables z with z_p = 1 only where D_p.w >= eps."""
    count = len(pairs.differences)
    worth = np.zeros(count)
    if problem.objective.by_pairs:
        np.add.at(worth, pairs.variable, problem.objective.worth)
    builder.variables(
        "z",
        count,
        lower=pairs.fixed_won.astype(np.float64),
        upper=(~pairs.fixed_lost).astype(np.float64),
        objective=worth,
    )
    builder.constrain(
        "won pairs",
        {"w": pairs.differences, "z": -sp.diags_array(pairs.constants)},
        lower=problem.margin - pairs.constants,
    )

    def encode(w: Floats) -> Floats:
        return (pairs.differences @ w >= problem.margin).astype(float)

    return encode


# -- the statistic of one list ------------------------------------------------------------------------


def _list_rows(
    builder: ProgramBuilder,
    query: int,
    members: NDArray[np.intp],
    arrays: Any,
    pairs: _Pairs,
    table: Floats,
) -> Any:
    """Variables s and a of one query, the rows that tie them to z, and their objective."""
    positive = np.unique(arrays.positive[members], return_inverse=True)[1]
    m = int(positive.max()) + 1
    n = len(members) // m
    count = sp.csr_array(  # won pairs of each positive
        (np.ones(len(members)), (positive, pairs.variable[members])), shape=(m, len(pairs.differences))
    )
    steps = (table[:, :-1] - table[:, 1:]).T  # (n, m): what the p-th positive above negative v adds
    s, a = f"s{query}", f"a{query}"
    builder.variables(s, m * n)
    builder.variables(a, n * m, integer=_needs_order(steps), objective=steps.ravel())
    rows_of_positive = sp.kron(sp.eye_array(m), np.ones((1, n)), format="csr")
    builder.constrain(f"{s} count", {s: rows_of_positive, "z": -count}, upper=0.0)
    later = sp.csr_array(sp.eye_array(n - 1, n) - sp.eye_array(n - 1, n, k=1))
    if n > 1:
        builder.constrain(f"{s} order", {s: sp.kron(sp.eye_array(m), later, format="csr")}, upper=0.0)
    above = sp.kron(np.ones((1, m)), sp.eye_array(n), format="csr")
    unary = sp.kron(sp.eye_array(n), np.ones((1, m)), format="csr")
    builder.constrain(f"{a} count", {a: unary, s: -above}, upper=0.0)
    if m > 1 and _needs_order(steps):
        falling = sp.csr_array(sp.eye_array(m - 1, m) - sp.eye_array(m - 1, m, k=1))
        builder.constrain(f"{a} order", {a: sp.kron(sp.eye_array(n), falling, format="csr")}, lower=0.0)

    def encode(w: Floats) -> Floats:
        won = pairs.differences @ w >= arrays.margin
        lost = n - (count @ won.astype(float))
        few = lost[:, None] <= np.arange(n)[None, :]
        filled = np.arange(m)[None, :] < few.sum(axis=0)[:, None]
        return np.concatenate((few.ravel(), filled.ravel())).astype(float)

    return encode


def _needs_order(steps: Floats) -> bool:
    """Whether some step is smaller than the next, so that filling in order must be demanded."""
    return bool((np.diff(steps, axis=1) > 0).any())


# -- must-haves at the top ----------------------------------------------------------------------------


def _group_rows(
    builder: ProgramBuilder, number: int, group: TopGroup, problem: RankingProblem, unit: float
) -> Any:
    """A cut between the first `top` items and the rest, and how many of the group are above it."""
    rows = problem.scaled
    rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows)
    n = len(rows)
    h, cut = f"top{number}", f"cut{number}"
    reach = unit * float(np.abs(rows).sum(axis=1).max()) + problem.margin
    builder.variables(h, n)
    builder.variables(cut, 1, lower=-reach, upper=reach, integer=False)
    ones, eye = np.ones((n, 1)), sp.eye_array(n)
    # Above the cut by the margin when chosen, at or below it otherwise.
    builder.constrain(
        f"{h} above", {"w": rows, cut: -ones, h: -(2 * reach) * eye}, lower=problem.margin - 2 * reach
    )
    builder.constrain(f"{h} below", {"w": rows, cut: -ones, h: -(2 * reach) * eye}, upper=0.0)
    builder.constrain(f"{h} size", {h: np.ones((1, n))}, lower=group.top, upper=group.top)
    chosen = np.zeros((1, n))
    chosen[0, list(group.members)] = 1.0
    builder.constrain(
        group.describe(),
        {h: chosen},
        lower=-np.inf if group.at_least is None else group.at_least,
        upper=np.inf if group.at_most is None else group.at_most,
    )

    def encode(w: Floats) -> Floats:
        scores = rows @ w
        best = np.argsort(-scores, kind="stable")
        inside = np.zeros(n)
        inside[best[: group.top]] = 1.0
        return np.append(inside, scores[best[group.top]])

    return encode
