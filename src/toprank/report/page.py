"""One self-contained HTML page about a ranking or a comparison, made of what `--json` prints.

Everything the page needs is inside it: styles, scripts, the charting library and the figures as JSON. Its
content-security policy forbids every request and every script but these, by their hashes. Whatever a user's
file holds is text on the page: Jinja2 escapes it, scripts set it as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from toprank.report.drawn import bars, strips
from toprank.report.words import FILTERS, headline

__all__ = ["comparison_page", "embedded_json", "page_style", "ranking_page"]

LIBRARY = "uPlot.iife.min.js"
SCRIPTS = ("common.js", "charts.js", "cut_off.js", "list.js", "start.js")
CHART_STYLE = "uPlot.min.css"


def ranking_page(summary: Mapping[str, Any]) -> bytes:
    """The page about a ranked list.

    Parameters
    ----------
    summary : mapping
        What `toprank rank --json` prints, with the whole list by columns: see
        `toprank.workflow.writing.page.ranking_page_of`.
    """
    worths = [one for one in summary["columns_worth"] if one["value"]]
    drawn = bars(worths[:MOST_BARS])
    return _render(
        "ranking.html.j2", summary, head=headline(summary), bars=drawn, more=len(worths) - len(drawn)
    )


def comparison_page(summary: Mapping[str, Any]) -> bytes:
    """The page about a comparison of rankers.

    Parameters
    ----------
    summary : mapping
        What `toprank compare --json` prints.
    """
    return _render("comparison.html.j2", summary, strips=strips(summary["rankers"]))


MOST_BARS = 30
"""Columns whose worth is drawn; --json has them all."""


def embedded_json(value: Any) -> str:
    r"""JSON that can stand inside a script element, whatever strings it holds.

    >>> embedded_json("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def page_style() -> str:
    """The look of all pages."""
    return _asset("page.css")


@cache
def _scripts() -> tuple[str, str]:
    """The charting library with its licence, and our own scripts as one that leaks no names."""
    library = f"/*! uPlot\n{_asset('uPlot.LICENSE')}\n*/\n{_asset(LIBRARY)}"
    own = "\n".join(_asset(name) for name in SCRIPTS)
    return library, f'(() => {{\n"use strict";\n{own}\n}})();\n'


def _asset(name: str) -> str:
    return files("toprank.report").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(scripts: tuple[str, ...], style: str) -> str:
    """Nothing is loaded, nothing is sent, and only these scripts and styles count."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _render(template: str, summary: Mapping[str, Any], **context: Any) -> bytes:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("toprank.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    library, own = _scripts()
    # Line ends as a browser counts them: a hash is of the text after \r\n became \n.
    style = f"{_asset(CHART_STYLE)}\n{page_style()}".replace("\r\n", "\n")
    library, own = library.replace("\r\n", "\n"), own.replace("\r\n", "\n")
    text = environment.get_template(template).render(
        s=summary,
        policy=_policy((library, own), style),
        style=Markup(style),
        scripts=[Markup(library), Markup(own)],
        data=Markup(embedded_json(summary)),
        **context,
    )
    # Half of a surrogate pair, as a broken file may hold one, has no place in UTF-8.
    return text.encode("utf-8", errors="xmlcharrefreplace")
