"""Figures as people write them, for the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["FILTERS", "headline"]

ORDERS = {
    "out of fold": "Each item was placed by models that had not seen its own label; the reasons are those of"
    " the final model.",
    "unseen": "The items were ranked by what was learned from the labelled ones.",
    "label used": "The labels of these very items were used: expect less of others.",
}
ENDS = {
    "optimal": "proved optimal",
    "time_limit": "stopped by the clock",
    "iteration_limit": "all iterations used",
    "interrupted": "interrupted",
    "stopped": "stopped",
    "lost": "cut short, for the cluster was lost",
    "finished": "ran to its end",
}


def headline(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What stands at the top of the page: the hits to expect within the budget, beside chance and baseline.

    Each card is a title, a figure and a line below it.
    """
    cards = _expected(summary) or _counted(summary)
    if summary["certificate"] is not None:
        cards.append(_proof(summary))
    return {"cards": cards, "order": ORDERS[summary["order"]]}


def _expected(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Hits within the budget on held-out items; nothing where none were held out, or too few."""
    delivered, held_out = summary["delivered"], summary["held_out"] or {"hits": []}
    line = next((one for one in held_out["hits"] if one["k"] == summary["budget"]), None)
    if line is None:
        return []
    each, baseline = " of each query" if summary["qid"] else "", summary["baseline"]
    title = f"{_found(summary)} to expect in the first {line['k']}{each}"
    show = _show(summary)
    cards = [_card(title, line, delivered, f"by the {summary['labels'][delivered]}", show)]
    if delivered != baseline:
        cards.append(_card(f"By {summary['labels'][baseline]}", line, baseline, "the usual way", show))
    cards.append(_chance(line["chance"], show))
    if summary["span"] is not None:
        cards.append({"title": "At best", "figure": show(line["best"]), "below": "the best possible order"})
    return cards


def _found(summary: Mapping[str, Any]) -> str:
    """What is counted within the budget: hits, or the mean of the labels where these are numbers."""
    return "Hits" if summary["span"] is None else f"Mean {summary['target']}"


def _show(summary: Mapping[str, Any]) -> Callable[[float], str]:
    """How a figure of it is written."""
    return one_digit if summary["span"] is None else three_digits


def _counted(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Hits within the budget of the labelled list itself."""
    found = summary["found"]
    if found is None:
        return []
    title = f"{_found(summary)} in the first {summary['budget']} listed"
    exact: Callable[[float], str] = str if summary["span"] is None else three_digits
    figure = exact(found["ours"])
    cards = [{"title": title, "figure": figure, "below": "each placed without its own label"}]
    if summary["delivered"] != summary["baseline"]:
        name = summary["labels"][summary["baseline"]]
        cards.append({"title": f"By {name}", "figure": exact(found["baseline"]), "below": "the usual way"})
    return [*cards, _chance(found["chance"], _show(summary))]


def _chance(found: float, show: Callable[[float], str]) -> dict[str, str]:
    return {"title": "By chance", "figure": show(found), "below": "a random order"}


def _card(
    title: str, line: Mapping[str, Any], ranker: str, below: str, show: Callable[[float], str]
) -> dict[str, str]:
    interval, mean = line["interval"][ranker], show(line["mean"][ranker])
    if interval is None:
        return {"title": title, "figure": mean, "below": below}
    low, high = interval
    edges = [f"{edge:.0f}" if show is one_digit else show(edge) for edge in interval]
    figure = " to ".join(edges) if low < high else edges[0]
    return {"title": title, "figure": figure, "below": f"{mean} on average, {below}"}


def _proof(summary: Mapping[str, Any]) -> dict[str, str]:
    claim: Any = summary["certificate"]
    title = f"Order of the first {summary['depth']:,}" if summary["depth"] else "The order"
    if summary["qid"] and summary["depth"]:
        title = f"Order of the {summary['depth']:,} items at the top of the queries"
    if claim["status"] == "optimal":
        claim = claim["claim"].removeprefix("proved optimal").removeprefix(": ").strip()
        return {"title": title, "figure": "proved best", "below": claim}
    ended = ENDS[claim["status"]]
    if claim["gap"] is None:
        return {"title": title, "figure": "no bound", "below": ended}
    gap = 100 * claim["gap"]
    figure = f"at most {gap:.1f} %" if gap >= 0.1 else f"at most {gap:.1g} %"
    return {"title": title, "figure": figure, "below": f"below the best possible; {ended}"}


def one_digit(value: float | None) -> str:
    """A mean number of hits.

    >>> one_digit(17.4479), one_digit(1234.5), one_digit(None)
    ('17.4', '1,234.5', '–')
    """
    return "–" if value is None else f"{value:,.1f}"


def three_digits(value: float | None) -> str:
    """A mean label.

    >>> three_digits(152.133), three_digits(0.41234), three_digits(None)
    ('152', '0.412', '–')
    """
    return number(value, 3)


def number(value: float | None, digits: int = 4) -> str:
    """So many digits, no powers of ten for usual sizes.

    >>> number(11.78710), number(123456.7), number(0.00001234), number(None)
    ('11.79', '123,457', '1.234e-05', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def percent(share: float | None) -> str:
    """A share in percent.

    >>> percent(0.029), percent(0.5), percent(None)
    ('2.9 %', '50 %', '–')
    """
    return "–" if share is None else f"{100 * share:.3g} %"


def p_value(value: float | None) -> str:
    """A p-value, or nothing where there is no test."""
    return "" if value is None else f"{value:.2g}"


def signed(value: float | None) -> str:
    """A coefficient or a loss, with its sign."""
    return "–" if value is None else f"{value:+.3g}"


FILTERS: dict[str, Callable[..., str]] = {
    "number": number,
    "one_digit": one_digit,
    "three_digits": three_digits,
    "p_value": p_value,
    "percent": percent,
    "signed": signed,
    "whole": lambda value: "–" if value is None else f"{value:,.0f}",
    "ended": lambda status: ENDS.get(status, str(status)),
}
