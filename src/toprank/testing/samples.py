"""What the checks of rankers are made with: data, seeds, expected errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from toprank.base import BaseRanker
from toprank.control import SearchStoppedWarning

__all__ = ["raises", "sample", "seeded", "stopping", "takes_grades", "takes_kernel"]


def sample(ranker: BaseRanker, n: int = 60, d: int = 3) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows that are hard to rank perfectly, a third of them positive; or their kernel values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    noisy = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n)
    rows = X @ X.T if takes_kernel(ranker) else X
    return rows, (noisy > np.quantile(noisy, 2 / 3)).astype(np.int64)


def takes_kernel(ranker: BaseRanker) -> bool:
    """Whether X is a matrix of kernel values."""
    return bool(get_tags(ranker).input_tags.pairwise)


def takes_grades(ranker: BaseRanker) -> bool:
    """Whether labels are grades, which are numbers, instead of two classes."""
    return get_tags(ranker).classifier_tags is None


def seeded(ranker: BaseRanker) -> BaseRanker:
    """A clone with a fixed seed where it takes one."""
    candidate: BaseRanker = clone(ranker)
    if "random_state" in candidate.get_params(deep=False):
        candidate.set_params(random_state=0)
    return candidate


def raises(
    kind: type[BaseException] | tuple[type[BaseException], ...],
    call: Callable[..., Any],
    *args: Any,
    naming: tuple[str, ...] = (),
    **options: Any,
) -> None:
    """Assert that a call raises, and that the error names these words."""
    try:
        call(*args, **options)
    except kind as error:
        missing = [word for word in naming if word not in str(error)]
        if missing:
            raise AssertionError(f"the error does not name {missing[0]}: {error}") from None
        return
    kinds = kind if isinstance(kind, tuple) else (kind,)
    names = " or ".join(one.__name__ for one in kinds)
    raise AssertionError(f"{getattr(call, '__qualname__', call)} raised no {names}")


@contextmanager
def stopping() -> Iterator[None]:
    """Being cut short is expected here, and says so in a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        yield
