"""Columns of words: the message says what reads them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from toprank import RankSVM, TopEnsemble
from toprank.datasets import TableEncoder

FRAME = pd.DataFrame({"region": ["north", "south"] * 10, "age": np.arange(20.0)})
Y = np.arange(20) % 4 == 0


@pytest.mark.parametrize("ranker", [RankSVM(), TopEnsemble()])
def test_words_in_a_table_lead_to_the_encoder(ranker):
    with pytest.raises(ValueError, match=r"X holds text: .*'north'.*TableEncoder\(\) before them"):
        ranker.fit(FRAME, Y)


def test_so_do_words_in_rows_to_score():
    ranker = RankSVM().fit(FRAME[["age", "age"]].to_numpy(), Y)
    with pytest.raises(ValueError, match="TableEncoder"):
        ranker.decision_function(FRAME.to_numpy())


def test_the_encoder_reads_them():
    ranked = make_pipeline(TableEncoder(), RankSVM()).fit(FRAME, Y)
    assert ranked.decision_function(FRAME).shape == (20,)


def test_other_complaints_stay_as_they_are():
    with pytest.raises(ValueError, match="NaN") as said:
        RankSVM().fit([[np.nan], [1.0]], [0, 1])
    assert "TableEncoder" not in str(said.value)
