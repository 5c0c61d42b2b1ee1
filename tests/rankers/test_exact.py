"""ExactRanker: the certificate belongs to the data, the answer is never worse than DirectRanker's."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from toprank.base import query_codes
from toprank.control import SearchStoppedWarning, Status
from toprank.exact import Constraints, InfeasibleError, RankingProblem, TopGroup, verify
from toprank.exact.pairs import PairArrays
from toprank.rankers.direct import DirectRanker
from toprank.rankers.exact import ExactRanker


def noisy(n=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [10.0**j for j in range(d)]
    y = (X[:, 0] + X[:, 1] / 10 + 1.5 * rng.normal(size=n) > 0.5).astype(int)
    return X, y


def test_proves_and_beats_direct_search():
    X, y = noisy()
    exact = ExactRanker("dcg", random_state=0).fit(X, y)
    direct = DirectRanker("dcg", random_state=0).fit(X, y)
    assert exact.certificate_.proved
    assert exact.outcome_.status is Status.OPTIMAL
    assert exact.outcome_.value >= direct.outcome_.value
    assert exact.score(X, y) == pytest.approx(exact.outcome_.value, rel=1e-12)


@pytest.mark.parametrize("method", ["boxes", "cells", "slices"])
@pytest.mark.parametrize("limit", [60.0, 0.2])
def test_one_fit_builds_one_problem_and_one_array_of_pairs(method, limit, monkeypatch):
    """Starts, preparation, search, widening and certificate included, proved or cut short."""
    X, y = noisy(n=60 if limit == 60.0 else 150, d=3 if limit == 60.0 else 7)
    ranker = ExactRanker(method=method, random_state=0, n_jobs=1, time_limit=limit)
    ExactRanker(method=method, random_state=0, n_jobs=1).fit(*noisy(n=20))  # compiling solves toys
    made = []
    for kind in (RankingProblem, PairArrays):
        begin = kind.__init__

        def count(self, *values, begin=begin, kind=kind, **named):
            made.append(kind.__name__)
            begin(self, *values, **named)

        monkeypatch.setattr(kind, "__init__", count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        ranker.fit(X, y)
    assert ranker.certificate_.proved == (limit == 60.0)
    assert sorted(made) == ["PairArrays", "RankingProblem"]
    assert not hasattr(ranker, "_prepared")


def test_the_certificate_is_about_this_data():
    X, y = noisy()
    certificate = ExactRanker("dcg", random_state=0, margin=1e-5, penalty=0.01).fit(X, y).certificate_
    problem = RankingProblem.from_labels(X, y, "dcg", margin=1e-5, penalty=0.01, queries="mean")
    assert verify(problem, certificate, seconds=0).passed
    turned = RankingProblem.from_labels(X, 1 - y, "dcg", margin=1e-5, penalty=0.01)
    assert verify(turned, certificate).failed


def test_a_price_makes_coefficients_zero():
    X, y = noisy()
    free, priced = (ExactRanker(penalty=p, random_state=0).fit(X, y) for p in (0.0, 0.5))
    assert np.count_nonzero(priced.coef_) < np.count_nonzero(free.coef_)
    assert priced.certificate_.proved


def test_queries_are_averaged():
    X, y = noisy()
    qid = np.arange(50) % 4
    ranker = ExactRanker("auc", random_state=0).fit(X, y, qid=qid)
    assert ranker.certificate_.proved
    assert ranker.score(X, y, qid=qid) == pytest.approx(ranker.outcome_.value, rel=1e-9)
    assert set(query_codes(qid)) == {0, 1, 2, 3}


def test_a_time_limit_leaves_an_answer_with_a_bound_and_a_warning():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 8))
    y = (X[:, 0] + 2 * rng.normal(size=150) > 0).astype(int)
    with pytest.warns(SearchStoppedWarning, match="time_limit"):
        ranker = ExactRanker(time_limit=1.0, random_state=0).fit(X, y)
    assert ranker.outcome_.status is Status.TIME_LIMIT
    assert ranker.outcome_.value < ranker.outcome_.bound
    assert "at most" in ranker.certificate_.summary()


def test_sparse_and_dense_rows_give_the_same_value():
    X, y = noisy()
    X = np.where(np.abs(X) > 0.5 * np.abs(X).mean(axis=0), X, 0.0)
    dense, sparse = (ExactRanker(random_state=0).fit(rows, y) for rows in (X, sp.csr_matrix(X)))
    assert dense.outcome_.value == sparse.outcome_.value


def test_a_stopped_proof_goes_on_from_its_file(tmp_path, monkeypatch):
    # So little of the search at a time that no machine is through before it is told to stop.
    monkeypatch.setattr("toprank.exact.search.driver.CHUNK_SECONDS", 0.01)
    X, y = noisy(n=120, d=5)
    file = tmp_path / "state.npz"
    stopped = ExactRanker(
        checkpoint=file, random_state=0, callback=lambda at: at.phase != "boxes", method="boxes"
    )
    with pytest.warns(SearchStoppedWarning):
        stopped.fit(X, y)
    assert file.exists()
    resumed = ExactRanker(checkpoint=file, random_state=0, method="boxes").fit(X, y)
    assert resumed.certificate_.proved
    assert resumed.certificate_.seconds > stopped.certificate_.seconds
    assert not file.exists()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin": -1.0}, "margin"),
        ({"penalty": -1.0}, "penalty"),
        ({"method": "magic"}, "method"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"statistic": "vus"}, "cannot be maximised directly"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ExactRanker(**options).fit(*noisy())


def test_a_margin_larger_than_any_difference_is_a_trivial_problem():
    X, y = noisy()
    ranker = ExactRanker(margin=1e9, random_state=0).fit(X, y)
    assert ranker.certificate_.proved
    assert not ranker.coef_.any()


# -- mixed-integer solvers -------------------------------------------------------------------------


def small(n=10, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(2) * [1.0, 50.0]
    y = (X[:, 0] - X[:, 1] / 50 + rng.normal(size=n) > 0).astype(int)
    return X, y


PROGRAMS = ["mip", "mip-subrank", "mip-resolved"]


@pytest.mark.parametrize("penalty", [0.0, 0.2])
@pytest.mark.parametrize("solver", PROGRAMS)
def test_programs_and_search_agree(solver, penalty):
    X, y = small()
    options = {"margin": 1e-4, "penalty": penalty, "random_state": 0}
    searched = ExactRanker("dcg", **options).fit(X, y)
    ranker = ExactRanker("dcg", solver=solver, **options).fit(X, y)
    assert searched.certificate_.proved
    assert ranker.certificate_.proved
    assert ranker.outcome_.value == pytest.approx(searched.outcome_.value, abs=1e-9)
    problem = ranker.problem(X, y)
    assert verify(problem, ranker.certificate_, seconds=0).passed
    # Read from coef_ alone: order the rows, ties against us, add up the weights of a DCG.
    scores = X @ ranker.coef_
    order = np.lexsort((y, -scores))
    dcg = sum(1 / np.log2(2 + place) for place, row in enumerate(order) if y[row] == 1)
    assert ranker.outcome_.value == pytest.approx(dcg - penalty * np.count_nonzero(ranker.coef_))


@pytest.mark.parametrize("solver", ["mip", "mip-subrank"])
def test_a_program_starts_from_another_ranker(solver):
    X, y = noisy(n=60, d=5)
    direct = DirectRanker("dcg", random_state=0).fit(X, y)
    with pytest.warns(SearchStoppedWarning):
        ranker = ExactRanker("dcg", solver=solver, start=direct, time_limit=1.0, n_jobs=1).fit(X, y)
    assert ranker.outcome_.value >= ranker.problem(X, y).evaluate(direct.coef_)


def constrained(constraints, X, y, **options):
    return ExactRanker("dcg", solver="mip", constraints=constraints, random_state=0, **options).fit(X, y)


def test_signs_are_kept_and_the_best_of_those_signs_is_found():
    X, y = small()
    signs = -np.sign(ExactRanker("dcg", random_state=0).fit(X, y).coef_).astype(int)
    ranker = constrained(Constraints(signs=signs), X, y)
    assert (signs * ranker.coef_ >= 0).all()
    # The best of many directions between the two axes, both included.
    angles = np.linspace(0, np.pi / 2, 501)
    directions = np.column_stack((np.cos(angles), np.sin(angles))).round(12) * signs
    problem = ranker.problem(X, y)
    seen = max(problem.evaluate(problem.unscale(w)) for w in directions)
    assert ranker.outcome_.value == pytest.approx(seen, abs=1e-9)
    assert ranker.certificate_.proved


def test_at_most_so_many_features():
    X, y = noisy(n=16)
    ranker = constrained(Constraints(max_features=1), X, y)
    assert np.count_nonzero(ranker.coef_) == 1
    problem = ranker.problem(X, y)
    singles = [problem.evaluate(sign * np.eye(3)[j]) for j in range(3) for sign in (-1, 1)]
    assert ranker.outcome_.value == pytest.approx(max(singles), abs=1e-9)


@pytest.mark.parametrize("largest", [1, 3])
def test_a_score_card_has_whole_points(largest):
    X, y = small()
    X = X / [1.0, 50.0]
    ranker = constrained(Constraints(integer_range=largest), X, y)
    assert all(float(c).is_integer() and abs(c) <= largest for c in ranker.coef_)
    cards = itertools.product(range(-largest, largest + 1), repeat=2)
    problem = ranker.problem(X, y)
    assert ranker.outcome_.value == pytest.approx(max(map(problem.evaluate, cards)), abs=1e-9)


def test_a_group_is_at_the_top():
    X, y = small()
    free = ExactRanker("dcg", random_state=0).fit(X, y)
    members = np.flatnonzero(y == 0)[:3]
    assert np.isin(free.first(X, 4), members).sum() < 2
    group = TopGroup(members, top=4, at_least=2)
    ranker = constrained(Constraints(top_groups=[group]), X, y)
    scores = X @ ranker.coef_
    first = np.sort(scores)[::-1]
    assert first[3] > first[4]
    assert (scores[members] >= first[3]).sum() >= 2
    assert ranker.outcome_.value < free.outcome_.value


def test_all_demands_at_once():
    X, y = noisy(n=14)
    X = X / [1.0, 10.0, 100.0]
    members = tuple(np.flatnonzero(y == 0)[:4].tolist())
    demands = Constraints(
        signs=(1, 0, -1),
        max_features=2,
        integer_range=4,
        top_groups=(TopGroup(members, top=5, at_least=1, at_most=3),),
    )
    coef = constrained(demands, X, y).coef_
    assert coef[0] >= 0 >= coef[2]
    assert 1 <= np.count_nonzero(coef) <= 2
    assert (coef == coef.round()).all()
    scores = X @ coef
    inside = np.flatnonzero(scores >= np.sort(scores)[-5])
    assert len(inside) == 5
    assert 1 <= np.isin(inside, members).sum() <= 3


@pytest.mark.parametrize("solver", ["search", "mip-subrank", "mip-resolved"])
def test_solvers_that_know_no_constraints_say_which_does(solver):
    ranker = ExactRanker(solver=solver, constraints=Constraints(max_features=1))
    with pytest.raises(ValueError, match=rf"solver='{solver}' knows no constraints; use solver='mip'"):
        ranker.fit(*small())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"constraints": Constraints(signs=(1, 1, 1))}, "signs must hold"),
        ({"constraints": {"signs": (1, 1)}}, r"constraints must be None or a Constraints"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"backend": "cplex"}, "unknown backend 'cplex'"),
        ({"solver": "mop"}, "solver='mop'"),
        ({"margin": 1e6}, "margin=1e\\+06 is too large"),
    ],
)
def test_bad_parameters_of_the_programs_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ExactRanker(**{"solver": "mip", **options}).fit(*small())


def test_contradictions_are_named():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    lowest = TopGroup((0,), top=1, at_least=1)
    with pytest.raises(InfeasibleError, match="together: signs; at least 1 of the top 1"):
        constrained(Constraints(signs=(1,), top_groups=(lowest,)), X, y)
    middle = TopGroup((1,), top=1, at_least=1)
    with pytest.raises(InfeasibleError, match="constraint: at least 1 of the top 1"):
        constrained(Constraints(top_groups=(middle,)), X, y)


@pytest.mark.parametrize(
    "options", [{"solver": "mip-auc"}, {"solver": "mip-subrank", "strengthen": True, "perturb": True}]
)
def test_the_papers_other_programs_have_names(options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y = (X[:, 0] + rng.normal(size=12) > 0).astype(int)
    best = ExactRanker("auc", random_state=0).fit(X, y).certificate_
    found = ExactRanker("auc", **options).fit(X, y).certificate_
    assert found.value == pytest.approx(best.value)
    with pytest.raises(ValueError, match=r"strengthen=True is for|needs statistic='auc'"):
        ExactRanker("dcg", **{"strengthen": True, **options, "solver": "mip-auc"}).fit(X, y)
    with pytest.raises(ValueError, match="perturb=True is for solver='mip-subrank' only"):
        ExactRanker("dcg", perturb=True).fit(X, y)
    with pytest.raises(ValueError, match="needs statistic='auc'"):
        ExactRanker("dcg", solver="mip-auc").fit(X, y)
