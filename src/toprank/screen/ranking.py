"""A ranked list on the screen: the items with their reasons, what the list is worth, what was learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as Grid

from toprank.screen import pieces

if TYPE_CHECKING:
    import pandas as pd

    from toprank.datasets import Roles
    from toprank.workflow.explain import Explanation
    from toprank.workflow.judging.hits import Hits
    from toprank.workflow.listing.report import RankReport, ScoreReport

__all__ = ["show_explanation", "show_list", "show_ranking", "show_scores"]

MOST_NARROW = 2
"""Rankers whose hits and intervals fit side by side on a narrow screen."""
MOST_COLUMNS = 8
"""Columns of the table whose worth is shown; --json has them all."""
ORDERS = {
    "out of fold": "Each item was placed by models that had not seen its own label; the reasons are those of"
    " the final model.",
    "unseen": "Ranked by what was learned from the labelled items.",
    "label used": "The labels of these very items were used: expect less of others.",
}


def show_ranking(report: RankReport, files: Mapping[str, str], *, head: int) -> None:
    """Print the head of the list, what it is worth, what was done to the columns, where the files are."""
    from toprank.datasets import warning_sentences

    console = pieces.console()
    of_each = "" if report.model.roles.qid is None else " of each query"
    console.print(f"{_learned_from(report)}. Budget: the first {report.budget}{of_each}.")
    pieces.remarks(console, [*report.remarks, *warning_sentences(report.new_notes)])
    if report.why:
        console.print(report.why, style="yellow")
    _show_list(console, report.listing, report.listed, head, report.model.roles, report.budget)
    console.print(f"\n{ORDERS[report.order]}", style="dim")
    _show_worth(console, report)
    _show_columns(console, report)
    pieces.show_notes(console, report.notes, f"Columns: {report.encoding}")
    if report.new_notes:
        pieces.show_notes(console, report.new_notes, f"Columns of {report.listed}")
    pieces.show_files(console, files)


def _learned_from(report: RankReport) -> str:
    items, target = f"Learned from {report.rows} labelled items", report.model.roles.target
    if report.positives is None or report.span is not None:
        low, high = report.span or (float("nan"), float("nan"))
        return f"{items}, {target} from {low:g} to {high:g}"
    positive = " or ".join(report.model.positive)
    equals = "" if positive.startswith(("<", ">")) else "= "
    share = 100 * report.positives / report.rows
    return f"{items}, {report.positives} ({share:.3g} %) with {target} {equals}{positive}"


def show_scores(report: ScoreReport, files: Mapping[str, str], *, head: int) -> None:
    """Print the head of the scored list and what had to be done to the columns."""
    console = pieces.console()
    pieces.remarks(console, report.remarks)
    if report.rows is not None:
        console.print(f"{report.rows:,} rows of {report.listed} scored.")
    if len(report.listing):
        _show_list(console, report.listing, report.listed, head, report.model.roles, None)
    if report.value is not None:
        console.print(
            f"\nThe file has labels: {report.model.statistic} = {pieces.number(report.value)}; a random order"
            f" has {pieces.number(report.chance)}. If the model learned from them, this says little."
        )
    if report.notes:
        pieces.show_notes(console, report.notes, "Columns")
    pieces.show_files(console, files)


FINAL_MODEL = (
    "This is the place by the final model, which learned from all labelled items; the list of toprank rank"
    " puts each of them where models that had not seen its label do, so its place there may differ."
)


def show_explanation(one: Explanation) -> None:
    """Print where an item stands and what each of its columns adds to its score."""
    console = pieces.console()
    console.print(f"{one.name} of {one.listed}: place {one.rank} of {one.items}, score {one.score:.4g}.")
    grid = pieces.grid()
    for name in ("column", "value", "usual"):
        grid.add_column(name)
    grid.add_column("adds", justify="right")
    for part in one.parts:
        grid.add_row(part.column, part.value, part.usual, f"{part.adds:+.3g}")
    console.print(grid)
    console.print(
        "adds: what the score would lose at the usual value (the median, the most frequent word).",
        style="dim",
    )
    for sentence in one.remarks:
        console.print(sentence)
    console.print(FINAL_MODEL, style="dim")


# -- the list --------------------------------------------------------------------------------------


def show_list(console: Console, listing: pd.DataFrame, source: str, head: int) -> None:
    """Print the head of a list without labels."""
    _show_list(console, listing, source, head, None, None)


def _show_list(
    console: Console, listing: pd.DataFrame, source: str, head: int, roles: Roles | None, budget: int | None
) -> None:
    ours, firm = _our_names(listing), f"in_first_{budget}"
    wide = console.width >= pieces.WIDE
    heads = {name: name.removeprefix("toprank_") for name in ours}
    # Without its query the place of an item within it says nothing.
    heads |= {name: name for name in (roles and roles.qid, roles and roles.target) if name}
    heads |= {firm: f"in first {budget}", _own("why", listing): "why"}
    reasons = _own("why", listing)
    shown = [name for name in heads if name in listing.columns and (wide or name != reasons)]
    grid = pieces.grid()
    for name in shown:
        grid.add_column(heads[name], justify="left" if name == reasons else "right", no_wrap=name != reasons)
    console.print()
    for row in listing.head(head).to_dict(orient="records"):
        grid.add_row(*(pieces.cell(row[name]) for name in shown))
    if wide:
        console.print(grid)
    else:
        _print_narrow(console, grid, listing, head, reasons)
    rest = len(listing) - head
    if rest > 0:
        console.print(f"... and {rest} more rows of {source}; --out writes all of them.", style="dim")


def _print_narrow(console: Console, grid: Grid, listing: pd.DataFrame, head: int, reasons: str) -> None:
    console.print(grid)
    if reasons in listing.columns and head:
        console.print("why:")
        for rank, why in enumerate(listing[reasons].head(head), start=1):
            console.print(f"{rank}: {why}")


def _our_names(listing: pd.DataFrame) -> list[str]:
    """Rank and what names the item: the columns every list on the screen begins with."""
    names = [str(name) for name in listing.columns]
    rank, file = _own("rank", listing), _own("file", listing)
    # Of several files: a column of the user's that is called so comes after all of ours.
    why = _own("why", listing)
    files = [file] if {file, why} <= set(names) and names.index(file) < names.index(why) else []
    if _own("row", listing) == names[1]:
        return [rank, *files, names[1]]
    known = ("rank", "score", "order", "logistic_rank", "ridge_rank", "why")
    ours = {*(_own(name, listing) for name in known), *files}
    named = next(name for name in names if name not in ours and not name.startswith("in_first_"))
    return [rank, *files, named]


def _own(name: str, listing: pd.DataFrame) -> str:
    """What a column of ours is called in the list: a user's own of that name keeps it."""
    return f"toprank_{name}" if f"toprank_{name}" in listing.columns else name


# -- what it is worth ------------------------------------------------------------------------------


def _show_worth(console: Console, report: RankReport) -> None:
    found = report.found
    if found is not None:
        hold, chance = f"hold {found.ours} hit{'' if found.ours == 1 else 's'}", f"{found.chance:.1f}"
        if report.span is not None:
            hold = f"have a mean {report.model.roles.target} of {found.ours:.3g}"
            chance = f"{found.chance:.3g}"
        console.print(f"Its first {report.budget} {hold}; by chance {chance}{_beside(report)}.")
    held_out = report.held_out
    if held_out is None:
        console.print(
            f"{report.statistic} of the labelled items, by the model that learned from them:"
            f" {pieces.number(report.training)}; by chance {pieces.number(report.chance)}. What it is worth"
            " on others is not known."
        )
    else:
        count = len(held_out.splits)
        what = f"Mean {held_out.numbers} of the first of" if held_out.numbers else "Hits on"
        console.print(
            f"\n{what} held-out items, in lists of {held_out.rows} ({count} split{'s' if count > 1 else ''}"
            f"{_about_brackets(report)}):"
        )
        rankers = [name for name in held_out.rankers if name != report.delivered] + [report.delivered]
        # A table for each where the screen is too narrow for all figures of three side by side.
        apart = len(rankers) > MOST_NARROW and console.width < pieces.WIDE
        for some in [[one] for one in rankers] if apart else [rankers]:
            console.print(_hits_grid(report, some))
        console.print(held_out.expectation(report.delivered), style="bold")
        if held_out.sentence(report.delivered):
            console.print(held_out.sentence(report.delivered))
        if len(report.listing) > 1.5 * held_out.rows and report.order == "unseen":
            console.print("Your list is longer than these, so its first items should be better still.")
    if report.certainty:
        console.print(f"Search over all linear orders{_of_which(report.depth)}: {report.certainty}.")


def _of_which(depth: int | None) -> str:
    """Whose orders: the base chose them by other scores than those of the list above, whose value differs."""
    if depth is None:
        return ""
    return f" of the {depth} items that were reranked, the first by scores that did not use their own label"


def _beside(report: RankReport) -> str:
    """How the labelled list differs from the baseline's, where that is another one."""
    from toprank.workflow.learning.candidates import label_of

    if report.found is None or report.delivered == report.baseline:
        return ""
    different = f"{report.found.different} item{'' if report.found.different == 1 else 's'}"
    return (
        f", by {label_of(report.baseline)} {report.found.baseline:.3g} (whose first {report.budget} differ in"
        f" {different})"
    )


def _about_brackets(report: RankReport) -> str:
    """What the brackets of the table hold, if there are any: a few splits tell nothing of a spread."""
    held_out = report.held_out
    assert held_out is not None  # the caller looked
    told = (line.interval(name) for line in held_out.hits for name in held_out.rankers)
    return "" if all(one is None for one in told) else "; in brackets where four of five such lists lie"


def _hits_grid(report: RankReport, rankers: list[str]) -> Grid:
    from toprank.workflow.judging.held_out import figure_of
    from toprank.workflow.learning.candidates import label_of

    held_out = report.held_out
    assert held_out is not None  # the caller looked
    grid = pieces.grid()
    grid.add_column("first", justify="right", no_wrap=True)
    grid.add_column("chance", justify="right", no_wrap=True)
    for name in rankers:
        mark = "delivered: " if name == report.delivered else ""
        grid.add_column(f"{mark}{label_of(name)}", justify="right")
    if held_out.numbers:
        grid.add_column("at best", justify="right", no_wrap=True)
    for line in held_out.hits:
        best = [figure_of(line, line.best)] if held_out.numbers else []
        chance = figure_of(line, line.chance)
        grid.add_row(str(line.k), chance, *(_hits_cell(line, name) for name in rankers), *best)
    means = (sum(held_out.values(name)) / len(held_out.splits) for name in rankers)
    figures = [pieces.number(value) for value in (held_out.chance, *means)]
    grid.add_row(report.statistic, *figures)
    if held_out.numbers:
        shares = [pieces.number(held_out.concordance(name)) for name in rankers]
        grid.add_row("c_index", "0.5000", *shares)
    return grid


def _hits_cell(line: Hits, name: str) -> str:
    from toprank.workflow.judging.held_out import figure_of

    interval, to = line.interval(name), "-" if line.least is None else " to "
    edges = () if interval is None else (figure_of(line, edge, whole=True) for edge in interval)
    return figure_of(line, line.mean(name)) + ("" if interval is None else f" ({to.join(edges)})")


def _what_is_lost(report: RankReport) -> str:
    what = "Hits among" if report.span is None else f"Mean {report.model.roles.target} of"
    return f"{what} the first {report.budget}"


def _show_columns(console: Console, report: RankReport) -> None:
    counting = [one for one in report.columns if one.value]
    worths = counting[:MOST_COLUMNS]
    if not worths:
        return
    agreed = ", and in how many resamples the sign is the same" if worths[0].resamples else ""
    what = (
        f"Coefficients (of standardised columns){agreed}:"
        if report.linear
        else f"{_what_is_lost(report)} lost on held-out items when a column is shuffled:"
    )
    console.print(f"\n{what}")
    grid = pieces.grid()
    grid.show_header = False
    for one in worths:
        agreed = f"{one.agreeing} of {one.resamples}" if one.resamples else ""
        if not report.linear:
            agreed = f"lost in {agreed}"
        grid.add_row(f"  {one.name}", f"{one.value:+.2g}", agreed)
    console.print(grid)
    if len(counting) > len(worths):
        console.print(f"  ... and {len(counting) - len(worths)} that count less; --json has all of them.")
