"""A fit ends when its time is up: within 10 % or half a second, whatever it was doing."""

import warnings

import numpy as np
import pandas as pd
import pytest

import toprank
from clock import Clock
from toprank.control import Status
from toprank.datasets import Labelled, Roles, Table
from toprank.workflow.ranking.in_memory import RankOptions, rank_items
from toprank.workflow.reading.source import Source

pytestmark = pytest.mark.wall_clock

LIMIT = 0.5


def hard(n, d, share=0.7):
    """Rows that no linear score ranks perfectly, or only just when there are many columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    noisy = X @ rng.normal(size=d) + 2 * rng.normal(size=n) * np.sqrt(d)
    return X, (noisy > np.quantile(noisy, share)).astype(int)


# Sizes at which something that does not look at the clock would take seconds: the first node of the cells,
# the first program, sorting the pairs, widening, one line search.
FITS = {
    "cells, first node": (toprank.ExactRanker(n_jobs=1), (700, 12)),
    "cells, many pairs": (toprank.ExactRanker(n_jobs=1), (1400, 12)),
    "boxes": (toprank.ExactRanker(n_jobs=1), (2000, 5)),
    "boxes, small": (toprank.ExactRanker(n_jobs=1), (300, 6)),
    "too many pairs": (toprank.ExactRanker(n_jobs=1), (6000, 8)),
    "wide": (toprank.ExactRanker(n_jobs=1), (60, 4000)),
    "wide, not separable": (toprank.ExactRanker(n_jobs=1), (400, 60)),
    "a price on coefficients": (toprank.ExactRanker(n_jobs=1, penalty=0.05), (200, 20)),
    "rerank": (toprank.RankThenRerank(top=400), (3000, 20)),
    "mixed-integer program": (toprank.ExactRanker(n_jobs=1, solver="mip"), (80, 5)),
    "direct": (toprank.DirectRanker(n_restarts=10_000, max_iter=10**7), (3000, 20)),
    "cross-validation": (toprank.RankSVMCV(Cs=np.geomspace(0.01, 100, 30), tol=1e-9), (3000, 20)),
    "boosting": (toprank.RankBoost(n_estimators=10**6), (3000, 20)),
    "p-norm": (toprank.PNormPush(64, C=1e4, tol=1e-12), (6000, 60)),
    "forest": (toprank.RankingForest(10**6), (3000, 20)),
    "gradient boosting": (toprank.GradientBoostingRanker(n_estimators=10**6, engine="sklearn"), (3000, 20)),
    "at the top": (toprank.AccuracyAtTop(solver="local"), (3000, 20)),
}


@pytest.fixture(scope="module")
def compiled():
    """Compiling kernels for the first time does not count."""
    for columns in (3, 12):
        toprank.ExactRanker(n_jobs=1, time_limit=5).fit(*hard(40, columns))


@pytest.mark.parametrize("name", FITS)
def test_a_fit_ends_in_time(name, compiled):
    ranker, shape = FITS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ranker.set_params(time_limit=LIMIT).fit(*hard(40, min(shape[1], 12)))  # its own kernels
    X, y = hard(*shape)
    with warnings.catch_warnings(), Clock(LIMIT) as clock:
        warnings.simplefilter("ignore", UserWarning)
        ranker.fit(X, y)
    assert clock.kept, clock.seconds_over
    assert np.isfinite(ranker.decision_function(X)).all()
    if clock.seconds_over > 0:
        assert ranker.outcome_.status in (Status.TIME_LIMIT, Status.OPTIMAL)


def test_a_search_that_never_began_its_proof_was_stopped_by_the_clock():
    ranker = toprank.ExactRanker(n_jobs=1, time_limit=0.05)
    with pytest.warns(toprank.control.SearchStoppedWarning):
        ranker.fit(*hard(700, 12))
    assert ranker.outcome_.status is Status.TIME_LIMIT
    assert ranker.outcome_.value < ranker.outcome_.bound


def _ranked(width, limit):
    X, y = hard(150, width)
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(width)]).assign(label=y)
    table, roles = Table(frame), Roles("label")
    source = Source(table, Labelled.of(table, roles), roles, ())
    with warnings.catch_warnings(), Clock(limit) as clock:
        warnings.simplefilter("ignore", UserWarning)
        report = rank_items(source, RankOptions(time_limit=limit))
    assert len(report.listing) == len(X)
    return clock


def test_ranking_a_wide_table_ends_in_time():
    _ranked(3, 0.5)  # imports everything, which is no part of the width
    # Reading, encoding, warming up and writing the list are no fitting, but they may not take long either.
    assert _ranked(3000, 3.0).seconds_over < 2.0
