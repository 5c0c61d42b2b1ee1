"""What `toprank rank --pairs` says."""

from __future__ import annotations

from collections.abc import Mapping

from toprank.screen import pieces
from toprank.screen.ranking import show_list
from toprank.workflow.by_pairs import PairsReport, Share
from toprank.workflow.learning.fitting import outcome_sentence

__all__ = ["show_pairs"]


def show_pairs(report: PairsReport, files: Mapping[str, str], *, head: int) -> None:
    """Print the head of the list, and how far it agrees with comparisons it has not seen."""
    console = pieces.console()
    pieces.remarks(console, report.remarks)
    show_list(console, report.listing, report.listed, head)
    console.print(
        f"{report.ranker}, learned from {report.comparisons} comparisons of {len(report.listing)} items"
        + (f", {report.contradicted} of them made in both directions" if report.contradicted else "")
        + f"; the list puts {report.training:.0%} of them in the order given"
        + (f" ({outcome_sentence(report.outcome)})." if report.ranker == "ExactRanker" else ".")
    )
    for share in report.held_out:
        console.print(_sentence(share))
    if not report.held_out and not report.interrupted:
        console.print("There are too few comparisons to hold any out: how it does on new ones is unknown.")
    if report.notes:
        pieces.show_notes(console, report.notes, "Columns")
    pieces.show_files(console, files)


def _sentence(share: Share) -> str:
    whose = "of items it has not seen" if share.unseen == "items" else "it has not seen"
    return (
        f"Of comparisons {whose} it puts {share.mean:.0%} in order (standard error {share.error:.0%},"
        f" {share.folds} folds); by chance 50%."
    )
