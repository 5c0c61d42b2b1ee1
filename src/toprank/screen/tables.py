"""What a user sees: tables on standard output, progress bars on standard error."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Grid

from toprank.control import Progress as SearchProgress
from toprank.control import worker_count

if TYPE_CHECKING:
    import pandas as pd

    from toprank.datasets import Entry, Note
    from toprank.reproduce.command import Report
    from toprank.reproduce.experiment import Paper
    from toprank.reproduce.listing import Line
    from toprank.reproduce.views import TableView
    from toprank.workflow.compare import CompareReport
    from toprank.workflow.rank import RankReport
    from toprank.workflow.score import ScoreReport
    from toprank.workflow.verify import VerifyReport

__all__ = [
    "Bars",
    "announce_compilation",
    "show_catalog",
    "show_comparison",
    "show_ranking",
    "show_reproduction",
    "show_scores",
    "show_tables_to_reproduce",
    "show_verification",
]

PLAIN_WIDTH = 110
"""Columns of text where no terminal says how wide it is."""
NOTE_EVERY = 60.0
"""Seconds between two lines of progress in a log."""
WIDEST_LIST = 8
"""Columns of the list on screen; the file has them all."""


class Bars:
    """Progress bars that go away when the work is done; a `Watch` for the workflows.

    Bars are drawn on a terminal only; elsewhere the stages pass in silence.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
        )
        self._bars = Progress(
            *columns, console=console, transient=True, disable=quiet or not console.is_terminal
        )
        self._task: Any = None
        # A log has no bars; it gets a line now and then instead.
        self._spoken = not quiet and not console.is_terminal
        self._last_note = -math.inf
        self._seconds: float | None = None

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._bars.stop()

    def stage(self, text: str, *, steps: int | None = None, seconds: float | None = None) -> None:
        """Replace the bar by one for the next piece of work."""
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._seconds = seconds
        self._task = self._bars.add_task(text, total=steps, detail="")

    def step(self) -> None:
        """Move the bar by one step."""
        self._bars.advance(self._task)

    def note(self, text: str) -> None:
        """Say something beside the bar; where there is no terminal, a line a minute."""
        self._bars.update(self._task, detail=text)
        if self._spoken and time.monotonic() - self._last_note >= NOTE_EVERY:
            self._last_note = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def search(self, progress: SearchProgress) -> None:
        """Move the bar with the clock and show the best value so far."""
        detail = f"value {progress.value:.5g}"
        if math.isfinite(progress.bound):
            detail += f", gap {progress.gap:.1%}"
        self._bars.update(
            self._task,
            completed=min(progress.seconds, self._seconds or 0),
            total=self._seconds,
            detail=detail,
        )


def announce_compilation() -> None:
    """Say once, on standard error, that kernels are being compiled, if they are.

    Numba tells when it begins to compile; kernels found in its cache do not count.
    """
    from numba.core import event

    class Announcer(event.Listener):
        said = False

        def on_start(self, happened: Any) -> None:
            if not self.said:
                self.said = True
                print("Compiling kernels; this happens once and takes some seconds.", file=sys.stderr)

        def on_end(self, happened: Any) -> None:
            """Only the beginning is of interest."""

    event.register("numba:compile", Announcer())  # type: ignore[no-untyped-call]


# -- reports ---------------------------------------------------------------------------------------


def show_ranking(report: RankReport, files: Mapping[str, str], *, head: int) -> None:
    """Print the head of the list, what it is worth, what was done to the columns, where the files are."""
    from toprank.datasets import warning_sentences
    from toprank.lineup import BASES

    console = _console()
    positive = " or ".join(report.model.positive)
    equals = "" if positive.startswith(("<", ">")) else "= "
    console.print(
        f"Learned from {report.rows} labelled items, {report.positives} with"
        f" {report.model.roles.target} {equals}{positive}; statistic: {report.statistic}."
    )
    _remarks(console, [*report.remarks, *warning_sentences(report.new_notes)])
    _show_list(console, report.listing, report.listed, head, keep=report.model.roles.target)
    base = BASES[str(report.model.provenance["base"])]
    console.print(_worth(report, base))
    console.print(f"Search: {report.certainty}.")
    if report.held_out is not None:
        console.print(report.held_out.sentence(base))
    _show_notes(console, report.notes, f"Columns: {report.encoding}")
    if report.new_notes:
        _show_notes(console, report.new_notes, f"Columns of {report.listed}")
    _show_files(console, files)


def _worth(report: RankReport, base: str) -> Grid:
    grid = _grid()
    grid.add_column(report.statistic, no_wrap=True)
    for name in (base, "reranked", "difference"):
        grid.add_column(name, justify="right")
    for name, pair in (
        (f"top {report.top} (optimised)", report.optimised),
        ("all labelled items", report.training),
    ):
        difference = pair.reranked - pair.base
        grid.add_row(name, _number(pair.base), _number(pair.reranked), _number(difference, "+"))
    if report.held_out is not None:
        count = len(report.held_out.pairs)
        grid.add_row(
            f"held out ({count} split{'s' if count > 1 else ''})",
            _with_deviation(*report.held_out.base),
            _with_deviation(*report.held_out.reranked),
            _with_deviation(*report.held_out.difference, signed=True),
        )
    return grid


def show_comparison(report: CompareReport) -> None:
    """Print the table of rankers, best first, and the advice."""
    console = _console()
    console.print(
        f"{report.statistic} of {report.rows} items, {report.positives} positive, over {report.splits} random"
        " splits: mean ± deviation."
    )
    _remarks(console, report.remarks)
    grid = _grid()
    grid.add_column("", no_wrap=True)
    for name in ("train", "test", "p", "s per fit"):
        grid.add_column(name, justify="right")
    for one in report.figures:
        stopped = f" ({one.stopped} cut)" if one.stopped else ""
        grid.add_row(
            one.name,
            _with_deviation(one.train_mean, one.train_deviation),
            _with_deviation(one.test_mean, one.test_deviation),
            "" if math.isnan(one.p_value) else f"{one.p_value:.2g}",
            f"{one.seconds:.2f}{stopped}",
        )
    console.print(grid)
    console.print(report.tested)
    cut = sum(one.stopped for one in report.figures)
    if cut:
        console.print(f"The clock cut {cut} fits short; another run may give other figures for those.")
    console.print(report.advice)


def show_scores(report: ScoreReport, files: Mapping[str, str], *, head: int) -> None:
    """Print the head of the scored list and what had to be done to the columns."""
    console = _console()
    _remarks(console, report.remarks)
    _show_list(console, report.listing, report.listed, head, keep=report.model.roles.target)
    if report.value is not None:
        console.print(f"The file has labels: {report.model.statistic} = {_number(report.value)}.")
    if report.notes:
        _show_notes(console, report.notes, "Columns")
    _show_files(console, files)


def show_verification(report: VerifyReport) -> None:
    """Print what a certificate claims, what of it was checked, and what was not."""
    console = _console()
    claim, checked = report.certificate, report.checked
    console.print(f"{report.rows} items at the top; the file claims: {claim.summary()}.")
    for mark, sentences in (
        ("holds", checked.held),
        ("FAILS", checked.failed),
        ("not checked", checked.unchecked),
    ):
        for sentence in sentences:
            console.print(f"  {mark}: {sentence}.", markup=False)
    console.print(checked.summary())


def show_catalog(entries: Iterable[Entry]) -> None:
    """Print the data sets, one a line."""
    console = _console()
    grid = _grid()
    for name in ("name", "rows", "features", "positives", "about"):
        grid.add_column(name, justify="left" if name in ("name", "about") else "right")
    for one in entries:
        positives = "graded" if one.positives is None else str(one.positives)
        grid.add_row(one.name, str(one.rows), str(one.features), positives, one.about)
    console.print(grid)


# -- pieces ----------------------------------------------------------------------------------------


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line; rich itself would exit with 1."""
        raise BrokenPipeError


def show_tables_to_reproduce(papers: Sequence[tuple[Paper, list[Line], float]], *, jobs: int) -> None:
    """List every table with its status and the time it takes."""
    console = _console()
    workers = worker_count(jobs)
    for paper, lines, seconds in papers:
        console.print(f"{paper.name}: {paper.title} ({paper.authors})")
        grid = _grid()
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
    console = _console()
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
    grid = _grid()
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


def _console() -> Console:
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return _Console(width=width, highlight=False, markup=False, soft_wrap=not sys.stdout.isatty())


def _grid() -> Grid:
    return Grid(box=None, pad_edge=False, padding=(0, 1))


def _remarks(console: Console, remarks: Iterable[str]) -> None:
    for remark in remarks:
        console.print(remark, style="yellow")


def _show_list(console: Console, listing: pd.DataFrame, source: str, head: int, *, keep: str) -> None:
    # The label matters more to the reader than the last features do.
    names = [str(name) for name in listing.columns]
    first = [name for name in names if name != keep][: WIDEST_LIST - (keep in names)]
    shown = [name for name in names if name in first or name == keep]
    grid = _grid()
    for name in shown:
        grid.add_column(name, justify="right")
    for row in listing[shown].head(head).itertuples(index=False):
        grid.add_row(*(_cell(value) for value in row))
    console.print()
    console.print(grid)
    rest = len(listing) - head
    left_out = len(names) - len(shown)
    if rest > 0 or left_out:
        parts = [f"{rest} more rows"] * (rest > 0) + [f"{left_out} more columns"] * (left_out > 0)
        console.print(f"... and {' and '.join(parts)} of {source}.", style="dim")
    console.print()


def _show_notes(console: Console, notes: list[Note], title: str) -> None:
    """Print what is no warning: those stand above the list."""
    notes = [note for note in notes if not note.warning]
    console.print(f"\n{title}")
    width = max((len(note.column) for note in notes), default=0)
    for note in notes:
        console.print(f"  {note.column:<{width}}  {note.action}: {note.text}")


def _show_files(console: Console, files: Mapping[str, str]) -> None:
    if files:
        console.print("\nFiles")
        width = max(map(len, files))
        for path, about in files.items():
            console.print(f"  {path:<{width}}  {about}")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    if value is None:
        return ""
    with suppress(TypeError, ValueError):
        if value != value:  # pandas' NA and NaT are not equal to themselves
            return ""
    return str(value)


def _number(value: float, sign: str = "") -> str:
    """Four digits, trailing zeros kept so that columns line up; no powers of ten below a million."""
    if math.isnan(value):
        return "-"
    return f"{value:{sign}.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:{sign}#.4g}"


def _with_deviation(mean: float, deviation: float, *, signed: bool = False) -> str:
    text = _number(mean, "+" if signed else "")
    return text if math.isnan(deviation) else f"{text} ± {deviation:.2g}"
