"""Ranks of a list that can be differentiated, and losses that are functions of them. Rank 1 is the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from toprank.networks.objectives import TensorLoss

__all__ = ["Sorter", "list_loss", "make_sorter", "neural_sort_ranks", "projected_ranks", "sigmoid_ranks"]

Sorter = Callable[[Any], Any]
"""From the scores of a list, a tensor, to its ranks."""
FLAT = 1e-12
"""Added to the spread of scores: a list of equal ones has no order, and no endless gradient either."""


def make_sorter(name: str, temperature: float) -> Sorter:
    """Soft ranks by name, of scores standardised within their list.

    >>> make_sorter("sigmoid", 0.01)(torch.tensor([1.0, 3.0, 2.0])).round()
    tensor([3., 1., 2.])
    """
    if name == "learned":
        from toprank.networks.sorting import learned_sorter

        return learned_sorter()
    closed = {
        "sigmoid": sigmoid_ranks,
        "neural_sort": neural_sort_ranks,
        "projection": projected_ranks,
    }[name]
    return lambda scores: closed(standardised(scores), temperature)


def standardised(scores: Any) -> Any:
    """Scores less their mean, in units of their spread."""
    centred = scores - scores.mean()
    return centred / torch.sqrt((centred**2).mean() + FLAT)


def sigmoid_ranks(scores: Any, temperature: float) -> Any:
    """One plus the sum over the others of sigmoid((s_j - s_i) / temperature) (Qin, Liu and Li 2010)."""
    above = torch.sigmoid((scores[None, :] - scores[:, None]) / temperature)
    return above.sum(dim=1) + 0.5


def neural_sort_ranks(scores: Any, temperature: float) -> Any:
    """The mean place of each item under NeuralSort's row-stochastic matrix (Grover et al. 2019, Eq. 5)."""
    n = len(scores)
    place = torch.arange(1, n + 1, dtype=scores.dtype, device=scores.device)
    apart = (scores[:, None] - scores[None, :]).abs().sum(dim=0)
    share = torch.softmax(
        ((n + 1 - 2 * place)[:, None] * scores[None, :] - apart[None, :]) / temperature, dim=1
    )
    return (place @ share) / (share.sum(dim=0) + FLAT)


def projected_ranks(scores: Any, temperature: float) -> Any:
    """The projection of -s / temperature onto the convex hull of all rankings (Blondel et al. 2020).

    Isotonic regression by scikit-learn; hard ranks as soon as scores are a temperature apart.
    """
    return _Projection.apply(scores, temperature)


class _Projection(torch.autograd.Function):
    """Sorting, isotonic regression, and back; its derivative takes means over the pooled blocks."""

    @staticmethod
    def forward(ctx: Any, scores: Any, temperature: float) -> Any:
        from sklearn.isotonic import isotonic_regression

        z = -scores.detach().to("cpu", torch.float64).numpy() / temperature
        falling = np.argsort(-z, kind="stable")
        n = len(z)
        pooled = isotonic_regression(z[falling] - np.arange(n, 0, -1.0), increasing=False)
        block = np.empty(n, dtype=np.int64)
        block[falling] = np.cumsum(np.diff(pooled, prepend=np.inf) < 0) - 1
        ctx.block, ctx.temperature = block, temperature
        ranks = np.empty(n)
        ranks[falling] = z[falling] - pooled
        return torch.as_tensor(ranks, dtype=scores.dtype, device=scores.device)

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        given = upstream[0].to("cpu", torch.float64).numpy()
        mean = np.bincount(ctx.block, weights=given) / np.bincount(ctx.block)
        found = -(given - mean[ctx.block]) / ctx.temperature
        return torch.as_tensor(found, dtype=upstream[0].dtype, device=upstream[0].device), None


# -- functions of ranks ----------------------------------------------------------------------------


def list_loss(
    name: str,
    sorter: Sorter,
    parts: Sequence[NDArray[np.intp]],
    wanted: Sequence[NDArray[np.float64]],
    k: int,
) -> TensorLoss:
    """The mean over lists of a loss of soft ranks.

    Parameters
    ----------
    name : {"spearman", "average_precision", "recall", "mean_rank"}
    sorter : callable
    parts : sequence of arrays
        The places of each list in the batch.
    wanted : sequence of arrays
        Ranks of the labels for "spearman", else 1 for the positives and 0 for the rest.
    k : int
        Of "recall".
    """

    def loss(scores: Any) -> Any:
        total = scores.new_zeros(())
        for part, want in zip(parts, wanted, strict=True):
            own = scores[torch.as_tensor(part, device=scores.device)]
            goal = torch.as_tensor(want, dtype=scores.dtype, device=scores.device)
            total = total + _of_ranks(name, sorter, own, goal, k)
        return total / len(parts)

    return loss


def _of_ranks(name: str, sorter: Sorter, scores: Any, wanted: Any, k: int) -> Any:
    ranks, n = sorter(scores), len(scores)
    if name == "spearman":
        return 6.0 * ((ranks - wanted) ** 2).sum() / (n * (n**2 - 1.0))
    upper = wanted > 0
    if name == "mean_rank":
        return ranks[upper].mean() / n
    if name == "recall":
        # A place is soft over a tenth of k, at least over one.
        return 1.0 - torch.sigmoid((k + 0.5 - ranks[upper]) / max(1.0, 0.1 * k)).mean()
    # An item is never behind fewer than the positives it is behind.
    among = sorter(scores[upper]) if int(upper.sum()) > 1 else torch.ones_like(ranks[upper])
    return 1.0 - (among / torch.maximum(ranks[upper], among)).mean()
