"""The mixed-integer programs: against enumeration, against each other, and what they refuse."""

import itertools
import math

import numpy as np
import pytest

import exact_oracles as oracle
from toprank.control import Run, Status
from toprank.exact import backends, mip
from toprank.exact.backends import BackendUnavailableError, RawSolution
from toprank.exact.compact import Strengthening, compact_program
from toprank.exact.constraints import Constraints, InfeasibleError, TopGroup
from toprank.exact.formulation import auc_program, resolved_rank_program, subrank_program
from toprank.exact.mip import build_program, solve_program
from toprank.exact.problem import RankingProblem

STATISTICS = ["dcg", "auc", "mrr", "precision@2", "dcg@3", "p_norm", "winner_takes_all", "partial_auc@3"]
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
        return oracle.order_value(won, positive, negative, problem.weights)

    return oracle.best_value(differences, MARGIN, value, problem.penalty)


def solve(problem, formulation="mip", backend="highs", **options):
    with Run(time_limit=60, rng=0) as run:
        return solve_program(problem, run, formulation=formulation, backend=backend, **options)


@pytest.mark.parametrize("seed", range(60))
def test_every_formulation_reaches_the_enumerated_optimum(seed):
    X, y, problem = small_problem(seed)
    best = optimum(X, y, problem)
    for formulation in ("mip", "mip-resolved"):
        found = solve(problem, formulation)
        assert found.status is Status.OPTIMAL, (formulation, found.notes)
        assert found.value == pytest.approx(best, abs=1e-9), formulation
        assert found.bound == pytest.approx(best, abs=1e-6), formulation


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("strengthen", [False, True])
def test_without_equal_rows_subranks_are_enough(seed, strengthen):
    X, y, problem = small_problem(seed, duplicates=False)
    assert len(np.unique(X, axis=0)) == len(X)
    found = solve(problem, "mip-subrank", strengthen=strengthen)
    assert found.value == pytest.approx(optimum(X, y, problem), abs=1e-9)


def test_with_equal_rows_the_subrank_optimum_is_worse():
    # Two equal positives share the lower of their two ranks, whatever w.
    problem = RankingProblem.from_labels([[1.0], [1.0], [0.0]], [1, 1, 0], "dcg", margin=MARGIN)
    program = subrank_program(problem)
    with Run(rng=0) as run:
        raw = backends.get("highs").solve(program, None, run, threads=1)
    resolved = solve(problem, "mip-resolved")
    assert raw.value == pytest.approx(2 / math.log2(3))
    assert resolved.value == pytest.approx(1 + 1 / math.log2(3))


@pytest.mark.parametrize("backend", [name for name in backends.names() if name != "highs"])
@pytest.mark.parametrize("seed", range(12))
def test_other_back_ends_agree(seed, backend):
    reason = backends.available()[backend]
    if reason is not None:
        pytest.skip(f"{backend} was not run: {reason}")
    X, y, problem = small_problem(seed)
    best = optimum(X, y, problem)
    for formulation in ("mip", "mip-resolved"):
        assert solve(problem, formulation, backend).value == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_all_formulations_and_back_ends_agree_at_length(seed):
    X, y, problem = small_problem(seed)
    best = optimum(X, y, problem)
    formulations = ["mip", "mip-resolved"] + (["mip-subrank"] if len(np.unique(X, axis=0)) == len(X) else [])
    for formulation, backend in itertools.product(formulations, USABLE):
        found = solve(problem, formulation, backend)
        assert found.value == pytest.approx(best, abs=1e-9), (formulation, backend)


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
            oracle.order_value(w, positive, negative, problem.queries[q][2])
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


def test_score_card_is_the_best_of_all_whole_coefficients():
    _, problem = data_with_constraints()
    card = solve(problem, constraints=Constraints(integer_range=2))
    points = np.array(card.coef) * 2
    assert np.allclose(points, np.round(points))
    # The margin is stated for the box, so a card is judged at its own size.
    everything = np.array(list(itertools.product(range(-2, 3), repeat=3))) / 2
    D, positive, negative = oracle.class_pairs(problem.X, problem.labels)
    D = np.array([[float(v) for v in row] for row in D])
    best = max(oracle.order_value(D @ w >= MARGIN, positive, negative, problem.weights) for w in everything)
    assert card.value >= best - 1e-9


def test_must_haves_at_the_top():
    X, problem = data_with_constraints()
    members = np.flatnonzero(problem.labels == 0)[:3]
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


def test_what_cannot_be_met_is_named():
    # One feature: the order is the feature's or its reverse, so the middle row is never among the first.
    problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", margin=MARGIN)
    impossible = TopGroup((1,), top=1, at_least=1)
    with pytest.raises(InfeasibleError, match="at least 1 of the top 1"):
        solve(problem, constraints=Constraints(signs=(1,), top_groups=(impossible,)))


def test_the_papers_programs_refuse_constraints():
    _, problem = data_with_constraints()
    with pytest.raises(ValueError, match="knows no constraints"):
        build_program(problem, "mip-subrank", Constraints(max_features=1))


# -- back ends -----------------------------------------------------------------------------------


def test_unknown_and_missing_back_ends(monkeypatch):
    with pytest.raises(ValueError, match="gurobi, highs, scip"):
        backends.get("cplex")
    monkeypatch.setattr("toprank.exact.backends.scip.find_spec", lambda name: None)
    with pytest.raises(BackendUnavailableError, match=r"pip install 'toprank\[scip\]'"):
        backends.get("scip")


def test_a_claim_the_coefficients_do_not_reach_is_not_called_optimal(monkeypatch):
    problem = RankingProblem.from_labels([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], "auc", margin=MARGIN)

    class Liar:
        name = "liar"

        def missing(self):
            return None

        def solve(self, program, start, run, *, threads):
            x = program.encode(np.array([-1.0]))
            return RawSolution(x, 1.0, 1.0, Status.OPTIMAL)

    monkeypatch.setattr(mip.backends, "get", lambda name: Liar())
    found = solve(problem)
    assert found.status is Status.FINISHED
    assert found.value == problem.evaluate(found.coef)
    assert any("claims 1" in note for note in found.notes)


def hard_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    return RankingProblem.from_labels(X, y, "dcg", margin=MARGIN)


@pytest.mark.parametrize("backend", [name for name in USABLE if name != "gurobi"])
@pytest.mark.parametrize("formulation", ["mip", "mip-subrank"])
def test_time_limit_start_and_history(backend, formulation):
    problem = hard_problem()
    start = np.array([1.0, 0, 0, 0, 0, 0])
    with Run(time_limit=2.0, rng=0) as run:
        found = solve_program(problem, run, formulation=formulation, backend=backend, start=start)
        assert run.seconds < 4.0
    assert found.status is Status.TIME_LIMIT
    assert problem.evaluate(start) <= found.value <= found.bound <= problem.trivial_bound
    bounds = [bound for _, _, bound in found.history]
    assert bounds == sorted(bounds, reverse=True)


def test_the_callback_can_stop_the_solver():
    with Run(time_limit=60, rng=0, callback=lambda progress: False) as run:
        found = solve_program(hard_problem(), run)
        assert run.seconds < 20
    assert found.status is Status.STOPPED


def test_too_large_a_model_is_refused_before_it_is_built():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), np.arange(2000) % 2
    with pytest.raises(ValueError, match="rerank fewer rows"):
        build_program(RankingProblem.from_labels(X, y, "dcg"), "mip-subrank")
