"""Pages: Markdown and HTML for each paper and an overview, every number from the stored results."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toprank.reproduce.cells import Selection, cells_of
from toprank.reproduce.claims import Verdict
from toprank.reproduce.drawings import draw, drawing_state
from toprank.reproduce.experiment import Drawing, Paper
from toprank.reproduce.figures import Figures, State
from toprank.reproduce.listing import Line, listing
from toprank.reproduce.views import TableView, mark, number, table_view

__all__ = ["PaperView", "docs_pages", "pages", "paper_view"]


@dataclass(frozen=True)
class DrawingView:
    """A figure of the paper, drawn from our runs; `png` is None where there is nothing to draw yet."""

    name: str
    number: str
    title: str
    notes: list[str]
    state: str
    png: bytes | None

    @property
    def data_uri(self) -> str:
        """For an HTML page that needs no other files."""
        return "" if self.png is None else f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


@dataclass(frozen=True)
class PaperView:
    """Everything a page about a paper shows."""

    paper: Paper
    tables: list[TableView]
    drawings: list[DrawingView]
    lines: list[Line]
    budget: float
    cells: int
    unavailable: int
    done: int
    cell_seconds: float
    sources: list[tuple[str, str]]

    @property
    def claims(self) -> dict[str, dict[str, int]]:
        """How many claims hold, of the paper and of ours."""
        counts: dict[str, dict[str, int]] = {
            whose: dict.fromkeys(("holds", "partly", "fails", "not run"), 0) for whose in ("paper", "ours")
        }
        for table in self.tables:
            for verdict in table.verdicts:
                counts["ours" if verdict.claim.ours else "paper"][verdict.holds] += 1
        return counts

    @property
    def failing(self) -> list[tuple[TableView, Verdict]]:
        """Claims that do not hold on our runs, with their table: where we differ."""
        return [
            (table, verdict)
            for table in self.tables
            for verdict in table.verdicts
            if verdict.holds in ("fails", "partly")
        ]


def paper_view(
    paper: Paper, figures: Figures, *, selection: Selection | None = None, budget: float
) -> PaperView:
    """What the results say about a paper."""
    selection = selection or Selection()
    every = cells_of(paper, selection, budget=budget)
    cells = [cell for cell in every if not figures.missing(cell.experiment)]
    records = [record for cell in cells if (record := figures.record(cell)) is not None]
    return PaperView(
        paper,
        [table_view(table, figures, selection) for table in paper.tables if selection.has_table(table.name)],
        [_drawing_view(one, figures) for one in paper.drawings if selection.has_table(one.name)],
        listing(paper, figures, budget=budget),
        budget,
        len(cells),
        len(every) - len(cells),
        len(records),
        sum(float(record["seconds"]) for record in records),
        list(
            dict.fromkeys((one.source.title, one.source.note) for one in paper.experiments if one.source.note)
        ),
    )


def _drawing_view(drawing: Drawing, figures: Figures) -> DrawingView:
    notes = dict.fromkeys(drawing.notes)
    for name, arm_name in drawing.places:
        experiment = figures.paper.experiment(name)
        arm, source = experiment.arm(arm_name), experiment.source
        if source.stands_in_for:
            notes[f"{source.title} stands in for {source.stands_in_for}, which could not be had."] = None
        certainty = figures.certainty(experiment, arm) if arm.history else None
        if certainty is not None:
            notes[f"{arm.title} on {source.title}: {certainty.sentence()}."] = None
    state = drawing_state(drawing, figures)
    png = draw(drawing, figures) if state in (State.DONE, State.PARTLY) else None
    return DrawingView(drawing.name, number(drawing.name), drawing.title, list(notes), state, png)


# -- files ---------------------------------------------------------------------------------------------


def pages(views: Sequence[PaperView], folder: Path) -> dict[Path, bytes]:
    """All pages and figures by file: Markdown and HTML for each paper, and an overview."""
    written: dict[Path, bytes] = {}
    for view in views:
        name = view.paper.name
        written[folder / f"{name}.html"] = _render("paper.html.j2", view=view)
        written[folder / f"{name}.md"] = _render("paper.md.j2", view=view, images=name, level="#")
        written.update(_images(view, folder / name))
    written[folder / "index.md"] = _render("overview.md.j2", views=views, folder="")
    written[folder / "index.html"] = _render("overview.html.j2", views=views)
    return written


def docs_pages(views: Sequence[PaperView], file: Path) -> dict[Path, bytes]:
    """An overview, each paper's page in the folder of its name, figures in the folder `images` beside it."""
    written = {file: _render("overview.md.j2", views=views, folder=f"{file.stem}/")}
    for view in views:
        name = view.paper.name
        page = _render("paper.md.j2", view=view, images=f"../images/{name}", level="#")
        written[file.parent / file.stem / f"{name}.md"] = page
        written.update(_images(view, file.parent / "images" / name))
    return written


def _images(view: PaperView, stem: Path) -> dict[Path, bytes]:
    return {
        stem.with_name(f"{stem.name}-{one.name}.png"): one.png for one in view.drawings if one.png is not None
    }


def _render(template: str, **context: Any) -> bytes:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    from toprank.report.page import page_style

    environment = Environment(
        loader=PackageLoader("toprank.reproduce"),
        autoescape=select_autoescape(("html.j2",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"mark": mark, "style": Markup(page_style())}
    lines = [line.rstrip() for line in environment.get_template(template).render(**context).splitlines()]
    # Templates leave empty lines where something is left out; one is enough.
    kept = [line for before, line in zip(["", *lines], lines, strict=False) if before or line]
    return "\n".join(kept).encode() + b"\n"
