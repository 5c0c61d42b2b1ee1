"""What a paper prints and claims, as plain values: tables are views of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toprank.reproduce.protocol import Part

__all__ = ["Claim", "ClaimKind", "Dimension", "Drawing", "DrawingKind", "Entry", "Table"]


@dataclass(frozen=True)
class Entry:
    """One place in a table: which of our figures goes there, and what the paper printed there.

    Parameters
    ----------
    experiment, arm, measure : str
    part : {"train", "test"}
    mean : float or None
        As printed; None: our own, the paper has nothing there.
    deviation : float or None
        Standard deviation as printed, where it is.
    runs : tuple of float
        The single runs, where the paper prints them; one number for each item with a measure per item.
    misprint : str
        Where the printed numbers contradict each other: what and how, in a sentence.
    """

    experiment: str
    arm: str
    measure: str
    part: Part = "test"
    mean: float | None = None
    deviation: float | None = None
    runs: tuple[float, ...] = ()
    misprint: str = ""

    @property
    def printed(self) -> bool:
        """Whether the paper has a figure here."""
        return self.mean is not None or bool(self.runs)


Dimension = Literal["experiment", "part", "group", "arm", "measure"]


@dataclass(frozen=True)
class Table:
    """A table of the paper: a view of cells.

    Parameters
    ----------
    name : str
        ``"table1"``, ``"figure2"``, ``"theorem1"``: what ``--only`` calls it.
    title : str
        In our own words.
    rows, columns : tuple of {"experiment", "part", "group", "arm", "measure"}
        What the rows and the columns of the table are about; a heading for each.
    entries : tuple of Entry
        Rows and columns appear in the order in which the entries first mention them.
    runs : bool
        Whether to show the single runs of ours and of the paper too.
    notes : tuple of str
        Footnotes, in our own words.
    """

    name: str
    title: str
    rows: tuple[Dimension, ...]
    columns: tuple[Dimension, ...]
    entries: tuple[Entry, ...]
    runs: bool = False
    notes: tuple[str, ...] = ()


DrawingKind = Literal["progress", "roc", "rows"]


@dataclass(frozen=True)
class Drawing:
    """A figure of the paper, drawn from stored results.

    Parameters
    ----------
    name, title : str
        As of a `Table`.
    places : tuple of (experiment, arm)
        What is drawn.
    kind : {"progress", "roc", "rows"}
        ``progress``: how value and bound of the one arm met, one panel a split; it keeps its `history`.
        ``roc``: the ROC curves of all arms on the test part of the first split; they keep their `curve`.
        ``rows``: the rows of a data set with one feature, positives and negatives, and the order in which
        each arm ranks them.
    zoom : float or None
        For ROC curves, a second panel up to this false positive rate.
    notes : tuple of str
    """

    name: str
    title: str
    places: tuple[tuple[str, str], ...]
    kind: DrawingKind = "progress"
    zoom: float | None = None
    notes: tuple[str, ...] = ()


ClaimKind = Literal["better", "best", "agrees", "at least printed", "proved"]


@dataclass(frozen=True)
class Claim:
    """Something that can hold or fail on our runs.

    Parameters
    ----------
    text : str
        The claim in our own words.
    kind : {"better", "best", "agrees", "at least printed", "proved"}
        ``better``: the arm's mean is better than that of each arm in `than`, and as `significant` says.
        ``best``: the same against all other arms of `than`, or of the experiment when it is empty (our own
        columns left out). ``agrees``: our mean lies within `errors` combined standard errors of the printed
        one. ``at least printed``: our mean is not worse than the printed one. ``proved``: every run of
        the arm ended with a proof.
    experiment, arm : str
    measure : str
    part : {"train", "test", "sum"}
        ``sum`` adds train and test: the share of positives that a random split puts into the training part
        moves the two in opposite directions.
    than : tuple of str
        Other arms.
    significant : bool or None
        True: by the matched-pairs t-test at level 0.05; False: better on average but not significantly, which
        holds partly when the other side is ahead, not significantly either; None: on average.
    over : str
        For "at least printed": compare the gain over this arm instead of the figure itself.
    errors : float
    ours : bool
        Whether it is a claim of this project and not of the paper.
    why : str
        A sentence for the page when it does not hold: why that is.
    table : str
        The table it is about, for the place on the page.
    """

    text: str
    kind: ClaimKind
    experiment: str
    arm: str
    measure: str = ""
    part: Literal["train", "test", "sum"] = "test"
    than: tuple[str, ...] = ()
    significant: bool | None = None
    over: str = ""
    errors: float = 2.0
    ours: bool = False
    why: str = ""
    table: str = ""
