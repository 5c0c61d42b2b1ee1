"""Statistics that are sums of g(j, c_(j)): every method against enumeration, whatever is registered."""

from dataclasses import replace

import numpy as np
import pytest

import exact_oracles as enumeration
import general_oracles
import oracles
from counted_problems import KINDS, METHODS, proved, rows_of
from toprank import DirectRanker, ExactRanker
from toprank.control import Run
from toprank.exact import RankingProblem, verify
from toprank.exact.boxes.search import BoxSearch
from toprank.exact.cells.search import CellSearch
from toprank.exact.cells.units import build_units
from toprank.exact.mip.solve import solve_program
from toprank.exact.objective import Objective, losses_by_rivals
from toprank.exact.slices.search import SliceSearch
from toprank.statistics import CountTable, get, names
from toprank.statistics.base import registered

SPECS = sorted({spec for name in names() for spec in (registered()[name].examples or (name,))})
COUNTED = [spec for spec in SPECS if get(spec).count_table(2, 6) is not None]
OWN_DEFINITIONS = {
    **oracles.STATISTICS,
    "local_auc@3": lambda order: general_oracles.local_auc(order, 3),
    "weak_ranking_loss@2": lambda order: general_oracles.weak_loss(order, 2),
    "localized_ranking_loss@2": lambda order: general_oracles.localized_loss(order, 2),
}
MAIN = [
    "average_precision",
    "positives_at_top",
    "reciprocal_rank",
    "partial_auc_fpr(max_fpr=0.4)",
    "partial_auc_fpr(max_fpr=0.7,min_fpr=0.2)",
    "partial_auc@3",
    "local_auc@3",
    "p_norm_push_loss",
    "infinite_push_loss",
    "dcg",
]


def problem_of(spec, kind, seed, queries):
    """Rows, labels, lists, and the largest value there is, a loss with its sign changed."""
    rng = np.random.default_rng([seed, KINDS.index(kind), queries])
    d = 2 + (seed + queries) % 2
    n = 9 if d == 2 else 7
    X = rows_of(kind, rng, n, d)
    y = np.concatenate(([0, 1, 1, 0], rng.integers(0, 2, n - 4)))
    qid = np.arange(n) % 2 if queries else np.zeros(n, dtype=int)
    sign = 1 if get(spec).greater_is_better else -1
    definition = OWN_DEFINITIONS.get(spec, get(spec).of_order)
    best = enumeration.best_of_orders(X, y, qid, lambda order: sign * definition(order))
    return X, y, qid, best


@pytest.mark.parametrize("queries", [False, True], ids=["list", "queries"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", MAIN)
def test_every_method_finds_and_proves_the_best_order(spec, kind, queries):
    X, y, qid, best = problem_of(spec, kind, 0, queries)
    problem = RankingProblem.from_labels(X, y, spec, qid=qid, queries="mean")
    for method in METHODS:
        found = proved(problem, method)
        assert found.proved, (method, found)
        assert found.value == pytest.approx(best, rel=1e-9, abs=1e-12), method


@pytest.mark.parametrize("spec", [spec for spec in COUNTED if spec not in MAIN])
def test_whatever_is_registered_with_a_table_is_maximised(spec):
    kind, method = KINDS[len(spec) % 4], METHODS[len(spec) % 3]
    X, y, _, best = problem_of(spec, kind, 1, False)
    if get(spec).count_table(int(y.sum()), int((1 - y).sum())) is None:
        pytest.skip("not of this form on a list of this shape")
    found = proved(RankingProblem.from_labels(X, y, spec), method)
    assert found.proved
    assert found.value == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("spec", COUNTED)
def test_tables_never_increase_and_make_the_value_of_every_order(spec):
    statistic, sign = get(spec), 1 if get(spec).greater_is_better else -1
    for n in range(2, 8):
        for bits in range(1, 2**n - 1):
            order = np.array([(bits >> j) & 1 for j in range(n)])
            m = int(order.sum())
            table = statistic.count_table(m, n - m)
            if table is None:
                continue
            assert table.complaint(m, n - m) is None
            grid = table.at(np.arange(m)[:, None], np.arange(n - m + 1)[None, :])
            assert (np.diff(grid, axis=1) <= 0).all()
            above = np.cumsum(1 - order)[order == 1]
            expected = sign * OWN_DEFINITIONS.get(spec, statistic.of_order)(order.tolist())
            assert grid[np.arange(m), above].sum() == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("spec", ["average_precision", "positives_at_top", "p_norm_push_loss", "local_auc@3"])
@pytest.mark.parametrize("method", METHODS)
def test_proofs_are_kept_and_replayed(spec, method):
    X, y, qid, _ = problem_of(spec, "random", 2, True)
    problem = RankingProblem.from_labels(X, y, spec, qid=qid)
    found = proved(problem, method, keep_proof=True)
    report = verify(problem, found)
    assert report.complete, report
    other = RankingProblem.from_labels(X, y, "dcg", qid=qid)
    assert not verify(other, found).passed


@pytest.mark.parametrize("spec", ["average_precision", "positives_at_top", "p_norm_push_loss", "local_auc@3"])
def test_the_program_agrees_with_the_enumeration(spec):
    X, y, qid, best = problem_of(spec, "whole", 0, False)
    problem = RankingProblem.from_labels(X, y, spec, qid=qid, margin=1e-4)
    with Run(rng=0) as run:
        assert solve_program(problem, run).value == pytest.approx(best, abs=1e-6)
    for formulation in ("mip-subrank", "mip-resolved"):
        with Run(rng=0) as run, pytest.raises(ValueError, match="position weights"):
            solve_program(problem, run, formulation=formulation)


def test_a_price_on_coefficients_is_paid():
    X, y, qid, _ = problem_of("average_precision", "tied", 0, False)
    best = enumeration.best_of_orders(X, y, qid, oracles.average_precision, 0.05)
    for method in METHODS:
        found = proved(RankingProblem.from_labels(X, y, "average_precision", penalty=0.05), method)
        assert found.proved
        assert found.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("search", [BoxSearch, CellSearch, SliceSearch])
@pytest.mark.parametrize("spec", ["p_norm_push_loss", "average_precision", "weights below zero"])
def test_searches_that_begin_with_nothing_lose_nothing(spec, search):
    """Without a good answer at hand all is left to the bounds; values may be below zero."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, margin = int(rng.integers(6, 10)), float(rng.choice([0.0, 0.1, 0.3]))
        X, y = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % 2)
        statistic = -(np.arange(float(n)) ** 2) if spec == "weights below zero" else spec
        problem = RankingProblem.from_labels(X, y, statistic, margin=margin, scales=np.ones(2))
        grid, (differences, _, _) = problem.objective.table(0), enumeration.class_pairs(X, y)
        m, rivals = grid.shape[0], grid.shape[1] - 1

        def value(won, grid=grid, m=m, rivals=rivals):
            lost = sorted(rivals - sum(won[rivals * i : rivals * (i + 1)]) for i in range(m))
            return sum(grid[j, c] for j, c in enumerate(lost))

        best = enumeration.best_value(differences, margin, value)
        found = search(problem.arrays(), target=problem.floor + 1e-12)
        while not found.done:
            found.advance(0.05)
        reached = [problem.evaluate(problem.unscale(w)) for w in found.candidates]
        assert max([problem.floor, *reached]) == pytest.approx(best, abs=1e-9)
        assert found.bound >= best - 1e-12


def test_with_a_margin_every_method_agrees_with_the_enumeration():
    """Pairs won by a margin need not make an order; enumeration over the vertices of the arrangement."""
    rng = np.random.default_rng(3)
    for spec in ("average_precision", "p_norm_push_loss", "positives_at_top"):
        X, y = rng.normal(size=(8, 2)), np.arange(8) % 2
        problem = RankingProblem.from_labels(X, y, spec, margin=0.3, scales=np.ones(2))
        table = problem.objective.table(0)
        differences, _, _ = enumeration.class_pairs(X, y)

        def value(won, table=table):
            lost = sorted(4 - sum(won[4 * i : 4 * i + 4]) for i in range(4))
            return sum(table[j, c] for j, c in enumerate(lost))

        best = enumeration.best_value(differences, 0.3, value)
        for method in METHODS:
            found = proved(problem, method)
            assert found.proved
            assert found.value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("spec", ["average_precision", "infinite_push_loss"])
def test_rankers_take_them_by_name(spec):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    exact = ExactRanker(spec, random_state=0).fit(X, y)
    direct = DirectRanker(spec, random_state=0, n_restarts=3).fit(X, y)
    assert exact.certificate_.proved
    assert exact.outcome_.value == pytest.approx(exact.score(X, y))  # of a loss the sign is changed
    assert direct.outcome_.value <= exact.outcome_.value + 1e-12


def test_a_long_list_needs_no_table_of_all_pairs():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30_000, 3))
    y = (X[:, 0] + rng.normal(size=30_000) > 2).astype(int)
    problem = RankingProblem.from_labels(X, y, "average_precision")
    assert sum(table.values.size for table in problem.objective.tables) == 30_000
    ranker = DirectRanker("average_precision", n_restarts=0, random_state=0).fit(X, y)
    assert ranker.outcome_.value == pytest.approx(get("average_precision")(y, X @ ranker.coef_))


def test_what_is_no_such_sum_is_refused_by_name():
    with pytest.raises(ValueError, match="'vus' cannot be maximised directly"):
        RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "vus")


# -- tables -------------------------------------------------------------------------------------------


def test_tables_say_what_is_wrong_with_them():
    assert CountTable.by_position(np.array([1.0, 2.0])).complaint(1, 1) is not None
    assert "2 values" in CountTable.by_count(np.array([1.0])).complaint(3, 1)
    assert "finite" in CountTable.by_count(np.array([np.inf, 0.0])).complaint(3, 1)
    assert "below zero" in CountTable.by_count(np.array([1.0, 0.0]), np.array([1.0, -1.0])).complaint(2, 1)
    rising_between_rows = CountTable.of(2, 1, lambda j, c: j * 5.0 - c)
    assert rising_between_rows.complaint(2, 1) is None
    with pytest.raises(ValueError, match="too large"):
        CountTable.of(100_000, 100_000, lambda j, c: j + c)


@pytest.mark.parametrize("seed", range(8))
def test_losses_by_positives_and_by_negatives_are_the_same(seed):
    """Of every order; and what cells take off is never more, whatever pairs are won."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 5, 2)
    grid = -np.sort(rng.integers(0, 30, (m, n + 1)), axis=1)
    losses = losses_by_rivals(grid)
    for bits in range(2 ** int(m + n)):
        order = np.array([(bits >> j) & 1 for j in range(m + n)])
        if order.sum() == m:
            above = np.cumsum(1 - order)[order == 1]
            before = np.cumsum(order)[order == 0]
            value = grid[np.arange(m), above].sum()
            assert grid[:, 0].sum() - losses[np.arange(n), before].sum() == value
    table = CountTable(grid.astype(float).reshape(-1), int(n) + 1)
    X = rng.normal(size=(m + n, 1))
    problem = RankingProblem.from_labels(X, np.arange(m + n) < m, "auc")
    upper, lower, _ = problem.queries[0]
    objective = Objective.of_lists([(upper, lower, table)])

    units = build_units(replace(problem.arrays(), objective=objective))
    below = units.objective.losses.reshape(n, m + 1)
    steps = -np.diff(below, axis=1)
    assert (np.diff(steps, axis=1) <= 0).all()
    assert (np.diff(steps, axis=0) <= 0).all()
    for _ in range(50):
        won = rng.random((m, n)) < rng.random()
        value = units.scale.up(objective.value((~won).sum(axis=1)))
        taken = below[rng.permutation(n), won.sum(axis=0)].sum()
        assert value <= units.total - taken
