"""The mixed-integer programs: against enumeration, against each other, and what they refuse."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact_oracles as oracle
from toprank.control import Run, Status
from toprank.exact import verify
from toprank.exact.mip import backends
from toprank.exact.mip.as_published import auc_program, resolved_rank_program, subrank_program
from toprank.exact.mip.compact import Strengthening, compact_program
from toprank.exact.mip.constraints import Constraints, InfeasibleError, TopGroup
from toprank.exact.mip.program import OWN_MARGIN
from toprank.exact.mip.solve import build_program, solve_program
from toprank.exact.problem import RankingProblem
from toprank.exact.search.driver import search

STATISTICS = [
    "dcg",
    "auc",
    "reciprocal_rank_sum",
    "precision@2",
    "dcg@3",
    "p_norm",
    "winner_takes_all",
    "partial_auc@3",
]
USABLE = [name for name, reason in backends.available().items() if reason is None]
MARGIN = 1e-3


def small_problem(seed, *, duplicates=True):
    """Rows, labels and a problem with unscaled features, so that the oracle sees the same numbers."""
    rng = np.random.default_rng(seed)
    while True:
        n, d = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        whole = duplicates and seed % 2 == 0
        X = rng.integers(-2, 3, (n, d)).astype(float) if whole else rng.normal(size=(n, d)).round(3)
        y = rng.integers(0, 2, n)
        if 0 < y.sum() < n:
            break
    penalty = [0.0, 0.01, 0.3][seed % 3]
    problem = RankingProblem.from_labels(
        X, y, STATISTICS[seed % len(STATISTICS)], margin=MARGIN, penalty=penalty, scales=np.ones(d)
    )
    return X, y, problem


def optimum(X, y, problem):
    differences, positive, negative = oracle.class_pairs(X, y)

    def value(won):
        return oracle.order_value(won, positive, negative, problem.objective.weights)

    return oracle.best_value(differences, MARGIN, value, problem.penalty)


def solve(problem, formulation="mip", backend="highs", **options):
    with Run(time_limit=300, rng=0) as run:
        return solve_program(problem, run, formulation=formulation, backend=backend, **options)


def searched(problem):
    with Run(time_limit=60, rng=0) as run:
        return search(problem, run)


def theorem_3_applies(X, problem):
    """No two rows are equal in the columns that may be used; a price may leave any subset of them."""
    columns = list(X.T) if problem.penalty else [X]
    return all(len(np.unique(part, axis=0)) == len(X) for part in columns)


def check_all_agree(seed, usable):
    """Every formulation and back end, the search and enumeration: one optimum."""
    X, y, problem = small_problem(seed)
    best = optimum(X, y, problem)
    assert searched(problem).value == pytest.approx(best, abs=1e-9)
    for formulation, backend in itertools.product(("mip", "mip-resolved"), usable):
        found = solve(problem, formulation, backend)
        assert found.status is Status.OPTIMAL, (formulation, backend, found.notes)
        assert found.value == pytest.approx(best, abs=1e-9), (formulation, backend)
        assert found.bound == pytest.approx(best, abs=1e-6), (formulation, backend)
    for strengthen, backend in itertools.product((False, True), usable):
        found = solve(problem, "mip-subrank", backend, strengthen=strengthen)
        assert found.value <= best + 1e-9 <= found.bound + 1e-6, (strengthen, backend, found.notes)
        if theorem_3_applies(X, problem):
            assert found.value == pytest.approx(best, abs=1e-9), (strengthen, backend)
            assert found.status is Status.OPTIMAL, (strengthen, backend, found.notes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strengthen", [False, True])
def test_equal_positives_that_are_parted_do_not_share_the_lowest_rank(strengthen, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (5, 2)).astype(float)
    X, y = np.vstack([X, X[:1], X[:1]]), np.array([1, 0, 0, 1, 0, 1, 1])
    problem = RankingProblem.from_labels(X, y, "dcg", margin=MARGIN, scales=np.ones(2))
    best, shared = optimum(X, y, problem), solve(problem, "mip-subrank", strengthen=strengthen)
    parted = solve(problem, "mip-subrank", strengthen=strengthen, perturb=True)
    assert parted.value == pytest.approx(best, abs=1e-9)
    assert parted.bound == pytest.approx(best, abs=1e-6)
    assert any("parted by random differences" in note for note in parted.notes)
    # Only then the program counts what the order is worth.
    assert any("the solver claims" in note for note in shared.notes)
    assert not any("the solver claims" in note for note in parted.notes)


SECONDS_LONG = (10, 13)
"""Problems on which HiGHS branches for seconds; the nightly run takes them, and 250 others."""


@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=[pytest.mark.slow] * (seed in SECONDS_LONG)) for seed in range(24)],
)
def test_every_formulation_reaches_the_enumerated_optimum(seed):
    check_all_agree(seed, ["highs"])


@pytest.mark.parametrize("backend", [name for name in backends.names() if name != "highs"])
@pytest.mark.parametrize("seed", range(6))
def test_other_back_ends_agree(seed, backend):
    reason = backends.available()[backend]
    if reason is not None:
        pytest.skip(f"{backend} was not run: {reason}")
    check_all_agree(seed, [backend])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 350))
def test_all_formulations_and_back_ends_agree_at_length(seed):
    check_all_agree(seed, USABLE)


@pytest.mark.parametrize("formulation", ["mip", "mip-resolved", "mip-subrank"])
def test_without_a_margin_the_programs_state_their_own(formulation):
    """Columns on very different scales: a pair's own length decides, not the longest pair's."""
    X = np.array([[1e9, 0.0], [3.0, 1.0], [2.0, 5.0], [1.0, 2.0]])
    problem = RankingProblem.from_labels(X, [0, 1, 0, 0], "auc")
    assert problem.margin == 0
    found = solve(problem, formulation)
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(1.0)
    assert found.margin == OWN_MARGIN
    assert "1e-06" in found.summary()
    assert verify(problem, found).failed == ()


@pytest.mark.parametrize("seed", range(1, 21, 2))
def test_without_equal_rows_the_subrank_program_itself_is_right(seed):
    """Theorem 3 about the solver's own optimum, before anything is recomputed from the coefficients."""
    X, y, problem = small_problem(seed, duplicates=False)
    assert theorem_3_applies(X, problem)
    with Run(rng=0) as run:
        raw = backends.get("highs").solve(subrank_program(problem), None, run, threads=1)
    assert raw.value == pytest.approx(optimum(X, y, problem), abs=1e-6)


def subrank_and_best(X, y, **options):
    problem = RankingProblem.from_labels(X, y, "dcg", margin=MARGIN, **options)
    with Run(rng=0) as run:
        raw = backends.get("highs").solve(subrank_program(problem), None, run, threads=1)
    return raw.value, solve(problem, "mip-resolved"), solve(problem, "mip-subrank")


def test_with_equal_rows_the_subrank_optimum_is_worse():
    # Two equal positives share the lower of their two ranks, whatever w.
    subrank, resolved, certificate = subrank_and_best([[1.0], [1.0], [0.0]], [1, 1, 0])
    assert subrank == pytest.approx(2 / math.log2(3))
    assert resolved.value == pytest.approx(1 + 1 / math.log2(3))
    assert certificate.bound >= resolved.value
    assert any("claims 1.26" in note for note in certificate.notes)


def test_with_a_price_rows_equal_in_one_column_are_enough():
    # No two rows are equal, but the best answer uses the first column alone, where the positives are:
    # Subrank pays for the second column to part them.
    X = [[1.0, 0.0], [1.0, 1.0], [0.0, 0.5]]
    subrank, resolved, certificate = subrank_and_best(X, [1, 1, 0], penalty=0.1)
    assert subrank == pytest.approx(1 + 1 / math.log2(3) - 0.2)
    assert resolved.value == pytest.approx(1 + 1 / math.log2(3) - 0.1)
    assert certificate.bound >= resolved.value
    assert any("claims 1.43" in note for note in certificate.notes)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dropped", ["own_constants", "merge_equal", "fix_decided"])
def test_no_improvement_changes_the_optimum(seed, dropped):
    X, y, problem = small_problem(seed)
    program = compact_program(problem, strengthening=Strengthening(**{dropped: False}))
    with Run(rng=0) as run:
        raw = backends.get("highs").solve(program, None, run, threads=1)
    assert raw.value == pytest.approx(optimum(X, y, problem), abs=1e-6)


def test_sizes_are_the_papers():
    rng = np.random.default_rng(0)
    n, d = 9, 3
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3 == 0
    problem = RankingProblem.from_labels(X, y, "dcg@4", margin=MARGIN)
    n_pos = int(y.sum())
    positive_steps = 4  # dcg@4: the ranks n-3 ... n are worth more than the one below
    resolved, sub = resolved_rank_program(problem), subrank_program(problem)
    assert resolved.n_variables == 2 * d + n**2 + n_pos * positive_steps + n
    assert sub.n_variables == 2 * d + n_pos * n + n_pos * positive_steps
    pairs_of_one_class = math.comb(n_pos, 2) + math.comb(n - n_pos, 2)
    ties = n_pos * (n - n_pos) + pairs_of_one_class
    assert resolved.n_rows == 3 * n**2 + 2 * d + ties + n_pos * positive_steps
    assert sub.n_rows == n_pos * n + 2 * d + n_pos * positive_steps
    assert len(resolved.variable_names()) == resolved.n_variables


def test_the_auc_program_is_the_subrank_programs_equal_on_auc():
    X, y, _ = small_problem(3)
    problem = RankingProblem.from_labels(X, y, "auc", margin=MARGIN, scales=np.ones(X.shape[1]))
    with Run(rng=0) as run:
        raw = backends.get("highs").solve(auc_program(problem), None, run, threads=1)
    assert raw.value == pytest.approx(optimum(X, y, problem), abs=1e-6)
    with pytest.raises(ValueError, match="statistic='auc'"):
        auc_program(RankingProblem.from_labels(X, y, "dcg"))


@pytest.mark.parametrize("seed", range(8))
def test_preferences_and_queries(seed):
    rng = np.random.default_rng(seed)
    X, levels = rng.integers(-2, 3, (7, 2)).astype(float), rng.integers(0, 3, 7)
    levels[:2] = 0, 2
    problem = RankingProblem.multipartite(X, levels, margin=MARGIN, by_difference=True, scales=np.ones(2))
    differences = X[problem.pairs[:, 0]] - X[problem.pairs[:, 1]]
    best = oracle.best_value(differences, MARGIN, lambda won: oracle.pair_value(won, problem.pair_weight))
    for formulation in ("mip", "mip-subrank"):
        assert solve(problem, formulation).value == pytest.approx(best, abs=1e-9)

    y, qid = np.array([1, 0, 0, 1, 0, 1, 0]), np.array([0, 0, 0, 1, 1, 1, 1])
    problem = RankingProblem.from_labels(X, y, "dcg", qid=qid, margin=MARGIN, scales=np.ones(2))
    parts = [oracle.class_pairs(X[qid == q], y[qid == q]) for q in (0, 1)]
    sizes = [len(part[0]) for part in parts]

    def value(won):
        cut = sizes[0]
        pieces = ((won[:cut], parts[0]), (won[cut:], parts[1]))
        return sum(
            oracle.order_value(w, positive, negative, problem.queries[q][2].values)
            for q, (w, (_, positive, negative)) in enumerate(pieces)
        )

    best = oracle.best_value(parts[0][0] + parts[1][0], MARGIN, value)
    assert solve(problem).value == pytest.approx(best, abs=1e-9)
    with pytest.raises(ValueError, match="one list"):
        solve(problem, "mip-subrank")


# -- a user's constraints ------------------------------------------------------------------------


def data_with_constraints():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12, 3))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=12) > 0).astype(int)
    return X, RankingProblem.from_labels(X, y, "dcg", margin=MARGIN, scales=np.ones(3))


def test_signs_and_feature_count_hold():
    _, problem = data_with_constraints()
    free = solve(problem)
    signed = solve(problem, constraints=Constraints(signs=(-1, 1, 0)))
    assert signed.coef[0] <= 0 <= signed.coef[1]
    assert signed.value < free.value
    sparse = solve(problem, constraints=Constraints(max_features=1))
    assert np.count_nonzero(sparse.coef) == 1
    singles = [problem.evaluate(sign * np.eye(3)[j]) for j in range(3) for sign in (-1, 1)]
    assert sparse.value == pytest.approx(max(singles))
    assert any("max_features=1" in note for note in sparse.notes)


@pytest.mark.parametrize("largest", [1, 2])
def test_score_card_is_the_best_of_all_whole_coefficients(largest):
    _, problem = data_with_constraints()
    card = solve(problem, constraints=Constraints(integer_range=largest))
    points = [Fraction(c) for c in card.coef]
    assert all(point.denominator == 1 and abs(point) <= largest for point in points)
    D, positive, negative = oracle.class_pairs(
        problem.X, oracle.labels_and_lists(problem.queries, len(problem.X))[0]
    )
    best = max(
        oracle.order_value(oracle.exact_won(D, w, MARGIN), positive, negative, problem.objective.weights)
        for w in itertools.product(range(-largest, largest + 1), repeat=3)
    )
    assert card.value == pytest.approx(best, abs=1e-9)


def test_must_haves_at_the_top():
    X, problem = data_with_constraints()
    members = problem.queries[0][1][:3]
    free = np.argsort(-(X @ solve(problem).coef))[:4]
    assert len(set(free) & set(members)) < 2
    demand = TopGroup(tuple(members.tolist()), top=4, at_least=2)
    found = solve(problem, constraints=Constraints(top_groups=(demand,)))
    assert len(set(np.argsort(-(X @ found.coef))[:4]) & set(members)) >= 2


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (Constraints(signs=(1, 1)), "signs"),
        (Constraints(max_features=0), "max_features"),
        (Constraints(integer_range=0), "integer_range"),
        (Constraints(top_groups=(TopGroup((0,), top=3, at_least=2),)), "at least 2 of the top 3"),
        (Constraints(top_groups=(TopGroup((0, 99), top=3, at_least=1),)), "row numbers"),
        (Constraints(top_groups=(TopGroup((0,), top=12, at_least=1),)), "top=12"),
    ],
)
def test_senseless_constraints_name_themselves(constraints, words):
    _, problem = data_with_constraints()
    with pytest.raises(ValueError, match=words):
        solve(problem, constraints=constraints)


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.none() | st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3),
    st.none() | st.integers(1, 3),
    st.none() | st.integers(1, 5),
)
def test_the_nearest_allowed_coefficients_are_allowed(w, signs, most, largest):
    demands = Constraints(signs=signs, max_features=most, integer_range=largest)
    allowed = demands.nearest(np.array(w))
    assert np.abs(allowed).max() <= (largest or 1)
    assert all(a * sign >= 0 for a, sign in zip(allowed, signs or [0, 0, 0], strict=True))
    assert np.count_nonzero(allowed) <= (most or 3)
    assert largest is None or all(float(a).is_integer() for a in allowed)
    assert demands.unmet(np.eye(3), allowed) == []


def test_what_is_not_met_is_told_apart():
    rows = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    first = TopGroup((0,), top=1, at_least=1)
    tied = TopGroup((2,), top=2, at_least=1)
    demands = Constraints(signs=(0, -1), max_features=1, integer_range=1, top_groups=(first, tied))
    named = ["signs", "max_features=1", "integer_range=1", first.describe(), tied.describe()]
    assert demands.unmet(rows, np.array([1.0, -1.0])) == [named[1], named[4]]
    assert demands.unmet(rows, np.array([-1.0, 0.5])) == named
    assert demands.unmet(rows, np.array([1.0, 0.0])) == [named[4]]


def test_a_start_that_breaks_a_demand_is_not_the_answer():
    _, problem = data_with_constraints()
    best = np.array(solve(problem).coef)
    demands = Constraints(signs=tuple((-np.sign(best)).astype(int)), max_features=2)
    found = solve(problem, constraints=demands, start=best)
    assert (np.array(found.coef) * best <= 0).all()
    assert np.count_nonzero(found.coef) <= 2
    assert found.value == pytest.approx(solve(problem, constraints=demands).value)


def test_what_cannot_be_met_is_named():
    # One feature: the order is the feature's or its reverse, so the middle row is never among the first.
    problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", margin=MARGIN)
    impossible = TopGroup((1,), top=1, at_least=1)
    with pytest.raises(InfeasibleError, match=r"at least 1 of the top 1 .*margin=0.001"):
        solve(problem, constraints=Constraints(signs=(1,), top_groups=(impossible,)))


def test_demands_that_exclude_each_other_are_named_together():
    problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", margin=MARGIN)
    lowest_first = TopGroup((0,), top=1, at_least=1)
    with pytest.raises(InfeasibleError, match=r"together: signs; at least 1 of the top 1"):
        solve(problem, constraints=Constraints(signs=(1,), top_groups=(lowest_first,)))


def test_too_large_a_margin_is_named():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 1]
    for formulation in ("mip", "mip-subrank", "mip-resolved"):
        with pytest.raises(ValueError, match=r"margin=100 is too large: .* differ by 0.5 of"):
            solve(RankingProblem.from_labels(X, y, "auc", margin=100.0, scales=[1.0]), formulation)
    # The positives must differ by the margin in Eq. (27), and cannot.
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
    between = RankingProblem.from_labels(X, y, "auc", margin=0.7, scales=[1.0, 1.0])
    with pytest.raises(InfeasibleError, match=r"margin=0.7 is too large"):
        solve(between, "mip-subrank", strengthen=True)


def test_the_papers_programs_refuse_constraints():
    _, problem = data_with_constraints()
    for formulation in ("mip-subrank", "mip-resolved"):
        with pytest.raises(ValueError, match=r"knows no constraints; use solver='mip'"):
            build_program(problem, formulation, Constraints(max_features=1))


def test_too_large_a_model_is_refused_before_it_is_built():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), np.arange(2000) % 2
    with pytest.raises(ValueError, match="rerank fewer rows"):
        build_program(RankingProblem.from_labels(X, y, "dcg"), "mip-subrank")
