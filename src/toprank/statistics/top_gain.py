"""What the first K items are worth, of labels that are numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from toprank.statistics.base import register
from toprank.statistics.cutoffs import Cutoff
from toprank.statistics.groups import Ties
from toprank.statistics.localized import Edge, Floats, TopStatistic

__all__ = ["TopGain"]


@register
@dataclass(frozen=True)
class TopGain(TopStatistic):
    """What the first K items are worth above chance, as a share of the most it could be: 1 for the best list.

    (mean label of the first K - mean of all) / (mean of the K largest labels - mean of all). A random order
    has 0 on average, a list that begins with worse items than those left out less than that; labels may be
    shifted and scaled. Where every order has the same first K, as when K is the whole list, it is 1.

    Parameters
    ----------
    at : int or str
        K, or a share of the list such as ``"5%"``; at most the length of the list.

    Examples
    --------
    >>> TopGain(at=2)([40.0, 30.0, 20.0, 10.0], [0.9, 0.7, 0.8, 0.1])
    0.5
    """

    at: Cutoff
    name: ClassVar[str] = "top_gain"
    examples: ClassVar[tuple[str, ...]] = ("top_gain@2", "top_gain@40%")

    def _of_list(self, labels: Floats, edge: Edge, ties: Ties) -> float:
        tied = np.sort(edge.group)
        drawn = {"worst": tied[: edge.slots], "best": tied[tied.size - edge.slots :], "mean": tied}[ties]
        first = edge.labels.sum() + drawn.sum() * (edge.slots / drawn.size)
        everywhere = labels.mean()
        largest = labels[labels > edge.cut].sum() + edge.quota * edge.cut
        most = largest / edge.size - everywhere
        return float((first / edge.size - everywhere) / most) if most > 0 and edge.size < labels.size else 1.0
