"""What ``toprank reproduce`` does, apart from arguments and screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toprank.errors import InputError
from toprank.output import check_writable, write_whole
from toprank.reproduce import all_papers, paper
from toprank.reproduce.cells import Selection, cells_of, longest_first, select
from toprank.reproduce.experiment import Paper, with_paper_limits
from toprank.reproduce.figures import Figures
from toprank.reproduce.listing import Line, listing
from toprank.reproduce.pages import PaperView, docs_pages, pages, paper_view
from toprank.reproduce.runner import RunSummary, run_cells
from toprank.reproduce.store import Store
from toprank.workflow.watch import Watch

__all__ = ["Options", "Report", "list_tables", "reproduce", "totals"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to reproduce.

    Parameters
    ----------
    paper : str or None
        One of the papers, or all.
    only : sequence of str
        Tables, data sets and arms to compute and show; see `toprank.reproduce.cells.select`.
    budget : float
        All time limits are multiplied by this.
    results : Path
        Folder with the results and the pages.
    jobs : int
        Processes; -1 for one per processor.
    cluster : str or None
        Address of a Dask scheduler whose workers compute instead, or "local".
    docs : Path or None
        Markdown overview; the papers' pages in the folder of its name, figures in ``images`` beside it.
    paper_limits : bool
        Whether solvers get the time that the papers gave theirs, where that is known: hours for one cell.
    """

    paper: str | None = None
    only: Sequence[str] = ()
    budget: float = 1.0
    results: Path = Path("reproduction")
    jobs: int = -1
    cluster: str | None = None
    docs: Path | None = None
    paper_limits: bool = False

    def papers(self) -> dict[str, Paper]:
        """All papers by name, with the time limits asked for."""
        every = all_papers()
        if not self.paper_limits:
            return every
        return {name: with_paper_limits(one) for name, one in every.items()}


@dataclass(frozen=True)
class Report:
    """What one call did.

    Parameters
    ----------
    views : list of PaperView
        The selected tables, ours beside theirs.
    summaries : list of RunSummary
    files : list of Path
        Pages written.
    """

    views: list[PaperView]
    summaries: list[RunSummary]
    files: list[Path]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""
        return any(one.interrupted for one in self.summaries)

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Cells that failed, and why."""
        return [failure for one in self.summaries for failure in one.failures]


def reproduce(options: Options, *, watch: Watch | None = None) -> Report:
    """Compute what is missing, then write the pages of every paper with all that is known."""
    chosen = _checked(options)
    selections = {one.name: select(one, options.only) if options.only else Selection() for one in chosen}
    summaries, views = [], []
    for one in chosen:
        store = Store(options.results, one.name)
        cells = cells_of(one, selections[one.name], budget=options.budget)
        summaries.append(
            run_cells(longest_first(cells), store, jobs=options.jobs, cluster=options.cluster, watch=watch)
        )
        figures = Figures(one, summaries[-1].results, budget=options.budget)
        views.append(paper_view(one, figures, selection=selections[one.name], budget=options.budget))
        if summaries[-1].interrupted:
            break
    return Report(views, summaries, _write(options))


def list_tables(options: Options) -> list[tuple[Paper, list[Line], float]]:
    """Every table of every paper with its status, and the seconds all cells of the paper need together."""
    found = []
    for one in _checked(options):
        figures = Figures(one, Store(options.results, one.name).read(), budget=options.budget)
        found.append(
            (one, listing(one, figures, budget=options.budget), totals(one, figures, options.budget))
        )
    return found


def totals(one: Paper, figures: Figures, budget: float) -> float:
    """Seconds of computing that are left, each cell counted once."""
    cells = cells_of(one, Selection(), budget=budget)
    return sum(
        cell.expected_seconds
        for cell in cells
        if figures.record(cell) is None and not figures.missing(cell.experiment)
    )


def _checked(options: Options) -> list[Paper]:
    if not (options.budget > 0 and math.isfinite(options.budget)):
        raise InputError(f"`budget={options.budget}` is not a positive number.")
    if options.jobs != -1 and options.jobs < 1:
        raise InputError(f"`jobs={options.jobs}` is neither a number of processes nor -1 for all processors.")
    if options.paper is None and options.only:
        raise InputError("`only` needs the name of a paper before it, for example rudin-wang-2018.")
    if options.paper_limits and options.budget != 1:
        raise InputError(
            f"`budget={options.budget:g}` and `paper_limits` contradict each other; the papers' limits are"
            " taken as they are."
        )
    if options.docs is not None:
        check_writable(options.docs, argument="`docs`")
    every = options.papers()
    return list(every.values()) if options.paper is None else [every[paper(options.paper).name]]


def _write(options: Options) -> list[Path]:
    """Write the pages of every paper that has results, whatever was selected now."""
    views = []
    for one in options.papers().values():
        store = Store(options.results, one.name)
        if store.file.is_file() or options.docs is not None:
            figures = Figures(one, store.read(), budget=options.budget)
            views.append(paper_view(one, figures, budget=options.budget))
    if not views:
        return []
    contents = pages(views, options.results)
    if options.docs is not None:
        contents |= docs_pages(views, options.docs)
    for folder in {path.parent for path in contents}:
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(contents)
    return [path for path in contents if path.suffix in (".html", ".md")]
