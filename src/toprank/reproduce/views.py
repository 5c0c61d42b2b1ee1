"""Tables ready to be shown: our figures beside the printed ones, as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from toprank.reproduce.cells import Selection
from toprank.reproduce.claims import Verdict, judge
from toprank.reproduce.experiment import Arm, Entry, Experiment, Table
from toprank.reproduce.figures import Figure, Figures, State, errors_apart
from toprank.reproduce.tables import Dimension

__all__ = ["CellView", "RunsView", "TableView", "mark", "table_view"]

ITEMS = "item"
RUNS = "run"


@dataclass(frozen=True)
class CellView:
    """One place of a table.

    Parameters
    ----------
    ours, theirs : str
        Mean ± deviation; empty where there is none.
    apart : str
        Ours minus theirs in units of the combined standard error.
    note : str
        Why ours is missing or not complete.
    beyond : bool
        Whether it is a figure of ours that the paper does not have.
    """

    ours: str = ""
    theirs: str = ""
    apart: str = ""
    note: str = ""
    beyond: bool = False


@dataclass(frozen=True)
class RunsView:
    """One line of a table that shows single runs: ours, the paper's, and what was proved in ours."""

    labels: tuple[str, ...]
    cell: CellView
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    proofs: tuple[str, ...]


@dataclass(frozen=True)
class TableView:
    """A table of the paper as it came out.

    Parameters
    ----------
    name, title, number : str
        For ``--only``, in words, and as the paper counts it: "Table 1".
    heads : tuple of str
        Over the labels of the rows.
    columns : tuple of str
    rows : list of (labels, cells)
    runs : list of RunsView
        Instead of rows, where single runs are shown; `columns` are their numbers.
    certificates : list of (data set, arm, sentence)
    choices : list of str
        Which point of a grid was chosen.
    notes : list of str
    verdicts : list of Verdict
    """

    name: str
    title: str
    number: str
    heads: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: list[tuple[tuple[str, ...], list[CellView]]] = field(default_factory=list)
    runs: list[RunsView] = field(default_factory=list)
    certificates: list[tuple[str, str, str]] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def number(name: str) -> str:
    """What the paper calls it.

    >>> number("table12"), number("theorem1"), number("letor")
    ('Table 12', 'Theorem 1', 'Letor')
    """
    word = name.rstrip("0123456789")
    return f"{word.capitalize()} {name[len(word) :]}".strip()


def mark(holds: str) -> str:
    """A sign for a verdict.

    >>> mark("holds"), mark("fails")
    ('✓', '✗')
    """
    return {"holds": "✓", "partly": "(✓)", "fails": "✗"}.get(holds, "–")


def table_view(table: Table, figures: Figures, selection: Selection) -> TableView:
    """A table as far as it was selected."""
    chosen = [one for one in table.entries if selection.has(table.name, one.experiment, one.arm)]
    view = TableView(table.name, table.title, number(table.name))
    if table.runs:
        view = _with_runs(view, table, chosen, figures)
    else:
        view = _with_grid(view, table, chosen, figures)
    arms = _arms(chosen, figures)
    view.certificates.extend(_certificates(arms, figures))
    view.choices.extend(_choices(arms, figures))
    view.notes.extend([*table.notes, *_notes(chosen, arms, figures)])
    experiments = {experiment.name for experiment, _ in arms}
    view.verdicts.extend(
        judge(claim, figures)
        for claim in figures.paper.claims
        if claim.table == table.name and claim.experiment in experiments
    )
    return view


# -- layout --------------------------------------------------------------------------------------------


def _label(dimension: Dimension, entry: Entry, figures: Figures) -> str:
    experiment = figures.paper.experiment(entry.experiment)
    arm = experiment.arm(entry.arm)
    return {
        "experiment": experiment.source.title,
        "part": entry.part,
        "group": arm.group or arm.title,
        "arm": arm.title,
        "measure": experiment.measure(entry.measure).title,
    }[dimension]


def _labels(dimensions: Iterable[Dimension], entry: Entry, figures: Figures) -> tuple[str, ...]:
    return tuple(_label(dimension, entry, figures) for dimension in dimensions)


_HEADS = {"experiment": "data set", "part": "", "group": "", "arm": "ranker", "measure": "measure"}


def _with_grid(view: TableView, table: Table, entries: list[Entry], figures: Figures) -> TableView:
    rows: dict[tuple[str, ...], dict[tuple[str, ...], Entry]] = {}
    columns: dict[tuple[str, ...], None] = {}
    for entry in entries:
        column = _labels(table.columns, entry, figures)
        rows.setdefault(_labels(table.rows, entry, figures), {})[column] = entry
        columns[column] = None
    shown = [
        (labels, [_cell(row[column], figures) if column in row else CellView() for column in columns])
        for labels, row in rows.items()
    ]
    heads = tuple(_HEADS[one] for one in table.rows)
    names = tuple(" ".join(column) for column in columns)
    return TableView(view.name, view.title, view.number, heads, names, shown)


def _with_runs(view: TableView, table: Table, entries: list[Entry], figures: Figures) -> TableView:
    lines = []
    for entry in entries:
        experiment = figures.paper.experiment(entry.experiment)
        arm = experiment.arm(entry.arm)
        digits = experiment.measure(entry.measure).digits
        ours = figures.runs(experiment, arm, entry.measure, entry.part)
        lines.append(
            RunsView(
                _labels(table.rows, entry, figures),
                _cell(entry, figures),
                tuple("" if run is None else f"{run:.{digits}f}" for run in ours),
                tuple(f"{run:.{digits}f}" for run in entry.runs),
                _proofs(experiment, arm, figures) if entry.part == "train" else (),
            )
        )
    per_item = any(figures.paper.experiment(one.experiment).measure(one.measure).per_item for one in entries)
    width = max((max(len(line.ours), len(line.theirs)) for line in lines), default=0)
    names = tuple(f"{ITEMS if per_item else RUNS} {k}" for k in range(1, width + 1))
    heads = tuple(_HEADS[one] for one in table.rows)
    return TableView(view.name, view.title, view.number, heads, names, runs=lines)


def _proofs(experiment: Experiment, arm: Arm, figures: Figures) -> tuple[str, ...]:
    certainty = figures.certainty(experiment, arm)
    if certainty is None:
        return ()
    return tuple(_gap_text(gap) for gap in certainty.gaps)


def _gap_text(gap: float | None) -> str:
    if gap is None:
        return "–"
    return "proved" if gap == 0.0 else f"gap {100 * gap:.2g} %"


def _cell(entry: Entry, figures: Figures) -> CellView:
    experiment = figures.paper.experiment(entry.experiment)
    arm = experiment.arm(entry.arm)
    measure = experiment.measure(entry.measure)
    ours, theirs = figures.ours(entry), figures.theirs(entry)
    if measure.per_item:
        same = ours is not None and theirs is not None and ours.runs == theirs.runs
        return CellView(note="the same" if same else "not the same" if ours else State.NOT_RUN)
    apart = errors_apart(ours, theirs)
    return CellView(
        _text(ours, measure.digits),
        _text(theirs, measure.digits),
        "" if apart is None else f"{apart:+.1f}",
        _incomplete(experiment, arm, ours, figures),
        arm.beyond or not entry.printed,
    )


def _text(figure: Figure | None, digits: int) -> str:
    if figure is None:
        return ""
    deviation = "" if figure.deviation is None else f" ± {figure.deviation:.{digits}f}"
    return f"{figure.mean:.{digits}f}{deviation}"


def _incomplete(experiment: Experiment, arm: Arm, ours: Figure | None, figures: Figures) -> str:
    state = figures.state(experiment, arm)
    if state == State.DONE:
        return ""
    return f"{ours.count} of {experiment.splits.count} runs" if ours is not None else state


# -- what stands below a table -------------------------------------------------------------------------


def _arms(entries: list[Entry], figures: Figures) -> list[tuple[Experiment, Arm]]:
    found = dict.fromkeys((entry.experiment, entry.arm) for entry in entries)
    experiments = ((figures.paper.experiment(name), arm) for name, arm in found)
    return [(experiment, experiment.arm(arm)) for experiment, arm in experiments]


def _certificates(arms: list[tuple[Experiment, Arm]], figures: Figures) -> list[tuple[str, str, str]]:
    shown = []
    for experiment, arm in arms:
        certainty = figures.certainty(experiment, arm)
        if certainty is not None:
            shown.append((experiment.source.title, arm.title, certainty.sentence()))
        elif cut := figures.cut_short(experiment, arm):
            shown.append((experiment.source.title, arm.title, cut))
    return shown


def _choices(arms: list[tuple[Experiment, Arm]], figures: Figures) -> list[str]:
    """Which point of the grid was chosen, and how often."""
    shown = []
    for experiment, arm in arms:
        if not arm.grid or arm.from_paper_only:
            continue
        counts: dict[str, int] = {}
        for point in figures.chosen(experiment, arm):
            if point is not None:
                text = ", ".join(_setting(name, value) for name, value in point["parameters"].items())
                counts[text] = counts.get(text, 0) + 1
        if counts:
            often = [text if len(counts) == 1 else f"{text} ({count}×)" for text, count in counts.items()]
            shown.append(f"{experiment.source.title}, {arm.title}: {', '.join(often)}")
    return shown


def _setting(name: str, value: object) -> str:
    if name == "ranker":
        return str(value)
    return f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"


def _notes(entries: list[Entry], arms: list[tuple[Experiment, Arm]], figures: Figures) -> list[str]:
    notes: dict[str, None] = {}
    for experiment, arm in arms:
        source = experiment.source
        if missing := figures.missing(experiment):
            notes[f"Data not available: {missing}"] = None
        if source.stands_in_for:
            notes[f"{source.title} stands in for {source.stands_in_for}, which could not be had."] = None
        for failure in figures.failures(experiment, arm):
            notes[f"Failed: {source.title}, {arm.title}: {failure}"] = None
    for entry in entries:
        if entry.misprint:
            labels = _labels(("experiment", "arm", "part"), entry, figures)
            notes[f"In the paper, {', '.join(labels)}: {entry.misprint}"] = None
    return list(notes)
