"""Items in files of several kinds, and models of them, for the tests of streams."""

import numpy as np
import pandas as pd

from toprank.datasets import Roles
from toprank.model import RankingModel

ROLES = Roles("y", id="code", ignore=("other",))


def items(n, seed=0):
    """Numbers with gaps and many ties, money as text, words, whole numbers; a label."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(1)
    return pd.DataFrame(
        {
            "code": [f"{seed}-{i:04d}" for i in range(n)],
            "a": np.where(rng.random(n) < 0.05, np.nan, a),
            "count": rng.integers(0, 4, n),
            "price": [f"$ {value:,.2f}" for value in rng.choice([5.0, 1250.5, 830.0], n)],
            "kind": rng.choice(["u", "v", "w"], n),
            "b": (np.round(b * 8) / 8).astype(np.float32),  # the same as text and in either precision
            "other": rng.integers(0, 9, n),
            "y": (a + 0.4 * b + rng.normal(size=n) > 0.9).astype(int),
        }
    )


def model_of(ranker, n=300):
    """A ranker learned from some items."""
    return RankingModel.learned(ranker, items(n, seed=99), ROLES)
