"""What ``--list`` shows: every table with its status and the time it takes."""

from __future__ import annotations

from dataclasses import dataclass

from toprank.reproduce.cells import Selection, cells_of
from toprank.reproduce.experiment import Paper
from toprank.reproduce.figures import Figures, State
from toprank.reproduce.views import number

__all__ = ["Line", "listing"]


@dataclass(frozen=True)
class Line:
    """One table or figure.

    Parameters
    ----------
    name, number, title : str
    state : str
        Of the cells whose data are at hand.
    done, cells : int
        Cells computed, and cells in all; tables share cells.
    unavailable : tuple of str
        Data sets that cannot be had.
    seconds : float
        What the cells that are not computed yet will take one after the other.
    total_seconds : float
        What all of them take.
    spent_seconds : float
        What those computed took.
    """

    name: str
    number: str
    title: str
    state: str
    done: int
    cells: int
    unavailable: tuple[str, ...]
    seconds: float
    total_seconds: float
    spent_seconds: float


def listing(paper: Paper, figures: Figures, *, budget: float = 1.0) -> list[Line]:
    """Every table and figure of a paper."""
    names = [(one.name, one.title) for one in paper.tables] + [
        (one.name, one.title) for one in paper.drawings
    ]
    return [_line(name, title, paper, figures, budget) for name, title in names]


def _line(name: str, title: str, paper: Paper, figures: Figures, budget: float) -> Line:
    every = cells_of(paper, Selection(), budget=budget, table=name)
    absent = {
        cell.experiment.name: cell.experiment.source.title
        for cell in every
        if figures.missing(cell.experiment)
    }
    cells = [cell for cell in every if cell.experiment.name not in absent]
    todo = [cell for cell in cells if figures.record(cell) is None]
    failed = any(figures.error(cell) for cell in todo)
    done = len(cells) - len(todo)
    if not cells:
        state = State.UNAVAILABLE if every else State.QUOTED
    elif failed:
        state = State.FAILED
    else:
        state = State.DONE if not todo else State.PARTLY if done else State.NOT_RUN
    return Line(
        name,
        number(name),
        title,
        state,
        done,
        len(cells),
        tuple(absent.values()),
        sum(cell.expected_seconds for cell in todo),
        sum(cell.expected_seconds for cell in cells),
        sum(float(record["seconds"]) for cell in cells if (record := figures.record(cell)) is not None),
    )
