"""The files a command leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toprank.datasets import InputError
from toprank.model import RankingModel, check_model_ending, model_bytes
from toprank.output import check_table_ending, check_writable, table_bytes, write_whole

if TYPE_CHECKING:
    import pandas as pd

    from toprank.workflow.compare import CompareReport
    from toprank.workflow.listing.report import RankReport

__all__ = ["Delivery"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """Where the list and the model go, if anywhere.

    Parameters
    ----------
    out : Path or None
        For the ranked list.
    model : Path or None
    report : Path or None
        For the page.
    """

    out: Path | None = None
    model: Path | None = None
    report: Path | None = None

    def check(self, inputs: Sequence[str | None], *, linear: bool = True) -> None:
        """Refuse, before any work is done, what could not be written at the end.

        Parameters
        ----------
        inputs : sequence of str
            Files that are read and must not be written over.
        linear : bool
            Whether the model is sure to be linear; others cannot be written as JSON.
        """
        taken = {Path(path).resolve(): "an input" for path in inputs if path is not None}
        wanted = (("--out", self.out), ("--model", self.model), ("--report", self.report))
        for argument, path in wanted:
            if path is None:
                continue
            place = path.resolve()
            if place in taken:
                raise InputError(f"{argument} {str(path)!r} would write over {taken[place]}.")
            taken[place] = argument
            check_writable(path, argument=argument)
        if self.out is not None:
            check_table_ending(self.out, argument="--out")
        if self.report is not None and self.report.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--report {str(self.report)!r} must end in .html.")
        if self.model is not None:
            if self.model.suffix.lower() == ".json" and not linear:
                raise InputError(
                    f"--model {str(self.model)!r}: only linear models are written as JSON. Give the file the"
                    " ending .skops (pip install toprank[skops]), or say --ranker rerank or logistic."
                )
            check_model_ending(self.model, linear=linear)

    def write(
        self,
        listing: pd.DataFrame | None = None,
        model: RankingModel | None = None,
        *,
        report: RankReport | CompareReport | None = None,
        command: str = "",
    ) -> dict[str, str]:
        """Write the files, all or none, and say what is in each.

        Parameters
        ----------
        listing : pandas.DataFrame, optional
        model : RankingModel, optional
        report : RankReport or CompareReport, optional
            What the page is about.
        command : str
            What the user typed, for the page.
        """
        contents, about = {}, {}
        if self.out is not None and listing is not None:
            contents[self.out] = table_bytes(listing, self.out, argument="--out")
            about[str(self.out)] = f"{len(listing)} ranked items"
        if self.model is not None and model is not None:
            contents[self.model] = model_bytes(model, self.model)
            about[str(self.model)] = f"the model; use it with: toprank score {self.model} NEW_FILE"
        if self.report is not None and report is not None:
            from toprank.workflow.writing.page import page_of

            contents[self.report] = page_of(report, command)
            about[str(self.report)] = "the page; open it in a browser"
        write_whole(contents)
        return about
