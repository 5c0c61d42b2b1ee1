"""Hypothesis generators of ranked lists: many ties, duplicates, few items, hostile numbers."""

import numpy as np
from hypothesis import strategies as st

# Few distinct values, so that ties are the rule; infinities and signed zeros on purpose.
TIED_SCORES = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 1.0, 1.0 + 2**-52, 7.0, np.inf])
DISTINCT_SCORES = st.floats(allow_nan=False, width=64)


@st.composite
def labels(draw, n, levels=2):
    """Labels 0 .. levels - 1 for n items, at least two of them different."""
    values = draw(st.lists(st.integers(0, levels - 1), min_size=n, max_size=n))
    if len(set(values)) == 1:
        values[draw(st.integers(0, n - 1))] = draw(
            st.integers(0, levels - 1).filter(lambda v: v != values[0])
        )
    return values


@st.composite
def tied_lists(draw, max_size=7, levels=2):
    """Return (y, scores): labels of at least two values, scores with many ties."""
    n = draw(st.integers(2, max_size))
    scores = draw(st.lists(TIED_SCORES, min_size=n, max_size=n))
    return draw(labels(n, levels)), scores


@st.composite
def untied_lists(draw, max_size=30, levels=2):
    """Return (y, scores) without ties."""
    scores = draw(st.lists(DISTINCT_SCORES, min_size=2, max_size=max_size, unique=True))
    return draw(labels(len(scores), levels)), scores


@st.composite
def weighted_lists(draw, max_size=6, levels=2, weights=None):
    """Return (y, scores, weights), whole weights up to 3 unless told; lowest and highest label keep some."""
    y, scores = draw(tied_lists(max_size, levels))
    each = st.integers(0, 3) if weights is None else weights
    drawn = draw(st.lists(each, min_size=len(y), max_size=len(y)))
    for label in (min(y), max(y)):
        at = y.index(label)
        drawn[at] = drawn[at] or 1
    return y, scores, drawn


@st.composite
def query_lists(draw, max_size=12, queries=4):
    """Return (y, scores, qid): rows of a few queries in any order, some with one class only."""
    y, scores = draw(tied_lists(max_size))
    qid = draw(st.lists(st.integers(0, queries - 1), min_size=len(y), max_size=len(y)))
    return y, scores, qid


one_class_lists = st.builds(
    lambda label, scores: ([label] * len(scores), scores),
    st.sampled_from([0, 1, -1, 5, True, False]),
    st.lists(TIED_SCORES, min_size=1, max_size=5),
)
