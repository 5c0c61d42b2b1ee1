"""The one exception for what a user handed over and we cannot work with."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    r"""Something the user gave does not fit: one line that names it and says what to do.

    >>> str(InputError("Column 'age'\nis empty."))
    "Column 'age' is empty."
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
