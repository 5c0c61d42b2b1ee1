"""The statistics a user can name: what is measured, and the nearest to it that a ranker can maximise."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from toprank import statistics
from toprank.datasets import InputError
from toprank.labels import LabelKind
from toprank.statistics import LinearRankStatistic, RankStatistic
from toprank.statistics.base import registered

__all__ = ["IN_WORDS", "NEAREST", "Aim", "KnownStatistic", "aim_of", "known_statistics"]

NEAREST = {
    "average_precision": "dcg",
    "reciprocal_rank": "reciprocal_rank_sum",
    "positives_at_top": "dcg@{budget}",
    "infinite_push_loss": "dcg@{budget}",
    "p_norm_push_loss": "p_norm",
    "local_auc": "partial_auc@{at}",
    "partial_auc_fpr": "partial_auc@{budget}",
    "localized_ranking_loss": "precision@{at}",
    "weak_ranking_loss": "precision@{at}",
    "top_gain": "precision@{at}",
    **dict.fromkeys(("pairwise_misranking_error", "c_index", "hard_ranking_loss", "integrated_auc"), "auc"),
    **dict.fromkeys(("kendall_tau", "ordinal_auc", "spearman_rho", "vus"), "auc"),
}
"""For each statistic that can only be measured, the one among those of two classes that comes nearest."""
SOME_ITEMS = 10
"""A cut-off, to ask a statistic that wants one what it is."""
SOME_OF_EACH = (5, 20)
"""Positives and negatives of a list that tells whether a statistic can be maximised by the exact search."""


@dataclass(frozen=True, slots=True)
class Aim:
    """The statistic a user wants to see, and the one that rankers maximise.

    Parameters
    ----------
    measured : RankStatistic
    optimised : RankStatistic
        Of two classes a `LinearRankStatistic`. Where labels are numbers, rankers have losses of their own,
        and those that choose something by a statistic choose by the one measured.

    Examples
    --------
    >>> aim = aim_of("average_precision", 50)
    >>> str(aim.measured), str(aim.optimised)
    ('average_precision', 'dcg')
    >>> aim.by_search, aim_of("vus", 50).remarks
    (True, ['Shown is vus; what rankers optimise is auc, the nearest that can be.'])
    """

    measured: RankStatistic
    optimised: RankStatistic

    @property
    def by_search(self) -> bool:
        """Whether the exact ranker can maximise what is shown though others cannot."""
        if self.measured is self.optimised or isinstance(self.measured, LinearRankStatistic):
            return False
        return self.measured.count_table(*SOME_OF_EACH) is not None

    @property
    def remarks(self) -> list[str]:
        """What to say where the two are not the same."""
        if self.measured is self.optimised:
            return []
        shown, used = str(self.measured), str(self.optimised)
        if self.by_search:
            others = f"other rankers {used}, the nearest they can"
            return [f"Shown is {shown}; the exact ranker optimises it, {others}."]
        return [f"Shown is {shown}; what rankers optimise is {used}, the nearest that can be."]


USUAL = {"binary": "dcg@{}", "ordinal": "ndcg@{}", "continuous": "top_gain@{}"}
"""What counts where nobody says: hits within the budget, grades there, or what its items are worth."""

IN_WORDS = {
    "ndcg": " (grades within the budget, the first ones most, as a share of the best order's)",
    "top_gain": " (what the first are worth above chance, as a share of the most it could be)",
}
"""What the usual statistics of grades and of numbers are."""


def aim_of(name: str | None, budget: int, kind: LabelKind = "binary") -> Aim:
    """The aim a user named: anything that can be measured; None for the usual one.

    Parameters
    ----------
    name : str
        A name that `toprank.statistics.get` knows.
    budget : int
        How many items can be acted on: the cut-off of a nearest statistic that needs one.
    kind : {"binary", "ordinal", "continuous"}
        What the labels are.
    """
    name = USUAL[kind].format(budget) if name is None else name
    try:
        measured = statistics.get(name)
    except ValueError as error:
        said = str(error).replace("toprank.statistics.names() lists", "`toprank statistics` lists")
        raise InputError(f"--statistic {name!r}: {said}.") from None
    if isinstance(measured, LinearRankStatistic) or kind != "binary":
        return Aim(measured, measured)
    nearest = NEAREST.get(measured.name, "dcg@{budget}")
    optimised = statistics.get(nearest.format(budget=budget, at=getattr(measured, "at", budget)))
    assert isinstance(optimised, LinearRankStatistic)  # the table names no other
    return Aim(measured, optimised)


@dataclass(frozen=True, slots=True)
class KnownStatistic:
    """A statistic by name.

    Parameters
    ----------
    name : str
        As `toprank.statistics.get` takes it; ``@k`` where it wants a cut-off.
    also : tuple of str
        Other names for it.
    about : str
        One line.
    optimised : bool
        Whether all rankers that are told what to maximise can maximise it.
    exactly : bool
        Whether `ExactRanker` and `DirectRanker` can, though others take the nearest. What nobody can
        maximise can be measured.
    """

    name: str
    also: tuple[str, ...]
    about: str
    optimised: bool
    exactly: bool


def known_statistics() -> list[KnownStatistic]:
    """All statistics, those that can be optimised first, by most or by few, then by name."""
    kinds = {kind.name: kind for kind in registered().values()}
    found = []
    for name, kind in kinds.items():
        cut_off = inspect.signature(kind).parameters.get("at")
        text = name
        if cut_off is not None:
            text = f"{name}@k" if cut_off.default is inspect.Parameter.empty else f"{name}, {name}@k"
        about = (inspect.getdoc(kind) or "").partition("\n")[0]
        also = tuple(sorted(alias for alias, one in registered().items() if one is kind and alias != name))
        linear = issubclass(kind, LinearRankStatistic)
        searched = not linear and aim_of(text.replace("@k", f"@{SOME_ITEMS}"), SOME_ITEMS).by_search
        found.append(KnownStatistic(text, also, about, linear, searched))
    return sorted(found, key=lambda one: (not one.optimised, not one.exactly, one.name))
