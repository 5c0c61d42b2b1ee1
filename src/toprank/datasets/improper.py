"""What is wrong with text that is no table, in words that say what to do."""

from __future__ import annotations

import re

from toprank.datasets.content import SEPARATORS, TextContent

__all__ = ["rows_too_long", "what_is_wrong"]

_MOST_SHOWN = 40


def what_is_wrong(said: str, content: TextContent) -> str:
    """What the reader of the lines said, as a sentence without its end.

    Parameters
    ----------
    said : str
        The message of pandas.
    content : TextContent
        What was read.
    """
    detail = " ".join(said.removeprefix("Error tokenizing data. C error: ").split()).rstrip(".")
    longer = re.search(r"in line (\d+), saw (\d+)", detail)
    if longer is not None:
        return _too_many_cells(int(longer[1]), int(longer[2]), content)
    opened = re.search(r"EOF inside string starting at row (\d+)", detail)
    if opened is not None:
        return f"the quotation mark opened in row {opened[1]} is never closed; close it, or take it out"
    return detail


def rows_too_long(content: TextContent) -> str:
    """What is said of a file whose rows all have more cells than its header."""
    if len(content.header) == 1:
        return f"has rows of several cells{_below_a_title(content)}"
    return f"has rows with more cells than the {len(content.header)} of its header"


def _below_a_title(content: TextContent) -> str:
    first = content.header[0][:_MOST_SHOWN]
    return (
        f", and its first line, {first!r}, has one; if that is a title, take away what stands above the names"
        " of the columns"
    )


def _too_many_cells(line: int, cells: int, content: TextContent) -> str:
    header = content.header
    if len(header) == 1:
        return f"line {line} has {cells} cells{_below_a_title(content)}"
    mark = SEPARATORS.get(content.separator, repr(content.separator))
    return (
        f"line {line} has {cells} cells, and the header has {len(header)}; a cell that holds a {mark} has to"
        " stand in quotation marks"
    )
