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
    """JSON as standard output can show it: escapes for what it does not know, which mean the same."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2, allow_nan=False)
    return text


def _in_plain_words(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in unknown), error.end
