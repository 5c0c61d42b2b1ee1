import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from toprank.control import Outcome, Status
from toprank.datasets import InputError, Table
from toprank.lineup import BASELINE, Contender
from toprank.workflow import compare as compare_module
from toprank.workflow import rank as rank_module
from toprank.workflow.compare import CompareOptions, compare_rankers
from toprank.workflow.fitting import outcome_sentence
from toprank.workflow.options import optimisable
from toprank.workflow.rank import HeldOut, Pair, RankOptions, rank_items
from toprank.workflow.source import Columns, open_source


def _frame(n=160, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    y = (a + 0.3 * b + rng.normal(size=n) > 1.0).astype(int)
    return pd.DataFrame({"a": a, "b": b, "kind": rng.choice(["u", "v", "w"], n), "y": y})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "items.csv"
    _frame().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def source(data):
    return open_source(str(data), Columns(target="y"))


@pytest.fixture(scope="module")
def report(source):
    return rank_items(source, RankOptions(top=30, splits=2))


def _dcg(labels_best_first):
    return sum(label / np.log2(position + 2) for position, label in enumerate(labels_best_first))


def test_the_list_is_sorted_and_complete(report):
    listing = report.listing
    assert listing["rank"].tolist() == list(range(1, 161))
    assert sorted(listing["row"]) == list(range(1, 161))
    assert (np.diff(listing["score"]) <= 0).all()
    original = _frame()
    for name in ("a", "kind", "y"):
        np.testing.assert_array_equal(listing[name], original[name].to_numpy()[listing["row"] - 1])


def test_figures_are_those_of_the_list(report):
    listing = report.listing
    assert report.training.reranked == pytest.approx(_dcg(listing["y"]))
    by_base = listing.sort_values("base_rank")
    assert report.training.base == pytest.approx(_dcg(by_base["y"]))
    assert report.top == 30
    assert report.optimised.base == pytest.approx(_dcg(by_base["y"].head(30)))
    assert report.optimised.reranked == pytest.approx(_dcg(listing["y"].head(30)))
    assert report.optimised.reranked == pytest.approx(report.outcome.value)
    assert report.optimised.reranked > report.optimised.base


def test_only_the_top_is_reranked(report):
    top = set(report.listing.head(30)["base_rank"])
    assert top == set(range(1, 31))
    below = report.listing.iloc[30:]
    assert below["rank"].tolist() == below["base_rank"].tolist()


def test_held_out_figures_come_from_rows_not_fitted(source, monkeypatch):
    seen = []
    original = rank_module._one_split

    def spy(train, test, *rest):
        seen.append((train, test))
        return original(train, test, *rest)

    monkeypatch.setattr(rank_module, "_one_split", spy)
    report = rank_items(source, RankOptions(top=20, splits=2))
    assert len(report.held_out.pairs) == 2
    for train, test in seen:
        rows = pd.concat([train.features.frame, test.features.frame]).sort_values("a")
        pd.testing.assert_frame_equal(
            rows.reset_index(drop=True),
            source.labelled.features.frame.sort_values("a").reset_index(drop=True),
        )
        assert abs(len(train.y) - len(test.y)) <= 2


def test_new_items_are_ranked_instead(source):
    new = Table(_frame(25, seed=9).drop(columns="y").assign(kind="new"), source="new.csv")
    report = rank_items(source, RankOptions(top=30, splits=0), new=new)
    assert len(report.listing) == 25
    assert report.listed == "new.csv"
    assert report.held_out is None
    assert [(note.column, note.action) for note in report.new_notes] == [("kind", "unknown")]
    scores, _ = report.model.scores(new)
    assert report.listing["row"].tolist() == (np.argsort(-scores, kind="stable") + 1).tolist()


def test_new_items_that_do_not_fit_are_refused_before_the_search(source, monkeypatch):
    monkeypatch.setattr(rank_module, "_first_list", lambda *arguments: pytest.fail("searched first"))
    with pytest.raises(InputError, match="'kind'"):
        rank_items(source, RankOptions(), new=Table(_frame(5).drop(columns="kind"), source="new.csv"))


def test_same_seed_same_answer_and_another_seed_another(source):
    one, other, third = (rank_items(source, RankOptions(top=30, splits=2, seed=seed)) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one.listing, other.listing, check_exact=True)
    assert one.held_out == other.held_out
    assert one.held_out != third.held_out


def test_a_top_of_one_class_is_widened_unless_given(tmp_path):
    n = 400
    y = (np.arange(n) < 120).astype(int)
    # Perfectly separated but for a few: the first 80 of the list are all positive.
    a = -np.arange(n, dtype=float)
    y[[90, 100, 110, 115, 118, 119]] = 0
    path = tmp_path / "easy.csv"
    pd.DataFrame({"a": a, "b": np.cos(np.arange(n)), "y": y}).to_csv(path, index=False)
    source = open_source(str(path), Columns(target="y"))
    wide = rank_items(source, RankOptions(splits=0))
    labels = wide.listing.sort_values("base_rank")["y"].to_numpy()
    fewest = {top: min(labels[:top].sum(), top - labels[:top].sum()) for top in (50, 100, 200)}
    assert fewest[50] == 0
    assert wide.top == min(top for top in fewest if fewest[top] >= 5)
    assert any("--top sets another" in remark for remark in wide.remarks)
    narrow = rank_items(source, RankOptions(top=20, splits=0))
    assert narrow.top == 20
    assert "one class only" in narrow.certainty
    assert np.isnan(narrow.optimised.base)


def test_groups_are_held_out_together(tmp_path, monkeypatch):
    frame = _frame(120).assign(household=np.arange(120) // 3)
    frame.to_csv(tmp_path / "g.csv", index=False)
    source = open_source(str(tmp_path / "g.csv"), Columns(target="y", group="household"))
    assert "household" not in source.labelled.features.columns
    parts = []
    original = rank_module.half_splits

    def spy(*arguments, **options):
        for split in original(*arguments, **options):
            parts.append(split)
            yield split

    monkeypatch.setattr(rank_module, "half_splits", spy)
    rank_items(source, RankOptions(top=20, splits=2))
    assert len(parts) == 2
    for train, test in parts:
        assert not set(train // 3) & set(test // 3)


def test_queries_have_lists_of_their_own(tmp_path):
    frame = _frame(120).assign(query=np.tile(["x", "y", "z"], 40))
    frame.to_csv(tmp_path / "q.csv", index=False)
    source = open_source(str(tmp_path / "q.csv"), Columns(target="y", qid="query"))
    report = rank_items(source, RankOptions(statistic="ndcg@5", top=60, splits=0))
    for _, part in report.listing.groupby("query"):
        assert part["rank"].tolist() == list(range(1, 41))
        assert sorted(part["base_rank"]) == list(range(1, 41))
        assert (np.diff(part["score"]) <= 0).all()


def _query_file(tmp_path, y, n=120, queries=6):
    frame = _frame(n).assign(query=np.arange(n) % queries)
    frame["y"] = y(frame)
    frame.to_csv(tmp_path / "q.csv", index=False)
    return open_source(str(tmp_path / "q.csv"), Columns(target="y", qid="query"))


def test_queries_that_cannot_be_ranked_are_one_line_and_no_traceback(tmp_path):
    none = _query_file(tmp_path, lambda frame: (frame["query"] > 2).astype(int))
    with pytest.raises(InputError, match="--qid 'query': no query has items of both classes"):
        rank_items(none, RankOptions(splits=2))
    one = _query_file(tmp_path, lambda frame: ((frame["query"] > 2) | (frame.index == 0)).astype(int))
    report = rank_items(one, RankOptions(splits=2))
    assert report.held_out is None
    assert any("no held-out figures" in remark for remark in report.remarks)
    easy = _query_file(tmp_path, lambda frame: (frame["a"] > 0).astype(int))
    report = rank_items(easy, RankOptions(top=2, splits=2))
    assert "of every query hold one class only" in report.certainty
    assert np.isnan(report.optimised.base)


def test_the_top_of_each_query_is_reranked(tmp_path):
    source = _query_file(tmp_path, lambda frame: frame["y"])
    report = rank_items(source, RankOptions(statistic="ndcg@5", top=5, splits=0))
    assert report.top == 30
    for _, part in report.listing.groupby("query"):
        assert set(part.head(5)["base_rank"]) == {1, 2, 3, 4, 5}
        assert part["rank"].tolist()[5:] == part["base_rank"].tolist()[5:]
    means = [
        _dcg(part["y"].head(5)) / _dcg([1] * min(5, part["y"].sum()))
        for _, part in report.listing.groupby("query")
        if 0 < part["y"].sum() < len(part)
    ]
    assert report.training.reranked == pytest.approx(np.mean(means))
    gained = report.optimised.reranked - report.optimised.base
    assert gained == pytest.approx(report.training.reranked - report.training.base)


def test_cut_offs_are_those_of_the_whole_list(source):
    # 50 % of 160 items are 80: any order of the top 30 has the same precision.
    with pytest.raises(InputError, match="same for every order of the top 30"):
        rank_items(source, RankOptions(statistic="precision@50%", top=30, splits=0))
    report = rank_items(source, RankOptions(statistic="precision@20%", top=60, splits=0))
    assert report.optimised.reranked == pytest.approx(report.listing["y"].head(32).mean())


def test_a_better_base_keeps_its_order_and_nothing_is_claimed_to_be_best(source):
    report = rank_items(source, RankOptions(base="forest", top=60, splits=2))
    assert report.optimised.reranked == report.optimised.base
    assert report.listing["rank"].tolist() == report.listing["base_rank"].tolist()
    assert "is worse than the base's own, so the base order is kept" in report.certainty
    assert "optimal" not in report.certainty
    assert any("held-out splits the base's own order was kept" in remark for remark in report.remarks)


def test_halves_too_poor_to_learn_from_do_not_spoil_the_whole(tmp_path):
    frame = pd.DataFrame({"a": [1.0] + [0.0] * 11, "y": [1, 0, 1, 0] * 3})
    frame.to_csv(tmp_path / "poor.csv", index=False)
    source = open_source(str(tmp_path / "poor.csv"), Columns(target="y"))
    report = rank_items(source, RankOptions(splits=3))
    assert report.held_out is None
    assert any("no held-out figures: poor.csv has no column" in remark for remark in report.remarks)


def test_the_clock_is_reported(source):
    report = rank_items(source, RankOptions(top=100, splits=0, time_limit=1e-9))
    assert report.outcome.status is Status.TIME_LIMIT
    assert "stopped by the clock" in report.certainty


# -- Ctrl-C ----------------------------------------------------------------------------------------


def test_interrupt_while_judging_keeps_the_model(source, monkeypatch):
    original, calls = rank_module._one_split, []

    def second_is_interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(rank_module, "_one_split", second_is_interrupted)
    report = rank_items(source, RankOptions(top=20, splits=3))
    assert report.interrupted
    assert len(report.held_out.pairs) == 1
    assert np.isnan(report.held_out.p_value)
    assert any("1 of 3" in remark for remark in report.remarks)


def test_interrupt_while_comparing(source, monkeypatch):
    original, calls = compare_module._one_split, []

    def third_is_interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(compare_module, "_one_split", third_is_interrupted)
    options = CompareOptions(top=20, splits=5, time_limit=0.3)
    report = compare_rankers(source, options)
    assert report.interrupted
    assert report.splits == 2
    calls[:] = [None]
    with pytest.raises(KeyboardInterrupt):
        compare_rankers(source, options)


def test_a_ranker_that_refuses_is_left_out_of_the_comparison(source, monkeypatch):
    class Refusing(LogisticRegression):
        calls = 0

        def fit(self, X, y, sample_weight=None):
            Refusing.calls += 1
            if Refusing.calls == 3:
                raise ValueError("not on\na Sunday")
            return super().fit(X, y)

    class Unable(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("never")

    few = [
        Contender(BASELINE, LogisticRegression),
        Contender("refusing", Refusing),
        Contender("unable", Unable),
    ]
    monkeypatch.setattr(compare_module, "lineup", lambda settings, rows: few)
    report = compare_rankers(source, CompareOptions(splits=3))
    assert [one.name for one in report.figures] == [BASELINE]
    assert report.remarks == ["unable was left out: never", "refusing was left out: not on a Sunday"]
    assert report.advice.startswith("Logistic regression will do")


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(1.0, 1.0, Status.OPTIMAL), "proved optimal"),
        (Outcome(9.0, 10.0, Status.FINISHED), "at most 10.0 % below the best possible; the search ran"),
        (Outcome(9.9995, 10.0, Status.FINISHED), "at most 0.005 % below"),
        (Outcome(9.0, status=Status.FINISHED), "the search ran to its end"),
        (Outcome(9.0, 10.0, Status.TIME_LIMIT, 12.3), "stopped by the clock after 12 s"),
        (Outcome(9.0, 10.0, Status.INTERRUPTED), "interrupted: the best answer so far"),
    ],
)
def test_outcomes_in_words(outcome, words):
    assert words in outcome_sentence(outcome)


def test_held_out_figures_in_words():
    def sentence(*pairs):
        return HeldOut(tuple(Pair(*pair) for pair in pairs), 0.5).sentence("logistic regression")

    spread = (0.0, 0.1, -0.1, 0.05, -0.05)
    assert "pays: +10.0 % (p = " in sentence(*((10 + d, 11 + 1.2 * d) for d in spread))
    assert "corrected for the overlap of the splits" in sentence(*((10 + d, 11 + 1.2 * d) for d in spread))
    assert "no clear difference" in sentence(*((10, 10 + 10 * d) for d in spread))
    assert "does harm, -10.0 %" in sentence(*((10 + d, 9 + 0.8 * d) for d in spread))
    few = sentence((10, 11), (10.1, 11.11))
    assert "no clear difference, +10.0 %; no p-value from fewer than 5 splits: logistic" in few
    same = sentence(*((10 + d, 11 + d) for d in range(5)))
    assert "no p-value: every split has the same difference" in same


def test_statistics_by_name():
    assert str(optimisable("ndcg@7")) == "ndcg@7"
    for name, message in [
        ("dgc", "did you mean 'dcg'"),
        ("precision", "cut-off"),
        ("average_precision", "these can: auc, dcg"),
    ]:
        with pytest.raises(InputError, match=message) as caught:
            optimisable(name)
        assert "--statistic" in str(caught.value)
