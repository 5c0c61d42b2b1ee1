"""Text for terminals that cannot show every character."""

from __future__ import annotations

import codecs
import json
import sys
from typing import Any

__all__ = ["json_text", "show_what_can_be_shown"]

_PLAIN = {"±": "+-", "–": "-", "…": "..."}
_HANDLER = "toprank.plain"


def show_what_can_be_shown() -> None:
    """From now on print characters that standard output or error does not know in other ones.

    Without it a terminal set to ASCII, or a Windows one, would end the program at the first of them.
    """
    codecs.register_error(_HANDLER, _in_plain_words)
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") == "strict" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def json_text(value: Any) -> str:
    """JSON as standard output can show it: escapes for what it does not know, which mean the same.

    Objects have a line for each name; a list of numbers is one line, another list a line for each element.

    >>> print(json_text({"k": [1, 2], "rows": [{"a": 1}, {"a": 2}]}))
    {
      "k": [1, 2],
      "rows": [
        {"a": 1},
        {"a": 2}
      ]
    }
    """
    text = _in_lines(value, "", ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return _in_lines(value, "", ensure_ascii=True)
    return text


def _in_lines(value: Any, indent: str, *, ensure_ascii: bool) -> str:
    """A value below this indent: objects unfold, lists do as far as they hold lists or objects."""
    plain = json.JSONEncoder(ensure_ascii=ensure_ascii, allow_nan=False).encode
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        # `json` makes text of names that are none; so do we.
        parts = [
            f"{plain({name: 0})[1:-4]}: {_in_lines(one, deeper, ensure_ascii=ensure_ascii)}"
            for name, one in value.items()
        ]
        return _unfolded("{}", parts, indent)
    if isinstance(value, (list, tuple)) and any(isinstance(one, (dict, list, tuple)) for one in value):
        return _unfolded("[]", [plain(one) for one in value], indent)
    return plain(value)


def _unfolded(brackets: str, parts: list[str], indent: str) -> str:
    inner = f",\n{indent}  ".join(parts)
    return f"{brackets[0]}\n{indent}  {inner}\n{indent}{brackets[1]}"


def _in_plain_words(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in unknown), error.end
