"""Losses of the library as PyTorch sees them: functions of a tensor of scores that can be differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from toprank.losses.objectives import Labels

__all__ = ["TensorLoss", "as_torch", "logistic_pairs"]

TensorLoss = Callable[[Any], Any]
"""From a tensor of scores to its loss, a tensor of one number."""
MOST_PAIRS = 1 << 23
"""Pairs that an accelerator looks at one by one: 32 MiB in single precision, without a way to the CPU."""


class _KnownGradient(torch.autograd.Function):
    """A value whose gradient was computed with it."""

    @staticmethod
    def forward(ctx: Any, scores: Any, loss: Callable[[NDArray[np.float64]], Any]) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):  # whoever trains looks at the value
            point = loss(scores.detach().to("cpu", torch.float64).numpy())
        ctx.save_for_backward(
            torch.as_tensor(np.asarray(point.gradient), dtype=scores.dtype, device=scores.device)
        )
        return scores.new_tensor(float(point.value))

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        (gradient,) = ctx.saved_tensors
        return upstream[0] * gradient, None


def as_torch(loss: Callable[[NDArray[np.float64]], Any]) -> TensorLoss:
    """Any loss of the library as a PyTorch objective.

    Parameters
    ----------
    loss : callable
        From scores, an array, to something with `value` and `gradient`: what
        `losses.objectives.make_objective` gives, or the `at` of any loss.

    Examples
    --------
    >>> from toprank.losses.objectives import Labels, make_objective
    >>> push = as_torch(make_objective(Labels(np.array([1.0, 0.0])), "p_norm", p=2.0))
    >>> scores = torch.zeros(2, requires_grad=True)
    >>> push(scores).backward()
    >>> scores.grad
    tensor([-1.,  1.])
    """
    return lambda scores: _KnownGradient.apply(scores, loss)


def logistic_pairs(labels: Labels, otherwise: TensorLoss) -> TensorLoss:
    """The logistic loss over the pairs of one list of two labels, where the scores are.

    On an accelerator the pairs, where they are not too many, are looked at one by one: the way to the CPU
    takes longer. Everywhere else `otherwise`, which is the same loss, sorts.
    """
    upper = labels.grade > labels.grade.min()
    few = len(np.unique(labels.grade)) == 2 and int(upper.sum()) * int((~upper).sum()) <= MOST_PAIRS
    if labels.qid is not None or not few:
        return otherwise
    return lambda scores: (
        otherwise(scores) if scores.device.type == "cpu" else pair_by_pair(scores, upper, labels.weight)
    )


def pair_by_pair(scores: Any, upper: NDArray[np.bool_], weight: NDArray[np.float64] | None) -> Any:
    """The weighted mean over pairs of log(1 + exp(-(s_i - s_j))), i among the upper rows, j among the others.

    >>> pair_by_pair(torch.zeros(2), np.array([True, False]), None)
    tensor(0.6931)
    """
    shares = np.ones(len(upper)) if weight is None else weight
    sides = []
    for rows in (np.flatnonzero(upper), np.flatnonzero(~upper)):
        share = torch.as_tensor(shares[rows] / shares[rows].sum(), dtype=scores.dtype, device=scores.device)
        sides.append((scores[torch.as_tensor(rows, device=scores.device)], share))
    (up, up_share), (down, down_share) = sides
    losses = torch.nn.functional.softplus(down[None, :] - up[:, None])
    return up_share @ losses @ down_share
