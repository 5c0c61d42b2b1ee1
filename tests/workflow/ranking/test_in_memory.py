import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from toprank.control import Outcome, Status
from toprank.datasets import InputError, Table, half_splits, learn_encoder
from toprank.lineup import BASELINE, Contender
from toprank.statistics import get
from toprank.workflow import compare as compare_module
from toprank.workflow.compare import CompareOptions, compare_rankers
from toprank.workflow.flags import each_once
from toprank.workflow.judging.held_out import HeldOut, Judged, chance_value
from toprank.workflow.learning.fitting import Items, outcome_sentence
from toprank.workflow.learning.splits import out_of_fold_splits
from toprank.workflow.ranking import in_memory as rank_module
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Columns, open_source


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
    """The default: an ensemble."""
    return rank_items(source, RankOptions(splits=3, time_limit=None))


@pytest.fixture(scope="module")
def reranked(source):
    return rank_items(source, RankOptions(depth=60, splits=2, time_limit=None))


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
    assert sorted(listing["logistic_rank"]) == list(range(1, 161))
    assert set(listing["order"]) == {"out of fold"}


def test_the_default_is_an_ensemble_for_the_budget(report):
    assert report.delivered in ("ensemble", "logistic")
    assert report.held_out.rankers == ["ensemble", "logistic"]
    assert report.budget == 16
    assert report.statistic == "dcg@16"
    assert report.depth is None


def test_labelled_items_are_placed_without_their_own_label(source, report):
    """Flip one item's label: where it stands must not depend on it, but for what the others learn from it."""
    hits = report.listing["y"].head(16).sum()
    assert report.found.ours == hits
    by_logistic = report.listing.sort_values("logistic_rank")
    assert report.found.baseline == by_logistic["y"].head(16).sum()
    assert report.found.chance == pytest.approx(16 * source.positives / 160)
    ours, theirs = (set(frame.head(16)["row"]) for frame in (report.listing, by_logistic))
    assert report.found.different == len(ours - theirs)


def test_logistic_places_are_out_of_fold(source, report):
    """Recomputed with scikit-learn from the folds."""
    items = Items.of(source.labelled)
    encoder, _ = learn_encoder(items.features)
    X, _ = encoder.encode(items.features)
    scores = np.empty(160)
    for train, test in out_of_fold_splits(items, 5, 0):
        model = LogisticRegression(max_iter=5000).fit(X[train], items.y[train])
        scores[test] = model.decision_function(X[test])
    expected = np.argsort(-scores, kind="stable") + 1
    assert report.listing.sort_values("logistic_rank")["row"].tolist() == expected.tolist()


def test_held_out_figures_are_those_of_the_splits(source, report):
    """Hits and statistic of logistic regression, recomputed from the splits with plain numpy."""
    frame, y = _frame(), source.labelled.y
    splits = list(half_splits(y, repeats=3, test_fraction=0.5, random_state=0))
    for number, (train, test) in enumerate(splits):
        judged = report.held_out.splits[number]
        np.testing.assert_array_equal(judged.rows, test)
        learn = frame.iloc[train]
        fill = learn["kind"].value_counts()
        common = sorted(fill.index, key=lambda word: (-fill[word], word))
        columns = [(frame[name] - learn[name].mean()) / learn[name].std(ddof=0) for name in ("a", "b")]
        columns += [(frame["kind"] == word).astype(float) for word in sorted(common[1:])]
        X = np.column_stack(columns)
        scores = LogisticRegression(max_iter=5000).fit(X[train], y[train]).decision_function(X[test])
        best = np.argsort(-scores, kind="stable")
        for line in report.held_out.hits:
            assert line.found["logistic"][number] == y[test][best[: line.k]].sum()
            assert line.chance == pytest.approx(line.k * y.mean(), abs=0.2)
        assert judged.values["logistic"] == pytest.approx(_dcg(y[test][best[:16]]))


def test_firmness_counts_the_splits_that_held_an_item_out(report):
    held = np.zeros(160, dtype=int)
    for split in report.held_out.splits:
        held[split.rows] += 1
    for row, text in zip(report.listing["row"], report.listing["in_first_16"], strict=True):
        inside, _, times = text.partition(" of ")
        assert int(times or 0) == held[row - 1]
        assert int(inside or 0) <= held[row - 1]


def test_reasons_name_columns_and_cells(report):
    frame = _frame()
    for row, why in zip(report.listing["row"].head(5), report.listing["why"].head(5), strict=True):
        name, value = why.split(",")[0].split(":")[0].split(" ", 1)
        cell = frame[name][row - 1]
        assert value == cell if name == "kind" else float(value) == pytest.approx(cell, rel=1e-2)


def test_reranking_reaches_below_the_budget(reranked):
    assert reranked.delivered == "rerank"
    assert reranked.depth == 60
    assert reranked.budget == 16
    assert "proved optimal" in reranked.certainty
    assert reranked.linear
    assert {worth.name for worth in reranked.columns} == {"a", "b", "kind=u", "kind=w"} or len(
        reranked.columns
    ) == 4
    for worth in reranked.columns:
        assert 0 <= worth.agreeing <= worth.resamples == 2


def test_depth_is_several_times_the_budget_and_chosen(source):
    report = rank_items(source, RankOptions(ranker="rerank", budget=10, splits=0))
    assert report.depth in (20, 40, 80)


def test_new_items_are_ranked_instead(source):
    new = Table(_frame(25, seed=9).drop(columns="y").assign(kind="new"), source="new.csv")
    report = rank_items(source, RankOptions(ranker="logistic", splits=3), new=new)
    assert len(report.listing) == 25
    assert report.listed == "new.csv"
    assert report.order == "unseen"
    assert [(note.column, note.action) for note in report.new_notes] == [("kind", "unknown")]
    scores, _ = report.model.scores(new)
    assert report.listing["row"].tolist() == (np.argsort(-scores, kind="stable") + 1).tolist()
    assert all(text.endswith(" of 3") for text in report.listing["in_first_16"])
    assert report.listing["in_first_16"].iloc[0] == "3 of 3"


def test_rows_without_a_label_are_what_is_ranked(tmp_path):
    frame = _frame().astype({"y": object})
    frame.loc[frame.index % 4 == 1, "y"] = ""
    frame.to_csv(tmp_path / "some.csv", index=False)
    source = open_source(str(tmp_path / "some.csv"), Columns(target="y"))
    report = rank_items(source, RankOptions(ranker="logistic", splits=0))
    assert report.rows == 120
    assert len(report.listing) == 40
    assert report.order == "unseen"
    assert any("40 rows have no label" in remark for remark in report.remarks)
    # By its number in the file each is found again.
    assert sorted(report.listing["row"]) == (np.flatnonzero(frame.index % 4 == 1) + 1).tolist()
    new = rank_items(
        source, RankOptions(ranker="logistic", splits=0), new=Table(_frame(5, seed=1), source="new.csv")
    )
    assert len(new.listing) == 5
    assert any("40 rows of some.csv have no label and are left out" in remark for remark in new.remarks)
    assert not any("what is ranked" in remark for remark in new.remarks)


def test_new_items_that_do_not_fit_are_refused_before_the_search(source, monkeypatch):
    monkeypatch.setattr(rank_module, "fit_quietly", lambda *arguments: pytest.fail("searched first"))
    with pytest.raises(InputError, match="'kind'"):
        rank_items(source, RankOptions(), new=Table(_frame(5).drop(columns="kind"), source="new.csv"))


@pytest.mark.slow
def test_same_seed_same_answer_and_another_seed_another(source):
    one, other = (rank_items(source, RankOptions(splits=1, seed=3, time_limit=None)) for _ in range(2))
    third = rank_items(source, RankOptions(ranker="logistic", splits=1, seed=4))
    pd.testing.assert_frame_equal(one.listing, other.listing, check_exact=True)
    np.testing.assert_array_equal(
        one.held_out.splits[0].scores["ensemble"], other.held_out.splits[0].scores["ensemble"]
    )
    assert one.held_out.splits[0].rows.tolist() != third.held_out.splits[0].rows.tolist()


def test_few_items_of_a_class_do_without_an_ensemble(tmp_path):
    for rows in (2, 3, 9):
        y = [1] + [0] * (rows - 1)
        pd.DataFrame({"a": np.arange(float(rows)), "y": y}).to_csv(tmp_path / "few.csv", index=False)
        source = open_source(str(tmp_path / "few.csv"), Columns(target="y"))
        report = rank_items(source, RankOptions())
        assert report.delivered == "logistic"
        assert report.order == "label used"
        assert any("Only 1 item of one class: too few for an ensemble" in remark for remark in report.remarks)
        assert len(report.listing) == rows


def test_a_ranker_of_one_list_refuses_queries_in_one_line(tmp_path):
    source = _query_file(tmp_path, lambda frame: frame["y"])
    with pytest.raises(InputError, match="leave --qid out or choose another"):
        rank_items(source, RankOptions(ranker="TreeRank", splits=0))


def test_more_features_than_reranked_items_are_warned_of(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 24))).rename(columns=lambda k: f"x{k}")
    frame.assign(y=np.arange(60) % 3 == 0).to_csv(tmp_path / "wide.csv", index=False)
    source = open_source(str(tmp_path / "wide.csv"), Columns(target="y"))
    report = rank_items(source, RankOptions(depth=20, budget=5, splits=0, time_limit=2))
    assert any(remark.startswith("24 features for 20 reranked items") for remark in report.remarks)


def test_groups_are_held_out_together(tmp_path):
    frame = _frame(120).assign(household=np.arange(120) // 3)
    frame.to_csv(tmp_path / "g.csv", index=False)
    source = open_source(str(tmp_path / "g.csv"), Columns(target="y", group="household"))
    assert "household" not in source.labelled.features.columns
    report = rank_items(source, RankOptions(ranker="logistic", splits=2))
    assert len(report.held_out.splits) == 2
    for split in report.held_out.splits:
        assert len(split.rows) == 3 * len(set(split.rows // 3))


def test_queries_have_lists_of_their_own(tmp_path):
    frame = _frame(120).assign(query=np.tile(["x", "y", "z"], 40))
    frame.to_csv(tmp_path / "q.csv", index=False)
    source = open_source(str(tmp_path / "q.csv"), Columns(target="y", qid="query"))
    report = rank_items(source, RankOptions(statistic="ndcg@5", depth=30, budget=5, splits=2))
    for _, part in report.listing.groupby("query"):
        assert part["rank"].tolist() == list(range(1, 41))
        assert sorted(part["logistic_rank"]) == list(range(1, 41))
    assert "of each query" in report.held_out.expectation("rerank")


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
    report = rank_items(one, RankOptions(depth=10, splits=2))
    assert report.held_out is None
    assert any("no held-out figures" in remark for remark in report.remarks)
    easy = _query_file(tmp_path, lambda frame: (frame["a"] > 0).astype(int))
    report = rank_items(easy, RankOptions(depth=2, budget=1, splits=2))
    assert "one class only" in report.certainty


def test_cut_offs_are_those_of_the_whole_list(source):
    # 50 % of 160 items are 80: any order of the top 30 has the same precision.
    with pytest.raises(InputError, match="same for every order of the first 30"):
        rank_items(source, RankOptions(statistic="precision@50%", depth=30, splits=0))


def test_halves_too_poor_to_learn_from_do_not_spoil_the_whole(tmp_path):
    frame = pd.DataFrame({"a": [1.0] + [0.0] * 11, "y": [1, 0, 1, 0] * 3})
    frame.to_csv(tmp_path / "poor.csv", index=False)
    source = open_source(str(tmp_path / "poor.csv"), Columns(target="y"))
    report = rank_items(source, RankOptions(ranker="logistic", splits=3))
    assert report.held_out is None
    assert any("no held-out figures: poor.csv: there is no column" in remark for remark in report.remarks)


def test_the_clock_is_reported(source):
    report = rank_items(source, RankOptions(depth=100, splits=0, time_limit=1e-9))
    assert report.outcome.status is Status.TIME_LIMIT
    assert "stopped by the clock" in report.certainty


# -- Ctrl-C ----------------------------------------------------------------------------------------


def test_interrupt_while_judging_keeps_the_model(source, monkeypatch):
    original, calls = rank_module.judge, []

    def second_is_interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments, **options)

    monkeypatch.setattr(rank_module, "judge", second_is_interrupted)
    report = rank_items(source, RankOptions(depth=20, splits=3))
    assert report.interrupted
    assert len(report.held_out.splits) == 1
    assert np.isnan(report.held_out.p_value("rerank"))
    assert any("1 of 3" in remark for remark in report.remarks)


def test_interrupt_while_comparing(source, monkeypatch):
    original, calls = compare_module._one_split, []

    def third_is_interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(compare_module, "_one_split", third_is_interrupted)
    few = [Contender(BASELINE, LogisticRegression), Contender("again", LogisticRegression)]
    monkeypatch.setattr(compare_module, "lineup", lambda settings, rows, queries: few)
    options = CompareOptions(depth=20, budget=10, splits=5, time_limit=20)
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
    monkeypatch.setattr(compare_module, "lineup", lambda settings, rows, queries: few)
    report = compare_rankers(source, CompareOptions(splits=3))
    assert [one.name for one in report.figures] == [BASELINE]
    assert report.remarks == ["unable was left out: never", "refusing was left out: not on a Sunday"]
    assert report.advice.startswith("Logistic regression will do")


def test_a_remark_is_made_once_whatever_its_figures():
    said = ["a: stopped at 0.12", "b: other", "a: stopped at 3e-05", "a: stopped at 7"]
    assert each_once(said) == ["a: stopped at 0.12", "b: other"]
    both = [
        "TopPush: w = 0 helps 0.3",
        "TauFPL: w = 0 helps 0.4",
        "TopPush: w = 0 helps 0.5",
        "x: w = 0 helps 1",
    ]
    assert each_once(both, ["TopPush", "TauFPL"]) == ["TopPush, TauFPL: w = 0 helps 0.3", "x: w = 0 helps 1"]


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


def _judged(*pairs):
    """Held-out figures of which only the statistic matters."""
    y = np.array([1, 0], dtype=np.int8)
    splits = [
        Judged(np.arange(2), y, None, {}, {"logistic": theirs, "ensemble": ours}) for theirs, ours in pairs
    ]
    return HeldOut(tuple(splits), 0.5, 1, get("dcg"))


def test_held_out_figures_in_words():
    def sentence(*pairs):
        return _judged(*pairs).sentence("ensemble")

    spread = (0.0, 0.1, -0.1, 0.05, -0.05)
    pays = sentence(*((10 + d, 11 + 1.2 * d) for d in spread))
    assert "the ensemble pays: dcg +10.0 % against logistic regression (p = " in pays
    assert "corrected for the overlap of the splits" in pays
    assert "no clear difference" in sentence(*((10, 10 + 10 * d) for d in spread))
    assert "does harm: dcg -10.0 %" in sentence(*((10 + d, 9 + 0.8 * d) for d in spread))
    few = sentence((10, 11), (10.1, 11.11))
    assert "no clear difference on held-out items (dcg +10.0 %; no p-value from fewer than 5 splits)" in few
    same = sentence(*((10 + d, 11 + d) for d in range(5)))
    assert "no p-value: every split has the same difference" in same
    assert _judged((1, 1), (2, 2)).sentence("logistic") == ""


@pytest.mark.parametrize("name", ["dcg", "dcg@7", "auc", "precision@5", "ndcg@6"])
def test_chance_is_what_random_orders_give(name):
    rng, statistic = np.random.default_rng(0), get(name)
    y = rng.permutation(np.arange(30) < 8).astype(np.int8)
    drawn = [statistic(y, rng.permutation(30).astype(float)) for _ in range(3000)]
    assert chance_value(statistic, y) == pytest.approx(np.mean(drawn), rel=0.03)
