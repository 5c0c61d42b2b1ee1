"""Many queries at once: the same values as one list after the other, and as other packages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import strategies
from toprank.statistics import bootstrap_difference, get
from toprank.statistics.queries import Queries

RNG = np.random.default_rng


def _lists(seed, sizes, levels=2, decimals=1):
    rng = RNG(seed)
    n = int(np.sum(sizes))
    y = rng.integers(0, levels, n)
    return y, np.round(rng.normal(size=n) + 0.3 * y, decimals), np.repeat(rng.permutation(len(sizes)), sizes)


@pytest.mark.parametrize("ties", ["worst", "mean", "best"])
@pytest.mark.parametrize("spec", [*oracles.STATISTICS, "local_auc@3", "local_auc@40%", "kendall_tau"])
def test_each_query_has_the_value_of_its_own_list(spec, ties):
    """Lists of one row to several hundred, so that every way of sorting is taken; with and without ties."""
    for decimals in (1, 12):
        y, scores, qid = _lists(0, [1, 2, 3, 7, 50, 95, 97, 130, 400], decimals=decimals)
        rows = RNG(1).permutation(y.size)
        found = get(spec).by_query(y[rows], scores[rows], qid=qid[rows], ties=ties)
        lists = [qid == q for q in np.unique(qid) if np.ptp(y[qid == q])]
        expected = [get(spec)(y[r], scores[r], ties=ties) for r in lists]
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-14)
        assert get(spec)(y, scores, qid=qid, ties=ties) == pytest.approx(np.mean(expected), rel=1e-11)


@pytest.mark.parametrize("ties", ["worst", "mean", "best"])
@pytest.mark.parametrize("spec", ["dcg", "dcg@3", "ndcg", "ndcg@10", "ndcg@30%", "ndcg@70(gain=exponential)"])
@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_graded_queries_have_the_value_of_their_own_lists(spec, ties, scale):
    for decimals in (1, 12):
        y, scores, qid = _lists(2, [2, 5, 60, 99, 300], levels=4, decimals=decimals)
        found = get(spec).by_query(scale * y, scores, qid=qid, ties=ties)
        lists = [qid == q for q in np.unique(qid) if np.ptp(y[qid == q])]
        expected = [get(spec)(scale * y[r], scores[r], ties=ties) for r in lists]
        assert found == pytest.approx(expected, rel=1e-11)


@settings(max_examples=60)
@given(cases=st.lists(strategies.tied_lists(max_size=5, levels=3), min_size=1, max_size=3))
def test_short_graded_queries_by_all_tie_orders(cases):
    y = np.concatenate([case[0] for case in cases])
    scores = np.concatenate([case[1] for case in cases])
    qid = np.repeat(np.arange(len(cases)), [len(case[0]) for case in cases])
    for spec in ("dcg@3", "ndcg@2(gain=exponential)"):
        expected = [oracles.under_ties(spec, *case, oracles.GRADED_STATISTICS) for case in cases]
        for ties in ("worst", "mean", "best"):
            found = get(spec).by_query(y, scores, qid=qid, ties=ties)
            assert found == pytest.approx([one[ties] for one in expected], rel=1e-10)


def test_perfect_queries_have_one_to_the_last_digit():
    y, _, qid = _lists(3, [30] * 20, levels=5)
    for labels in (y, y > 1):
        for spec in ("ndcg", "ndcg@10", "ndcg@10(gain=exponential)"):
            assert (get(spec).by_query(labels, y, qid=qid) == 1).all()


def test_labels_mean_the_same_in_every_query():
    """Three classes are three classes, though each query holds two of them."""
    y, scores, qid = [0, 1, 1, 2], [1, 2, 3, 4], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="two classes, got 3"):
        bootstrap_difference("auc", y, scores, scores, qid=qid)
    assert get("dcg").by_query(y, scores, qid=qid) == pytest.approx([1, 2 + 1 / np.log2(3)])
    found = bootstrap_difference("dcg", y, scores, [2, 1, 3, 4], qid=qid, n_resamples=10, random_state=0)
    assert found.first == pytest.approx(get("dcg")(y, scores, qid=qid))
    assert found.second == pytest.approx(get("dcg")(y, [2, 1, 3, 4], qid=qid))


@pytest.mark.parametrize("name", [np.int64, float, str, object])
def test_rows_of_a_query_lie_anywhere(name):
    codes = RNG(4).integers(0, 20, 200)
    qid = codes.astype(str).astype(object) if name is object else codes.astype(name)
    queries = Queries.of(qid, 200)
    parts = np.split(np.arange(200) if queries.order is None else queries.order, queries.starts[1:-1])
    assert [part.tolist() for part in parts] == [np.flatnonzero(qid == q).tolist() for q in np.unique(qid)]


def test_rows_of_no_weight_are_in_no_query():
    y, scores, qid = _lists(5, [6] * 10)
    weight = RNG(6).integers(0, 2, 60)
    kept = weight > 0
    found = get("dcg").by_query(y, scores, qid=qid, sample_weight=weight)
    assert found == pytest.approx(get("dcg").by_query(y[kept], scores[kept], qid=qid[kept]))
    doubled = get("auc").by_query(y, scores, qid=qid, sample_weight=2 * weight)
    assert doubled == pytest.approx(get("auc").by_query(y[kept], scores[kept], qid=qid[kept]))


# --- equal to other packages -----------------------------------------------------------------------


def _peers_lists(levels):
    y, scores, qid = _lists(7, [2, 5, 9, 40, 120, 30, 30], levels, decimals=12)
    return y, scores, qid, [q for q in np.unique(qid) if np.ptp(y[qid == q])]


def test_queries_equal_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="extra 'bench' is not installed")
    y, scores, qid, rankable = _peers_lists(4)
    rows = {q: np.flatnonzero(qid == q) for q in rankable}
    judged = {str(q): {str(i): int(y[i]) for i in rows[q]} for q in rankable}
    run = {str(q): {str(i): float(scores[i]) for i in rows[q]} for q in rankable}
    measures = {"ndcg_cut_10": "ndcg@10", "ndcg": "ndcg"}
    found = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "ndcg"}).evaluate(run)
    for theirs, ours in measures.items():
        values = get(ours).by_query(y, scores, qid=qid)
        assert values == pytest.approx([found[str(q)][theirs] for q in rankable], rel=1e-9)
    binary = {
        str(q): {str(i): int(y[i] > 1) for i in rows[q]} for q in rankable if len(set(y[rows[q]] > 1)) == 2
    }
    measures = {"map": "average_precision", "recip_rank": "reciprocal_rank", "recall_5": "recall@5"}
    found = pytrec_eval.RelevanceEvaluator(binary, {"map", "recip_rank", "recall.5"}).evaluate(run)
    for theirs, ours in measures.items():
        values = get(ours).by_query(y > 1, scores, qid=qid)
        assert values == pytest.approx([found[q][theirs] for q in binary], rel=1e-9)


def test_queries_equal_scikit_learn():
    from sklearn import metrics

    y, scores, qid, rankable = _peers_lists(5)
    found = get("ndcg@10").by_query(y, scores, qid=qid, ties="mean")
    expected = [metrics.ndcg_score([y[qid == q]], [scores[qid == q]], k=10) for q in rankable]
    assert found == pytest.approx(expected, rel=1e-10)
