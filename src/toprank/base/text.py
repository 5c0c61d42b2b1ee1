"""What is said of text where numbers are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["text_explained"]


@contextmanager
def text_explained() -> Iterator[None]:
    """Within this context the complaint about text in a table says what to do about it.

    >>> with text_explained():
    ...     float("north")
    Traceback (most recent call last):
    ...
    ValueError: X holds text: could not convert string to float: 'north'. Rankers learn from numbers; put \
toprank.datasets.TableEncoder() before them in a pipeline, which reads the columns of a table as they come.
    """
    try:
        yield
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        raise ValueError(
            f"X holds text: {error}. Rankers learn from numbers; put toprank.datasets.TableEncoder() before"
            " them in a pipeline, which reads the columns of a table as they come."
        ) from None
