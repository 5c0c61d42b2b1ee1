"""The tables of `toprank reproduce` on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from toprank.control import worker_count
from toprank.screen import pieces

if TYPE_CHECKING:
    from toprank.reproduce.command import Report
    from toprank.reproduce.experiment import Paper
    from toprank.reproduce.listing import Line
    from toprank.reproduce.views import TableView

__all__ = ["show_reproduction", "show_tables_to_reproduce"]


def show_tables_to_reproduce(papers: Sequence[tuple[Paper, list[Line], float]], *, jobs: int) -> None:
    """List every table with its status and the time it takes."""
    console = pieces.console()
    workers = worker_count(jobs)
    for paper, lines, seconds in papers:
        console.print(f"{paper.name}: {paper.title} ({paper.authors})")
        grid = pieces.grid()
        for name in ("name", "what", "status"):
            grid.add_column(name)
        for name in ("cells", "minutes"):
            grid.add_column(name, justify="right")
        for line in lines:
            missing = f"; data not available: {', '.join(line.unavailable)}" if line.unavailable else ""
            state = line.state + (missing if line.cells else "")
            minutes = f"{line.total_seconds / 60 / workers:.1f}"
            grid.add_row(line.name, line.title, state, f"{line.done}/{line.cells}", minutes)
        console.print(grid)
        console.print(
            f"To go: {seconds / 60 / workers:.0f} minutes with {workers} processes; tables share cells.\n"
        )


def show_reproduction(report: Report, *, tables: bool) -> None:
    """Print the selected tables side by side, the claims, what failed and where the pages are."""
    console = pieces.console()
    for view in report.views:
        for table in view.tables if tables else ():
            _show_table(console, table)
        for whose, words in (("paper", "Claims of the paper"), ("ours", "Claims of ours")):
            said = ", ".join(f"{count} {word}" for word, count in view.claims[whose].items() if count)
            if said:
                console.print(f"{words}: {said}.")
        console.print(
            f"{view.paper.name}: {view.done} of {view.cells} cells computed, budget {view.budget:g}."
        )
    reasons: dict[str, list[str]] = {}
    for name, error in report.failures:
        reasons.setdefault(error, []).append(name)
    for error, cells in reasons.items():
        console.print(f"{len(cells)} cells failed, {cells[0]} first: {error}", markup=False)
    for path in report.files:
        console.print(f"Wrote {path}", markup=False)
    if report.interrupted:
        console.print("Interrupted: the cells finished by then are kept; call again to go on.")


def _show_table(console: Console, table: TableView) -> None:
    console.print(f"{table.number}: {table.title}", style="bold")
    grid = pieces.grid()
    for head in (*table.heads, "" if table.runs else "ranker"):
        grid.add_column(head, no_wrap=True)
    for head in ("ours", "paper", "standard errors apart"):
        grid.add_column(head, justify="right")
    rows = [(line.labels, [line.cell]) for line in table.runs] or table.rows
    for labels, cells in rows:
        for name, cell in zip(table.columns or ("",), cells, strict=False):
            if cell.ours or cell.theirs or cell.note:
                shown = "" if table.runs else name
                grid.add_row(*labels, shown, cell.ours or cell.note, cell.theirs, cell.apart)
    console.print(grid)
    for data, arm, sentence in table.certificates:
        console.print(f"{data}, {arm}: {sentence}", markup=False)
    for note in table.notes:
        console.print(note, markup=False)
    for one in table.verdicts:
        console.print(f"{one.holds}: {one.title}: {one.claim.text} {one.figures}", markup=False)
