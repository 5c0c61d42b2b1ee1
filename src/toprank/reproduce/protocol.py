"""How rows are split and how one point of a grid is chosen, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "BestAverage",
    "BestOnTest",
    "Choice",
    "ConsecutiveParts",
    "CrossValidation",
    "GivenFolds",
    "Part",
    "RandomSplits",
    "Splits",
    "StratifiedSplits",
    "WholeSet",
]

Part = Literal["train", "test"]

# -- splits: which rows train and which test; split number k depends on k alone -------------------------


@dataclass(frozen=True, kw_only=True)
class RandomSplits:
    """Split k trains on the first `train` share of ``np.random.default_rng(k).permutation(n)``."""

    count: int
    train: float = 0.5


@dataclass(frozen=True, kw_only=True)
class StratifiedSplits:
    """The same for each class by itself, so that both parts have the same share of positives."""

    count: int
    train: float


@dataclass(frozen=True, kw_only=True)
class ConsecutiveParts:
    """The rows, permuted once, in `parts` parts; split k trains on the `train` parts from the k-th on.

    Counting goes on at the first part after the last. With `seed` None the rows keep their order.
    """

    count: int
    parts: int
    train: int
    seed: int | None = 0


@dataclass(frozen=True, kw_only=True)
class GivenFolds:
    """Each catalogue name of the source is a part; split k trains on parts `train[k]`, tests on `test[k]`.

    Of each side at most `train_rows` and `test_rows` rows are drawn, by ``default_rng(k)``.
    """

    train: tuple[tuple[int, ...], ...]
    test: tuple[tuple[int, ...], ...]
    train_rows: int | None = None
    test_rows: int | None = None

    @property
    def count(self) -> int:
        """How many splits there are."""
        return len(self.train)


@dataclass(frozen=True, kw_only=True)
class WholeSet:
    """One split that trains and tests on all rows."""

    count: int = 1


Splits = RandomSplits | StratifiedSplits | ConsecutiveParts | GivenFolds | WholeSet

# -- how one point of a grid is chosen --------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CrossValidation:
    """The point with the best mean statistic over stratified folds of the training part."""

    statistic: str
    folds: int = 5


@dataclass(frozen=True, kw_only=True)
class BestOnTest:
    """In each split the point that is best on the test part: what some papers report."""

    measure: str


@dataclass(frozen=True, kw_only=True)
class BestAverage:
    """One point for all splits: the best mean of a measure over them."""

    measure: str
    part: Part = "test"


Choice = CrossValidation | BestOnTest | BestAverage
