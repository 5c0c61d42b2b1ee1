"""ExactRanker: the certificate belongs to the data, the answer is never worse than DirectRanker's."""

import numpy as np
import pytest
import scipy.sparse as sp

from toprank.base import query_codes
from toprank.control import SearchStoppedWarning, Status
from toprank.exact import RankingProblem, verify
from toprank.linear.direct import DirectRanker
from toprank.linear.exact import ExactRanker


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


def test_the_certificate_is_about_this_data():
    X, y = noisy()
    certificate = ExactRanker("dcg", random_state=0, margin=1e-5, penalty=0.01).fit(X, y).certificate_
    problem = RankingProblem.from_labels(X, y, "dcg", margin=1e-5, penalty=0.01, queries="mean")
    assert verify(problem, certificate) == []
    assert verify(RankingProblem.from_labels(X, 1 - y, "dcg", margin=1e-5, penalty=0.01), certificate) != []


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


def test_a_stopped_proof_goes_on_from_its_file(tmp_path):
    X, y = noisy(n=120, d=5)
    file = tmp_path / "state.npz"
    stopped = ExactRanker(checkpoint=file, random_state=0, time_limit=0.4, method="sweep")
    with pytest.warns(SearchStoppedWarning):
        stopped.fit(X, y)
    assert file.exists()
    resumed = ExactRanker(checkpoint=file, random_state=0, method="sweep").fit(X, y)
    assert resumed.certificate_.proved
    assert resumed.certificate_.seconds > stopped.certificate_.seconds
    assert not file.exists()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin": 0.0}, "margin"),
        ({"penalty": -1.0}, "penalty"),
        ({"method": "magic"}, "method"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"statistic": "average_precision"}, "not a linear rank statistic"),
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
