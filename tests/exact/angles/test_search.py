"""The search by angles: equal to enumeration and to the walk through all pairs, sound at every step."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact_oracles as oracles
import general_oracles
import hostile_problems as hostile
import oracles as definitions
from box_problems import KINDS, features
from toprank import ExactRanker
from toprank.control import Run, Status
from toprank.exact import RankingProblem, verify
from toprank.exact.angles import worker
from toprank.exact.angles.listed import angle_rows, why_not
from toprank.exact.angles.search import AngleSearch
from toprank.exact.search import choice
from toprank.exact.search.choice import compile_for, without_pairs
from toprank.exact.search.driver import THIN, search
from toprank.statistics import get, names
from toprank.statistics.base import registered

SPECS = sorted({spec for name in names() for spec in (registered()[name].examples or (name,))})
COUNTED = [spec for spec in SPECS if get(spec).count_table(2, 6) is not None]
OWN_DEFINITIONS = {
    **definitions.STATISTICS,
    "local_auc@3": lambda order: general_oracles.local_auc(order, 3),
    "weak_ranking_loss@2": lambda order: general_oracles.weak_loss(order, 2),
    "localized_ranking_loss@2": lambda order: general_oracles.localized_loss(order, 2),
}
"""By definition where one is written down; else by the statistic's own value of an order."""


def divide_all(monkeypatch):
    """Short lists are walked through at once; divided, the bounds have to do the work."""
    monkeypatch.setattr(worker, "WALKED", 0)
    monkeypatch.setattr(worker, "WALKED_PER_ITEM", 0)


@pytest.fixture(params=[False, True], ids=["walked", "divided"])
def divided(request, monkeypatch):
    """Both ways."""
    if request.param:
        divide_all(monkeypatch)


def run_to_the_end(problem, optimum, **options):
    """Value <= optimum <= bound all the way, and nothing left in the end."""
    found = AngleSearch(angle_rows(problem), **options)
    best, bound = problem.floor, math.inf
    while not found.done:
        found.advance(0.002)
        best = max([best, *(problem.evaluate(problem.unscale(coef)) for coef in found.candidates)])
        assert best <= optimum + 1e-12
        assert optimum - 1e-12 <= found.bound <= bound
        bound = found.bound
    assert found.unresolved == -math.inf
    assert best == pytest.approx(optimum, rel=1e-9, abs=1e-12)
    assert found.bound == pytest.approx(optimum, rel=1e-9, abs=1e-9)
    return found


# -- short lists, by enumeration ----------------------------------------------------------------------


@pytest.mark.parametrize("queries", [False, True], ids=["list", "queries"])
@pytest.mark.parametrize("spec", COUNTED)
def test_every_statistic_of_lists_reaches_its_best_order(spec, queries, monkeypatch):
    rng = np.random.default_rng([len(spec), queries])
    n = 8
    X = features(rng, KINDS[len(spec) % len(KINDS)], n, 2)
    y = np.concatenate(([0, 1, 1, 0], rng.integers(0, 2, n - 4)))
    qid = np.arange(n) % 2 if queries else np.zeros(n, dtype=int)
    sign = 1 if get(spec).greater_is_better else -1
    definition = OWN_DEFINITIONS.get(spec, get(spec).of_order)
    shapes = [(int(y[qid == q].sum()), int((1 - y[qid == q]).sum())) for q in np.unique(qid)]
    if any(get(spec).count_table(*shape) is None for shape in shapes):
        pytest.skip("not of this form on lists of this shape")
    best = oracles.best_of_orders(X, y, qid, lambda order: sign * definition(order))
    problem = RankingProblem.from_labels(X, y, spec, qid=qid, queries="mean")
    run_to_the_end(problem, max(best, problem.floor))
    divide_all(monkeypatch)
    run_to_the_end(problem, max(best, problem.floor))


@pytest.mark.parametrize("block", range(10))
def test_no_hostile_problem_gets_a_wrong_certificate(block, divided):
    tried = 0
    for seed in range(block, 200, 10):
        case = (hostile.counted_problem if seed % 3 else hostile.hostile_problem)(seed)
        if case.pairs is not None or case.X.shape[1] > 2:
            continue
        statistic = case.weights if case.statistic is None else case.statistic
        problem = RankingProblem.from_labels(case.X, case.y, statistic, qid=case.qid, penalty=case.penalty)
        best = hostile.best_value(case)
        with Run(rng=0, time_limit=20.0) as run:
            found = search(problem, run, method="angles")
        assert found.proved, (seed, case.kind)
        assert found.value == pytest.approx(best, rel=1e-9, abs=1e-12), (seed, case.kind)
        tried += 1
    assert tried


def sector_directions(rows, pairs):
    """A direction in every sector, in fractions: sums of two half-lines on which pairs tie, and turns."""
    differences = [[a - b for a, b in zip(rows[i], rows[k], strict=True)] for i, k in pairs]
    rays = [(s * -b, s * a) for a, b in differences if a or b for s in (1, -1)]
    yield from ((-b, a) for a, b in rays)
    for a, b in itertools.combinations(rays, 2):
        yield a[0] + b[0], a[1] + b[1]


def best_of_all(X, lists, value):
    """Largest value of any direction; ``value`` takes the lost counts of each list."""
    rows = [[oracles.Fraction(v) for v in row] for row in X.tolist()]
    pairs = [(i, k) for upper, lower in lists for i in upper for k in lower]
    best = -math.inf
    for w in sector_directions(rows, pairs):
        scores = [row[0] * w[0] + row[1] * w[1] for row in rows]
        best = max(best, value([[sum(scores[k] >= scores[i] for k in low) for i in up] for up, low in lists]))
    return best


coordinate = st.integers(-3, 3).map(float) | st.sampled_from([0.1, 0.3, 1e15, 1 + 2.0**-50])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(coordinate, coordinate, st.booleans()), min_size=2, max_size=7), st.booleans())
def test_any_short_list(items, whole):
    X, y = np.array([item[:2] for item in items]), np.array([item[2] for item in items]).astype(int)
    if y.min() == y.max():
        y[0] = 1 - y[0]
    weights = np.arange(len(y), 0, -1.0) if whole else 1 / np.log2(np.arange(len(y)) + 2.0)
    lists = [(np.flatnonzero(y == 1).tolist(), np.flatnonzero(y == 0).tolist())]
    best = best_of_all(X, lists, lambda lost: sum(weights[j + c] for j, c in enumerate(sorted(lost[0]))))
    problem = RankingProblem.from_labels(X, y, weights, scales=np.ones(2))
    run_to_the_end(problem, max(best, problem.floor))


@pytest.mark.parametrize("seed", range(6))
def test_grades_share_rows(seed, divided):
    """Graded DCG: a list for each grade, and a row in several of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2)) if seed % 2 else rng.integers(0, 3, (8, 2)).astype(float)
    y = rng.permutation([0, 1, 2, 3, 0, 1, 2, 0])
    lists = [(np.flatnonzero(y >= g).tolist(), np.flatnonzero(y < g).tolist()) for g in (1, 2, 3)]

    def value(lost):
        return sum(1 / math.log2(j + c + 2) for counts in lost for j, c in enumerate(sorted(counts)))

    problem = RankingProblem.from_grades(X, y, "dcg")
    run_to_the_end(problem, max(best_of_all(X, lists, value), problem.floor))


# -- longer ones, by the walk through all pairs -------------------------------------------------------


ROWS = {
    "continuous": lambda rng, n: rng.normal(size=(n, 2)),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=(n, 2)),
    "whole numbers": lambda rng, n: rng.integers(0, 12, (n, 2)).astype(float),
    "decimals": lambda rng, n: np.round(rng.normal(size=(n, 2)), 1),
    "duplicates": lambda rng, n: rng.normal(size=(n // 4, 2))[rng.integers(0, n // 4, n)],
    "collinear": lambda rng, n: rng.normal(size=(n, 1)) * [[1.0, 3.0]],
    "one feature": lambda rng, n: rng.normal(size=(n, 1)),
    "thin": lambda rng, n: 1.0 + rng.normal(size=(n, 2)) * 2.0**-45,
}


@pytest.mark.parametrize("spec", ["dcg", "auc", "average_precision", "dcg@10", "p_norm_push_loss"])
@pytest.mark.parametrize("kind", ROWS)
def test_agrees_with_the_walk_through_all_pairs(kind, spec, monkeypatch):
    rng = np.random.default_rng(len(kind) + len(spec))
    n = 250
    X = ROWS[kind](rng, n)
    y = (X[:, 0] - np.median(X[:, 0]) + rng.normal(size=n) * np.std(X[:, 0]) > 0).astype(int)
    y[:2] = [0, 1]
    problem = RankingProblem.from_labels(X, y, spec, qid=np.arange(n) % 2 if kind == "thin" else None)
    compile_for(problem, "boxes")
    monkeypatch.setattr(worker, "WALKED_PER_ITEM", 1)
    with Run(rng=0, time_limit=60) as run:
        boxes = search(problem, run, method="boxes")
    with Run(rng=0, time_limit=60) as run:
        angles = search(problem, run, method="angles", n_jobs=2)
    assert boxes.proved
    assert angles.proved
    assert angles.value == pytest.approx(boxes.value, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_target_just_below_the_optimum_is_never_excluded(seed, divided):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), (rng.random(60) < 0.3).astype(int)
    problem = RankingProblem.from_labels(X, y, "dcg")
    with Run(rng=0, time_limit=60) as run:
        optimum = search(problem, run, method="boxes").value
    found = run_to_the_end(problem, optimum, target=optimum - 1e-7)
    assert found.bound >= optimum
    closed = AngleSearch(angle_rows(problem), target=optimum + 1e-7)
    while not closed.done:
        closed.advance(0.002)
    assert not closed.candidates
    assert closed.bound <= optimum + 1e-6


# -- long ones, and what it is not for ----------------------------------------------------------------


def long_list(n, share=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    score = X @ [1.0, 0.5] + 2 * rng.normal(size=n)
    return X, (score > np.quantile(score, 1 - share)).astype(int)


def test_a_long_list_is_proved_without_its_pairs(monkeypatch):
    X, y = long_list(20_000)  # 38 million entries, more than could be listed
    problem = RankingProblem.from_labels(X, y, "dcg")
    compile_for(problem)
    monkeypatch.setattr(RankingProblem, "arrays", lambda *asked: pytest.fail("pairs were listed"))
    ranker = ExactRanker("dcg", time_limit=60, random_state=0, n_jobs=2).fit(X, y)
    certificate = ranker.certificate_
    assert certificate.method == "angles"
    assert certificate.status == Status.OPTIMAL
    assert certificate.value <= certificate.bound < problem.trivial_bound
    assert verify(problem, certificate, seconds=20).complete


def test_stopped_by_the_clock_the_bound_holds():
    X, y = long_list(5000, seed=1)
    problem = RankingProblem.from_labels(X, y, "auc")
    compile_for(problem)
    with Run(rng=0, time_limit=60) as run:
        best = search(problem, run)
    assert best.proved
    assert best.method == "angles"
    for seconds in (0.03, 0.06, 0.12):
        with Run(rng=0, time_limit=seconds) as run:
            found = search(problem, run)
        assert found.bound >= best.value >= found.value


def test_goes_on_from_a_checkpoint():
    X, y = long_list(3000)
    problem = RankingProblem.from_labels(X, y, "dcg")
    with Run(rng=0, time_limit=60) as run:
        whole = search(problem, run, method="angles")
    listed = angle_rows(problem)
    again, times = AngleSearch(listed), 0
    while not again.done:
        again.advance(0.002)
        again, times = AngleSearch.resume(listed, again.checkpoint()), times + 1
    assert times > 3
    assert again.bound == pytest.approx(whole.value)


@pytest.mark.parametrize("asked", ["auto", "angles"])
def test_a_sector_that_no_floats_reach_is_not_passed_over(asked, monkeypatch):
    """Where no direction of the best sector is found, the bound covers it, and a margin is settled for."""
    monkeypatch.setattr(worker, "direction_between", lambda turns, low, high: np.array([1.0, 0.0]))
    monkeypatch.setattr(choice, "ANGLES_FROM", 1)
    monkeypatch.setattr("toprank.exact.search.driver._Driver._climb", lambda self, starts, reachable: False)
    X, y = long_list(60, share=0.4, seed=2)
    problem = RankingProblem.from_labels(X, y, "dcg")
    with Run(rng=0, time_limit=60) as run:
        best = search(problem, run, method="boxes").value
    with Run(rng=0, time_limit=60) as run:
        found = search(problem, run, method=asked)
    assert any("too thin" in note for note in found.notes)
    if asked == "auto":
        assert (found.method, found.margin, found.proved) == ("boxes", THIN, True)
        assert found.value == pytest.approx(best)
    else:
        assert not found.proved
        assert found.value < best <= found.bound < best + 1e-6


def test_a_kept_proof_is_that_of_boxes():
    X, y = long_list(1500)
    problem = RankingProblem.from_labels(X, y, "dcg")
    assert without_pairs(problem) == "angles"
    assert without_pairs(problem, keep_proof=True) is None
    assert without_pairs(problem, "boxes") is None
    small = RankingProblem.from_labels(X[:40], np.arange(40) % 2, "dcg")
    assert without_pairs(small) is None


def test_what_it_is_not_for():
    X, y = long_list(30, share=0.5)
    with pytest.raises(ValueError, match="knows no margin"):
        ExactRanker("dcg", method="angles", margin=0.1).fit(X, y)
    with pytest.raises(ValueError, match="one or two features"):
        ExactRanker("dcg", method="angles").fit(np.column_stack([X, X[:, 0] ** 2]), y)
    with pytest.raises(ValueError, match="weighted pairs"):
        ExactRanker("kendall_tau", method="angles").fit(X, np.arange(30))
    with pytest.raises(ValueError, match="no log is kept"):
        ExactRanker("dcg", method="angles", keep_proof=True).fit(X, y)
    with pytest.raises(ValueError, match="keeps no log"):
        AngleSearch(angle_rows(RankingProblem.from_labels(X, y)), keep_log=True)
    assert why_not(RankingProblem.from_labels(X, y)) is None
