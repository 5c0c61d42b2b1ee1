"""What is shown and what is optimised."""

import pytest

from toprank.datasets import InputError
from toprank.statistics import LinearRankStatistic
from toprank.statistics.base import registered
from toprank.workflow.asking.aims import NEAREST, aim_of


def test_what_can_be_optimised_is():
    aim = aim_of("ndcg@7", 50)
    assert str(aim.measured) == str(aim.optimised) == "ndcg@7"
    assert not aim.remarks


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("vus", "auc"),
        ("top_gain@20", "precision@20"),
    ],
)
def test_the_nearest_is_optimised_and_named(name, nearest):
    aim = aim_of(name, 50)
    assert str(aim.optimised) == nearest
    assert f"Shown is {aim.measured}" in aim.remarks[0]
    assert f"optimise is {nearest}," in aim.remarks[0]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("average_precision", "dcg"),
        ("positives_at_top", "dcg@50"),
        ("local_auc@20", "partial_auc@20"),
        ("weak_ranking_loss@10%", "precision@10%"),
        ("kendall_tau", "auc"),
    ],
)
def test_what_the_search_can_do_it_does(name, nearest):
    aim = aim_of(name, 50)
    assert aim.by_search
    assert str(aim.optimised) == nearest
    assert aim.remarks == [
        f"Shown is {name}; the exact ranker optimises it, other rankers {nearest}, the nearest they can."
    ]


def test_every_statistic_has_a_nearest_one():
    """A new statistic that rankers cannot maximise needs a line of its own."""
    only_measured = {kind.name for kind in registered().values() if not issubclass(kind, LinearRankStatistic)}
    shipped = {kind.name for kind in registered().values() if kind.__module__.startswith("toprank.")}
    assert only_measured & shipped == set(NEAREST)


def test_unknown_names():
    for name, message in [("dgc", "did you mean 'dcg'"), ("precision", "cut-off")]:
        with pytest.raises(InputError, match=message) as caught:
            aim_of(name, 50)
        assert "--statistic" in str(caught.value)
