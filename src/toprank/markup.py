"""Small tables for notebooks: plain HTML, everything in them escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table", "shown_number"]


def html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, below: str = "") -> str:
    """A table whose first column names the rows, with a sentence above and one below it.

    >>> html_table("a < b", [], [["hits", "3"]])
    '<table><caption>a &lt; b</caption><tbody><tr><th>hits</th><td>3</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = "".join(
        f"<tr><th>{escape(first)}</th>{''.join(f'<td>{escape(one)}</td>' for one in rest)}</tr>"
        for first, *rest in rows
    )
    table = f"<table><caption>{escape(caption)}</caption>{f'<thead><tr>{head}</tr></thead>' if heads else ''}"
    return f"{table}<tbody>{body}</tbody></table>{f'<p>{escape(below)}</p>' if below else ''}"


def shown_number(value: float) -> str:
    """Four digits, or a dash where there is no number.

    >>> shown_number(11.78710), shown_number(float("nan"))
    ('11.79', '–')
    """
    return "–" if math.isnan(value) else f"{value:.4g}"
