"""The mixed-integer programs of Rudin & Wang (2018), as printed.

Their scaling is implicit: with w in [-1, 1] the constraint z <= w.(x_i - x_k) + 1 - eps also forbids score
differences below -1 + eps. Here each difference is first brought to a largest entry between 1/2 and 1 by its
own power of two, since the margin is relative to a pair's length; then all are divided by `scaling`, the
largest l1 norm among them plus the margin, so that no w in the box is cut off, and eps is the margin divided
by the same number.

Ranks l count from 1 at the bottom; a_l is the weight of rank l, S_r the ranks l >= 2 with a_l > a_(l-1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from toprank.control import Run
from toprank.exact.mip.program import MixedIntegerProgram, ProgramBuilder, with_margin
from toprank.exact.pairs import lengths
from toprank.exact.problem import RankingProblem

__all__ = ["auc_program", "preference_program", "resolved_rank_program", "subrank_program"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_MOST_COLUMNS = 10  # with 1023 sets of columns


def resolved_rank_program(problem: RankingProblem, *, run: Run | None = None) -> MixedIntegerProgram:
    """The regularised statistic of the ResolvedRanks: Eq. (11) to (21).

    Any two score differences must be zero or at least eps apart from it (Eq. (12) and (13)), so a `w` with a
    difference strictly between is infeasible here, while the search merely counts that pair as lost; with a
    small margin the optima agree. Variables: 2d + n^2 + n_+ |S_r| + n.
    """
    problem = with_margin(problem)
    rows, labels, weights = _one_list(problem)
    n, positives = len(rows), np.flatnonzero(labels)
    upper, lower = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    differences, scaling, epsilon = _scaled(rows[upper] - rows[lower], problem.margin)
    ranks, gains = _rank_gains(weights)
    builder = _start(problem, "resolved rank", len(upper), len(positives), ranks, gains, run)
    builder.variables("r", n, upper=n - 1)
    pairs = sp.eye_array(n * n)
    builder.constrain("(12)", {"w": -differences, "z": pairs}, upper=1 - epsilon)
    builder.constrain("(13)", {"w": -differences, "z": pairs}, lower=0.0)
    _support_rows(builder, problem.n_features, "(14)", "(15)")
    order = _difference_matrix(upper, lower, n)
    builder.constrain("(16)", {"r": order, "z": -n * pairs}, lower=1 - n)
    for name, chosen in _tie_rows(labels, upper, lower).items():
        picked = sp.csr_array(pairs)[chosen]
        builder.constrain(name, {"r": -order[chosen], "z": n * picked}, lower=1.0)
    own = sp.csr_array((np.ones(len(positives)), (np.arange(len(positives)), positives)), (len(positives), n))
    _rank_rows(builder, "(20)", "r", own, ranks)

    def encode(w: Floats) -> Floats:
        scores = rows @ w
        won = differences @ w >= epsilon
        # Lowest rank first: by score; in a tie positives below negatives, then by index.
        resolved = np.empty(n)
        resolved[np.lexsort((np.arange(n), labels == 0, scores))] = np.arange(n)
        reached = resolved[positives][:, None] >= ranks[None, :] - 1
        return np.concatenate((w, w != 0, won, reached.ravel(), resolved)).astype(np.float64)

    return builder.build(
        encode,
        offset=len(positives) * float(weights[-1]),
        scaling=scaling,
        epsilon=epsilon,
        about=("the bound is about scores that differ by zero or at least the margin, Eq. (12) and (13)",),
    )


def subrank_program(
    problem: RankingProblem, *, strengthen: bool = False, perturb: bool = False, run: Run | None = None
) -> MixedIntegerProgram:
    """The regularised statistic of the Subranks: Eq. (22) to (26), and (27) to (30) with `strengthen`.

    Its optimum is an optimum of the ResolvedRank problem when no two rows are equal (Theorem 3); with equal
    rows it can be worse, since two equal positives cannot both have the better rank. With a price on
    coefficients it is enough that two positives are equal in the columns that are used: Lemma 2's step stays
    within them and cannot part such rows. `slack` of the program bounds what is lost. With `perturb`,
    positives that are equal are parted by random differences, in the comparisons among them only (Section 4).
    Variables: 2d + n_+ n + n_+ |S_r|.
    """
    problem = with_margin(problem)
    rows, labels, weights = _one_list(problem)
    n, positives = len(rows), np.flatnonzero(labels)
    upper, lower = np.repeat(positives, n), np.tile(np.arange(n), len(positives))
    parted = _parted(rows, positives) if perturb else rows
    differences = rows[upper] - rows[lower]
    among = ~differences.any(axis=1) & (labels[lower] > 0)
    differences[among] = (parted[upper] - parted[lower])[among]
    differences, scaling, epsilon = _scaled(differences, problem.margin)
    ranks, gains = _rank_gains(weights)
    builder = _start(problem, "subrank", len(upper), len(positives), ranks, gains, run)
    counting = sp.kron(sp.eye_array(len(positives)), np.ones((1, n)), format="csr")
    _rank_rows(builder, "(23)", "z", counting, ranks)
    builder.constrain("(24)", {"w": -differences, "z": sp.eye_array(len(upper))}, upper=1 - epsilon)
    _support_rows(builder, problem.n_features, "(25)", "(26)")
    if strengthen:
        _strengthen(builder, parted, positives, weights, ranks, gains, priced=problem.penalty > 0)

    def encode(w: Floats) -> Floats:
        won = (differences @ w >= epsilon).reshape(len(positives), n)
        reached = won.sum(axis=1)[:, None] >= ranks[None, :] - 1
        return np.concatenate((w, w != 0, won.ravel(), reached.ravel())).astype(np.float64)

    slack = _lost_to_equal_rows(parted[positives], weights, anywhere=problem.penalty > 0)
    about = ["the bound supposes a margin small enough to part the relevant rows (Theorem 3)"]
    if perturb and (parted != rows).any():
        about.append("relevant rows that are equal were parted by random differences")
    if slack > 0:
        allowance = f"{slack:.4g} was added to its bound" if math.isfinite(slack) else "its bound is none"
        about.append(f"relevant rows that are equal share the lowest of their Subranks: {allowance}")
    return builder.build(
        encode,
        offset=len(positives) * float(weights[-1]),
        scaling=scaling,
        epsilon=epsilon,
        slack=slack,
        about=tuple(about),
    )


def auc_program(problem: RankingProblem, *, run: Run | None = None) -> MixedIntegerProgram:
    """The regularised AUC: Appendix A.1, one variable for each positive-negative pair."""
    rows, labels, weights = _one_list(problem)
    steps = -np.diff(weights)
    if not np.allclose(steps, steps.mean(), rtol=1e-9, atol=0.0):
        raise ValueError(
            f"the AUC program needs statistic='auc' (weights in equal steps), not {problem.statistic!r}."
        )
    positives, negatives = np.flatnonzero(labels), np.flatnonzero(labels == 0)
    upper = np.repeat(positives, len(negatives))
    lower = np.tile(negatives, len(positives))
    # Each pair won moves one positive up by one position.
    worth = np.full(len(upper), steps.mean())
    all_lost = float(weights[len(negatives) :].sum())
    return _pair_program(problem, "regularised AUC", rows, upper, lower, worth, all_lost, run)


def preference_program(problem: RankingProblem, *, run: Run | None = None) -> MixedIntegerProgram:
    """General pairwise preferences: Appendix A.2.

    The printed program has a variable for every pair of rows; those without a preference (pi = 0) neither
    enter the objective nor restrict anything and are left out.
    """
    if problem.pairs is None:
        raise ValueError(
            "the preference program needs a problem made by from_preferences, multipartite or kendall."
        )
    upper, lower = problem.pairs.T
    worth, offset = problem.objective.worth, problem.objective.offset
    return _pair_program(problem, "preferences", _dense(problem), upper, lower, worth, offset, run)


# -- pieces -------------------------------------------------------------------------------------------


def _pair_program(
    problem: RankingProblem,
    name: str,
    rows: Floats,
    upper: Rows,
    lower: Rows,
    worth: Floats,
    offset: float,
    run: Run | None,
) -> MixedIntegerProgram:
    """One variable z for each pair, worth something when won."""
    problem = with_margin(problem)
    differences, scaling, epsilon = _scaled(rows[upper] - rows[lower], problem.margin)
    builder = ProgramBuilder(name, run)
    _coefficients(builder, problem)
    builder.variables("z", len(upper), objective=worth)
    builder.constrain("(24)", {"w": -differences, "z": sp.eye_array(len(upper))}, upper=1 - epsilon)
    _support_rows(builder, problem.n_features, "(25)", "(26)")

    def encode(w: Floats) -> Floats:
        won = differences @ w >= epsilon
        return np.concatenate((w, w != 0, won)).astype(np.float64)

    return builder.build(encode, offset=offset, scaling=scaling, epsilon=epsilon)


def _one_list(problem: RankingProblem) -> tuple[Floats, NDArray[np.int8], Floats]:
    """Scaled rows, labels and weights of a problem with a single list."""
    if len(problem.queries) != 1:
        raise ValueError(
            "the papers' programs rank one list with two classes;"
            " for several queries (qid) use solver='mip' or 'search'."
        )
    upper, lower, table = problem.queries[0]
    if not table.linear:
        raise ValueError(
            f"the papers' programs maximise position weights, which {problem.statistic!r} has not;"
            " use solver='mip' or 'search'."
        )
    labels = np.zeros(len(upper) + len(lower), dtype=np.int8)
    labels[upper] = 1
    return _dense(problem), labels, table.values


def _dense(problem: RankingProblem) -> Floats:
    rows = problem.scaled
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _parted(rows: Floats, positives: Rows) -> Floats:
    """A copy in which positives that are equal differ, each by unit normal numbers of its own."""
    _, group, size = np.unique(rows[positives], axis=0, return_inverse=True, return_counts=True)
    repeated = positives[size[group.ravel()] > 1]
    parted = rows.copy()
    parted[repeated] += np.random.default_rng(0).normal(size=(len(repeated), rows.shape[1]))
    return parted


def _scaled(differences: Floats, margin: float) -> tuple[Floats, float, float]:
    """Differences divided so that none exceeds 1 - eps for any w in the box, the divisor, and eps."""
    differences = np.ldexp(differences, -lengths(differences)[:, None])
    scaling = float(np.abs(differences).sum(axis=1).max(initial=0.0)) + margin
    return differences / scaling, scaling, margin / scaling


def _rank_gains(weights: Floats) -> tuple[Rows, Floats]:
    """S_r, and a_l - a_(l-1) for its members."""
    ascending = weights[::-1]
    steps = np.diff(ascending)
    ranks = np.flatnonzero(steps > 0) + 2
    return ranks, steps[ranks - 2]


def _lost_to_equal_rows(positives: Floats, weights: Floats, *, anywhere: bool) -> float:
    """The most that Subrank can miss: g equal positives all get the weight of the lowest of their g ranks.

    With `anywhere`, positives count as equal when they are in some set of columns, the worst set deciding;
    infinity where there are too many sets to look at.
    """
    d = positives.shape[1]
    supports: Iterable[Sequence[int]] = [range(d)]
    if anywhere and d > _MOST_COLUMNS:
        repeated = any(len(np.unique(column)) < len(column) for column in positives.T)
        return math.inf if repeated else 0.0
    if anywhere:
        supports = chain.from_iterable(combinations(range(d), size) for size in range(1, d + 1))
    return max(_lost_on(positives[:, list(support)], weights[::-1]) for support in supports)


def _lost_on(positives: Floats, ascending: Floats) -> float:
    """The same for given columns: each group of equal rows at the place where it loses most."""
    slack = 0.0
    for size in np.unique(positives, axis=0, return_counts=True)[1]:
        runs = np.lib.stride_tricks.sliding_window_view(ascending, int(size))
        slack += float((runs - runs[:, :1]).sum(axis=1).max())
    return slack


def _start(
    problem: RankingProblem,
    name: str,
    n_pairs: int,
    n_positives: int,
    ranks: Rows,
    gains: Floats,
    run: Run | None,
) -> ProgramBuilder:
    """Variables w, gamma, z and t, and the objective (11) or (22)."""
    builder = ProgramBuilder(name, run)
    _coefficients(builder, problem)
    builder.variables("z", n_pairs)
    builder.variables("t", n_positives * len(ranks), objective=np.tile(gains, n_positives))
    return builder


def _coefficients(builder: ProgramBuilder, problem: RankingProblem) -> None:
    builder.variables("w", problem.n_features, lower=-1.0, upper=1.0, integer=False)
    builder.variables("gamma", problem.n_features, objective=-problem.penalty)


def _support_rows(builder: ProgramBuilder, d: int, above: str, below: str) -> None:
    """gamma_j >= w_j and gamma_j >= -w_j."""
    one = sp.eye_array(d)
    builder.constrain(above, {"gamma": one, "w": -one}, lower=0.0)
    builder.constrain(below, {"gamma": one, "w": one}, lower=0.0)


def _rank_rows(builder: ProgramBuilder, name: str, block: str, rank: sp.csr_array, ranks: Rows) -> None:
    """t_il <= rank_i / (l - 1), the rank given as a matrix over another block."""
    n_positives = rank.shape[0]
    # Each row of the rank once for every l: in place, since these are millions of entries.
    repeated = np.repeat(np.arange(n_positives), len(ranks))
    shares: sp.csr_array = rank[repeated].astype(np.float64)
    shares.data *= np.repeat(np.tile(-1.0 / (ranks - 1), n_positives), np.diff(shares.indptr))
    builder.constrain(name, {"t": sp.eye_array(n_positives * len(ranks)), block: shares}, upper=0.0)


def _difference_matrix(upper: Rows, lower: Rows, n: int) -> sp.csr_array:
    """Rows r_i - r_k; a row without entries where i = k."""
    apart = np.flatnonzero(upper != lower)
    values = np.concatenate((np.ones(len(apart)), -np.ones(len(apart))))
    places = (np.concatenate((apart, apart)), np.concatenate((upper[apart], lower[apart])))
    return sp.csr_array((values, places), shape=(len(upper), n))


def _tie_rows(labels: NDArray[np.int8], upper: Rows, lower: Rows) -> dict[str, NDArray[np.intp]]:
    """Pairs of the tie resolution constraints (17), (18) and (19)."""
    first, second, before = labels[upper], labels[lower], upper < lower
    return {
        "(17)": np.flatnonzero((first == 1) & (second == 0)),
        "(18)": np.flatnonzero((first == 1) & (second == 1) & before),
        "(19)": np.flatnonzero((first == 0) & (second == 0) & before),
    }


def _strengthen(
    builder: ProgramBuilder,
    rows: Floats,
    positives: Rows,
    weights: Floats,
    ranks: Rows,
    gains: Floats,
    *,
    priced: bool,
) -> None:
    """Eq. (27) to (30), which tighten the relaxation and change no optimum."""
    n, m = len(rows), len(positives)
    first, second = np.triu_indices(m, k=1)
    pair, reverse = first * n + positives[second], second * n + positives[first]
    both = _picks(np.concatenate((pair, reverse)), np.tile(np.arange(len(first)), 2), (len(first), m * n))
    differ = (rows[positives[first]] != rows[positives[second]]).any(axis=1).astype(np.float64)
    # The printed equality excludes a w that ties two different positives; some optimum has no ties
    # (Lemma 2), so with a small margin none is lost. With a price on coefficients every optimum may have
    # them: then the sum is at most one.
    builder.constrain("(27)", {"z": both}, lower=0.0 if priced else differ, upper=differ)
    step = sp.csr_array(
        sp.eye_array(len(ranks) - 1, len(ranks)) - sp.eye_array(len(ranks) - 1, len(ranks), k=1)
    )
    builder.constrain("(28)", {"t": sp.kron(sp.eye_array(m), step, format="csr")}, lower=0.0)
    # The paper's weights are not negative; ours may be, so both sides count from the lowest one.
    most = math.fsum((weights - weights[-1]).tolist())
    builder.constrain("(29)", {"t": np.tile(gains, m)[None, :]}, upper=most)
    same = (rows[positives][:, None, :] == rows[None, :, :]).all(axis=2).ravel()
    equal = np.flatnonzero(same)
    builder.constrain("(30)", {"z": _picks(equal, np.arange(len(equal)), (len(equal), m * n))}, upper=0.0)


def _picks(columns: NDArray[np.intp] | Rows, rows: NDArray[np.intp], shape: tuple[int, int]) -> sp.csr_array:
    """A matrix of ones at the given places."""
    return sp.csr_array((np.ones(len(columns)), (rows, columns)), shape=shape)
