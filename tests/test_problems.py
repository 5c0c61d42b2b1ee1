"""The map of ranking problems: its table, and for each of its cells an example whose optimum is known."""

import pathlib
import runpy
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

import toprank
from toprank import labels
from toprank.lineup import REDUCED, problem_map
from toprank.preferences import kendall_pairs

DOCS = pathlib.Path(__file__).parents[1] / "docs"


# -- the page ------------------------------------------------------------------------------------------


@pytest.mark.skipif(bool(toprank._ABSENT), reason="the tables name the networks, which need torch")
def test_the_tables_on_the_page_are_those_of_the_tags():
    page = (DOCS / "problems.md").read_text(encoding="utf-8")
    assert runpy.run_path(str(DOCS / "tables.py"))["filled"](page) == page, "run python docs/tables.py"


def test_every_problem_with_a_meaning_has_a_ranker():
    found = problem_map()
    assert len(found) == 9
    assert not found["ordinal", "weak"]
    for cell, rankers in found.items():
        assert rankers or cell in REDUCED, cell


# -- examples ------------------------------------------------------------------------------------------
# Linear scores of two features: between two neighbouring directions in which rows tie the order is the same,
# so that one direction between each two neighbours is all there is to try.


def every_order(X):
    """Scores of one direction for each order that a linear score can put these rows in."""
    apart = (X[:, None, :] - X[None, :, :])[np.triu_indices(len(X), 1)]
    angles = np.arctan2(apart[:, 1], apart[:, 0])
    ties = np.unique(np.mod(np.concatenate([angles + np.pi / 2, angles - np.pi / 2]), 2 * np.pi))
    middles = ties + np.diff(np.append(ties, ties[0] + 2 * np.pi)) / 2
    return [X @ np.array([np.cos(angle), np.sin(angle)]) for angle in middles]


def concordance(y, scores):
    upper, lower = np.nonzero(y[:, None] > y[None, :])
    return np.mean(scores[upper] > scores[lower])


def first(y, scores, k):
    return y[np.argsort(-scores, kind="stable")[:k]]


def discounted(y, scores):
    return np.sum(first(y, scores, K) / np.log2(np.arange(K) + 2))


def data(seed, n=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X @ [1.0, 0.5] + rng.normal(size=n)


K = 6


def weak_loss(y, scores):
    """Werner (2020), Remark 2.1; of items with the K-th label as many belong to the best as there is room."""
    cut = np.sort(y)[len(y) - K]
    head = first(y, scores, K)
    room = K - np.sum(y > cut)
    return 2 / len(y) * (K - np.sum(head > cut) - min(np.sum(head == cut), room))


def localized_loss(y, scores):
    """Werner (2020), Eq. (2.6) with n- = n - K."""
    n, head = len(y), first(y, scores, K)
    wrong = np.sum(np.triu(head[:, None] < head[None, :]))
    return (n - K) / n * weak_loss(y, scores) + 2 / (n * (n - 1)) * wrong


def two_labels(response):
    return (response > np.quantile(response, 0.7)).astype(int)


def grades(response):
    return np.digitize(response, np.quantile(response, [0.4, 0.7, 0.9]))


def as_it_is(response):
    return response


@dataclass(frozen=True)
class Example:
    """Labels from a response, what is good, a ranker that finds the best, and other labels it is given."""

    label: Callable
    worth: Callable
    ranker: object
    seeds: tuple = range(4)
    given: Callable = None


def loss(value):
    return lambda y, scores: -value(y, scores)


# What proves its answer finds the best of any data; a convex stand-in on some, and these are such.
EXAMPLES = {
    ("binary", "hard"): [Example(two_labels, concordance, toprank.ExactRanker("auc"))],
    ("binary", "weak"): [Example(two_labels, loss(weak_loss), toprank.ExactRanker(f"precision@{K}"))],
    ("binary", "localized"): [Example(two_labels, discounted, toprank.ExactRanker(f"dcg@{K}"))],
    ("ordinal", "hard"): [
        Example(grades, concordance, toprank.ExactRanker("c_index")),
        Example(grades, concordance, toprank.RankBoost(), (7,)),
        Example(grades, concordance, toprank.RankRLS(10.0), (7,)),
    ],
    ("ordinal", "localized"): [
        Example(grades, discounted, toprank.ExactRanker(f"dcg@{K}")),
        Example(grades, loss(localized_loss), toprank.RankSVM(10.0, weighting=f"top@{K}"), (11, 13)),
        Example(grades, loss(localized_loss), toprank.PNormPush(4.0, C=10.0), (11, 13)),
    ],
    ("continuous", "hard"): [
        Example(as_it_is, concordance, toprank.ExactRanker("c_index")),
        Example(as_it_is, concordance, toprank.RankSVM(10.0), (11,)),
        Example(as_it_is, concordance, toprank.RankBoost(), (3, 11)),
    ],
    ("continuous", "weak"): [
        Example(as_it_is, loss(weak_loss), toprank.ExactRanker(f"weak_ranking_loss@{K}")),
        Example(as_it_is, loss(weak_loss), toprank.ExactRanker(f"precision@{K}"), range(4), labels.weak),
    ],
    ("continuous", "localized"): [
        Example(as_it_is, loss(localized_loss), toprank.RankSVM(10.0), (4, 11, 13), labels.localized),
        Example(as_it_is, loss(localized_loss), toprank.RankRLS(10.0), (0, 13), labels.localized),
    ],
}


def test_there_is_an_example_for_every_problem_with_a_meaning():
    assert set(EXAMPLES) == set(problem_map()) - {("ordinal", "weak")}


@pytest.mark.parametrize("cell", EXAMPLES, ids=" ".join)
def test_the_ranker_that_the_table_names_finds_the_best_there_is(cell):
    for one in EXAMPLES[cell]:
        # Problems that become others are solved by those of the others.
        solved = (
            cell
            if one.given is None
            else ("binary", "weak")
            if one.given is labels.weak
            else (cell[0], "hard")
        )
        named = [said.partition("(")[0] for said in problem_map()[solved]]
        assert type(one.ranker).__name__ in named
        for seed in one.seeds:
            X, response = data(seed)
            y = one.label(response)
            best = max(one.worth(y, scores) for scores in every_order(X))
            learned = y if one.given is None else one.given(y, K)
            found = one.worth(y, clone(one.ranker).fit(X, learned).decision_function(X))
            assert found == pytest.approx(best, abs=1e-12), (cell, one.ranker, seed)


@pytest.mark.parametrize("label, given", [(grades, None), (as_it_is, None), (as_it_is, labels.localized)])
def test_the_pairs_that_labels_make_are_ordered_as_well_as_can_be_and_that_is_proved(label, given):
    for seed in range(3):
        X, response = data(seed)
        y = label(response) if given is None else given(label(response), K)
        best = max(concordance(y, scores) for scores in every_order(X))
        ranker = toprank.ExactRanker().fit_pairs(X, kendall_pairs(y))
        assert concordance(y, ranker.decision_function(X)) == pytest.approx(best, abs=1e-12)
        assert ranker.certificate_.status.finished


# -- labels of the weak and the localized problem -------------------------------------------------------


def test_the_weak_problem_marks_the_k_largest():
    response = np.random.default_rng(0).permutation(np.linspace(-1.0, 1.0, 30))
    for k in (1, 7, 29):
        marked = labels.weak(response, k)
        assert marked.dtype == np.int8
        assert sorted(np.flatnonzero(marked)) == sorted(np.argsort(response)[-k:])
        local = labels.localized(response, k)
        assert np.array_equal(local[marked == 1], response[marked == 1])
        assert set(local[marked == 0]) == {response[marked == 0].max()}


def test_ties_at_the_border_are_all_out_or_all_in_and_said():
    y = [0.5, 3.0, 1.5, 1.5, 1.5, 0.1]
    # rk(Y_i) = number of items at or above: 1 for the largest, 4 for those at 1.5.
    at_or_above = np.array([sum(other >= one for other in y) for one in y])
    for k in (2, 3):
        with pytest.warns(
            labels.TiedBorderWarning, match=rf"3 items share the label 1.5 .* best {k}: 1 items"
        ):
            assert labels.weak(y, k).tolist() == (at_or_above <= k).astype(int).tolist() == [0, 1, 0, 0, 0, 0]
        with pytest.warns(labels.TiedBorderWarning, match="4 items are marked"):
            assert labels.weak(y, k, ties="in").tolist() == [0, 1, 1, 1, 1, 0]
        with pytest.warns(labels.TiedBorderWarning):
            assert labels.localized(y, k).tolist() == [1.5, 3.0, 1.5, 1.5, 1.5, 1.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labels.weak(y, 4).sum() == 4
        assert labels.localized(y, 4).tolist() == [0.5, 3.0, 1.5, 1.5, 1.5, 0.5]
    with pytest.raises(ValueError, match="leaves none: choose another k or ties='in'"):
        labels.weak([2.0, 2.0, 2.0, 1.0, 0.5], 2)
    with pytest.raises(ValueError, match="leaves nobody below"):
        labels.weak([2.5, 2.0, 1.0, 1.0, 1.0], 4, ties="in")


@pytest.mark.parametrize(
    "call, complaint",
    [
        (
            lambda: labels.weak([0, 1, 2, 3], 2),
            r"grades, and a weak problem of grades has no meaning.*y >= grade",
        ),
        (lambda: labels.weak([0, 1, 0], 1), r"two labels already: its weak problem .* precision@K"),
        (lambda: labels.localized([0, 1, 0], 1), r"two labels already: its localized problem .* dcg@K"),
        (lambda: labels.weak([0.5, 1.2, 2.2], 3), "k=3 must be a whole number from 1 to 2"),
        (lambda: labels.weak([0.5, 1.2, 2.2], 0), "k=0 must be"),
        (lambda: labels.weak([0.5, 1.2, 2.2], 1.5), "k=1.5 must be"),
        (lambda: labels.weak([0.5, 1.2, 2.2], 1, ties="some"), "ties='some' must be 'out' or 'in'"),
        (lambda: labels.weak([0.5, np.nan, 2.2], 1), "NaN"),
        (lambda: labels.weak(["a", "b", "c"], 1), "words have no order"),
    ],
)
def test_what_makes_no_such_problem_is_refused_with_the_reason(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


def test_counts_can_be_a_response():
    assert labels.weak([0, 1, 2, 3], 2, levels="continuous").tolist() == [0, 0, 1, 1]
    assert labels.localized([0, 1, 2, 3], 2).tolist() == [1, 1, 2, 3], "grades below the best two alike"
