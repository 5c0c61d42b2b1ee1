"""Labels of more than two values: lists and pairs made of them, every method against enumeration."""

import numpy as np
import pytest

import exact_oracles as enumeration
import general_oracles as general
import oracles
from counted_problems import KINDS, METHODS, proved, rows_of
from toprank.control import Run
from toprank.exact import RankingProblem, verify
from toprank.exact.boxes.search import BoxSearch
from toprank.exact.cells.search import CellSearch
from toprank.exact.mip.solve import solve_program
from toprank.exact.slices.search import SliceSearch
from toprank.statistics import GradeSum, get, names
from toprank.statistics.base import registered

DEFINITIONS = {
    **oracles.GRADED_STATISTICS,
    "kendall_tau": general.tau_a,
    "kendall_tau(variant=b)": general.tau_b,
    "c_index": general.c_index,
    "hard_ranking_loss": general.hard_loss,
    "hard_ranking_loss(standardize=true)": general.hard_loss_standardized,
    "ordinal_auc": general.ordinal_auc,
    "integrated_auc": general.integrated_auc,
    "spearman_rho": general.spearman,
    "weak_ranking_loss@2": lambda ranked: general.weak_loss(ranked, 2),
}
SPECS = sorted({spec for name in names() for spec in (registered()[name].examples or (name,))})
GRADED = [s for s in SPECS if get(s).graded_form(np.array([3.0, 2.0, 1.0, 0.0])) is not None]


def graded(kind, seed, queries, response=False):
    """Rows, labels and lists; grades 0 to 3, or numbers that are all different."""
    rng = np.random.default_rng([7, seed, KINDS.index(kind), queries])
    X = rows_of(kind, rng, 6, 2)
    y = np.concatenate(([0, 2, 1, 3], rng.integers(0, 4, 2))).astype(float)
    if response:
        y = rng.permutation(6) / 4.0
    return X, y, np.arange(6) % 2 if queries else np.zeros(6, dtype=int)


def best_of(spec, X, y, qid):
    sign = 1 if get(spec).greater_is_better else -1
    definition = DEFINITIONS.get(spec, get(spec).of_order)
    return enumeration.best_of_graded_orders(X, y.tolist(), qid, lambda order: sign * definition(order))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spec", sorted({*GRADED, *DEFINITIONS}))
def test_every_method_finds_and_proves_the_best_order(spec, kind):
    for queries, response in ((False, False), (True, False), (False, True)):
        X, y, qid = graded(kind, 0, queries, response)
        if spec.startswith("weak") and not response:
            continue  # grades need not tell which two are the best
        problem = RankingProblem.from_grades(X, y, spec, qid=qid, queries="mean")
        found = proved(problem, METHODS[(len(spec) + queries + KINDS.index(kind)) % 3])
        assert found.proved
        assert found.value == pytest.approx(best_of(spec, X, y, qid), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("search", [BoxSearch, CellSearch, SliceSearch])
@pytest.mark.parametrize("spec", ["kendall_tau", "hard_ranking_loss", "ndcg", "spearman_rho"])
def test_searches_that_begin_with_nothing_lose_nothing(spec, search):
    for seed in range(3):
        X, y, qid = graded("random", seed, False)
        problem = RankingProblem.from_grades(X, y, spec)
        found = search(problem.arrays(), target=problem.floor + 1e-12)
        while not found.done:
            found.advance(0.05)
        best = best_of(spec, X, y, qid)
        reached = [problem.evaluate(problem.unscale(w)) for w in found.candidates]
        assert max([problem.floor, *reached]) == pytest.approx(best, abs=1e-9)
        assert found.bound >= best - 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("spec", ["kendall_tau", "ndcg@3", "ordinal_auc"])
def test_proofs_are_kept_and_replayed(spec, method):
    X, y, qid = graded("random", 2, True)
    problem = RankingProblem.from_grades(X, y, spec, qid=qid)
    found = proved(problem, method, keep_proof=True)
    assert verify(problem, found).complete
    assert not verify(RankingProblem.from_grades(X, y[::-1], spec, qid=qid), found).passed


@pytest.mark.parametrize("spec", ["kendall_tau", "ndcg", "hard_ranking_loss"])
def test_the_program_agrees_with_the_enumeration(spec):
    X, y, qid = graded("whole", 1, False)
    problem = RankingProblem.from_grades(X, y, spec, margin=1e-4)
    with Run(rng=0) as run:
        assert solve_program(problem, run).value == pytest.approx(best_of(spec, X, y, qid), abs=1e-6)


@pytest.mark.parametrize("spec", GRADED)
def test_forms_make_the_value_of_every_list(spec):
    """The sum of what a form says, ties the worst way, is the statistic; and no term gains by a loss."""
    rng, statistic = np.random.default_rng(0), get(spec)
    sign = 1 if statistic.greater_is_better else -1
    for trial in range(60):
        n = int(rng.integers(4, 9))
        different = trial % 3 == 0 or spec.startswith("weak")
        y = rng.permutation(n) / 3.0 if different else rng.integers(1, 4, n).astype(float)
        scores = rng.integers(0, 4, n).astype(float)
        if len(set(y.tolist())) < 2:
            continue
        form = statistic.graded_form(y)
        if isinstance(form, GradeSum):
            value = 0.0
            for grade, table in zip(form.grades, form.tables, strict=True):
                upper = y >= grade
                assert table.complaint(int(upper.sum()), int((~upper).sum())) is None
                above = np.sort([(scores[~upper] >= score).sum() for score in scores[upper]])
                value += table.at(np.arange(upper.sum()), above).sum()
        else:
            pairs, worth = form.pairs(y)
            assert (worth > 0).all()
            value = form.offset + worth[scores[pairs[:, 0]] > scores[pairs[:, 1]]].sum()
        assert sign * value == pytest.approx(statistic(y, scores), abs=1e-12)


def test_what_cannot_be_maximised_is_refused_with_the_reason():
    X = np.arange(8.0)[:, None]
    y = np.array([0, 0, 1, 1, 2, 2, 3, 3.0])
    with pytest.raises(ValueError, match="neither a sum over grades nor one over pairs"):
        RankingProblem.from_grades(X, y, "vus")
    with pytest.raises(ValueError, match="neither a sum"):
        RankingProblem.from_grades(X, y, "average_precision")
    with pytest.raises(ValueError, match="best 3 of 8 items, and the labels do not tell which"):
        RankingProblem.from_grades(X, y, "weak_ranking_loss@3")
    with pytest.raises(ValueError, match="fewer grades"):
        RankingProblem.from_grades(np.arange(60.0)[:, None], np.arange(60.0), "dcg")
    with pytest.raises(ValueError, match="one value only"):
        RankingProblem.from_grades(X, np.ones(8), "ndcg")
    with pytest.raises(ValueError, match="finite number"):
        RankingProblem.from_grades(X, [np.nan, *y[1:]], "ndcg")
    with pytest.raises(ValueError, match="position weights are for two classes"):
        RankingProblem.from_grades(X, y, np.ones(8))
