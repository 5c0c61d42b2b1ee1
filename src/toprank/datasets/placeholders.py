"""Words that stand for no value."""

from __future__ import annotations

__all__ = ["is_placeholder", "means_unknown"]

_SIGNS = {"", "??", "-", "--", "---", ".", "..", "...", "*", "/"}
_ABBREVIATIONS = {
    "na",
    "n/d",
    "n.d.",
    "nd",
    "nan",
    "-nan",
    "k.a.",
    "tbd",
    "nil",
    "null",
    "(null)",
}
_UNKNOWN = {"unknown", "missing", "not available", "not reported", "not known", "no data", "n/a", "n.a.", "?"}
_WORDS = _UNKNOWN | {"none", "not applicable"}
_SPREADSHEET = {"#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "<na>"}
_PLACEHOLDERS = _SIGNS | _ABBREVIATIONS | _WORDS | _SPREADSHEET


def is_placeholder(text: str) -> bool:
    """Whether a cell among numbers or dates stands for no value at all, whoever wrote it."""
    return text.strip().casefold() in _PLACEHOLDERS


def means_unknown(text: str) -> bool:
    """Whether a word says beyond doubt that a value is not known; 'none' may be a value.

    >>> means_unknown("Unknown"), means_unknown("none")
    (True, False)
    """
    return text.strip().casefold() in _UNKNOWN
