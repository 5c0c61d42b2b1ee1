"""The training loop: passes over mini-batches, until it is enough, time is up or nothing is gained."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from toprank.base import Matrix
from toprank.control import Progress, Run
from toprank.networks.modules import one_score_a_row, remedied, weights_of
from toprank.networks.objectives import TensorLoss
from toprank.networks.rows import Dealer, Scaling

__all__ = ["Plan", "Trained", "train"]

Ints = NDArray[np.intp]
Judge = Callable[[Any], float]
"""From a network to how good it is, on rows it does not learn from; the more the better."""


@dataclass(frozen=True)
class Plan:
    """How to train.

    Parameters
    ----------
    learning_rate, alpha : float
        Of Adam: its step, and the price of large weights.
    max_iter : int
        Passes over the rows.
    patience : int
        Passes to wait for an improvement where there is a judge.
    batch_size : int
    precision : {"double", "single", "mixed"}
    device : torch.device
    """

    learning_rate: float
    alpha: float
    max_iter: int
    patience: int
    batch_size: int
    precision: str
    device: Any

    @property
    def dtype(self) -> Any:
        return torch.float64 if self.precision == "double" else torch.float32

    def forward(self) -> AbstractContextManager[Any]:
        """Half precision inside the network where mixed precision is asked for."""
        if self.precision != "mixed":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)


@dataclass
class Trained:
    """What came out: the weights of the best pass (the last, where nobody judged), and how it went."""

    weights: dict[str, NDArray[Any]] = field(default_factory=dict)
    best: int = 0
    losses: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    last_loss: float = np.inf


def train(
    network: Any,
    X: Matrix,
    scaling: Scaling,
    dealer: Dealer,
    objective: Callable[[Ints], TensorLoss],
    plan: Plan,
    run: Run,
    judge: Judge | None = None,
) -> Trained:
    """Train a network in place until the plan is done, the run stops, or the judge has seen no gain for long.

    The clock, Ctrl-C and the callback are heard after every batch.

    Parameters
    ----------
    network : torch.nn.Module
    X, scaling, dealer
        Rows, how they are standardised, and the batches they come in.
    objective : callable
        The loss of some rows, as a function of their scores.
    plan : Plan
    run : Run
    judge : callable, optional
    """
    network.to(plan.device, plan.dtype)
    steps = torch.optim.Adam(network.parameters(), lr=plan.learning_rate, weight_decay=plan.alpha)
    feed, known = _Feed(X, scaling, plan), _Remembered(objective, dealer.fixed)
    found, best, began = Trained(), -np.inf, time.perf_counter()
    goes_on = True
    while goes_on and len(found.losses) < plan.max_iter:
        total, count = 0.0, 0
        for rows in dealer.passes(run.rng):
            with remedied(plan.batch_size):
                found.last_loss = _step(network, steps, feed(rows), known(rows), plan, len(found.losses))
            total, count = total + found.last_loss * len(rows), count + len(rows)
            progress = Progress(found.last_loss, iterations=len(found.losses), phase="training")
            goes_on = run.report(progress)
            if not goes_on:
                break
        found.losses.append(total / count)
        found.seconds.append(time.perf_counter() - began)
        if judge is not None:
            found.values.append(judge(network))
            if found.values[-1] > best or not found.weights:
                best, found.best, found.weights = found.values[-1], len(found.losses), weights_of(network)
            goes_on = goes_on and len(found.losses) - found.best < plan.patience
    if judge is None:
        found.best, found.weights = len(found.losses), weights_of(network)
    return found


def _step(network: Any, steps: Any, batch: Any, loss_of: TensorLoss, plan: Plan, done: int) -> float:
    """One step on one batch: the loss before it."""
    network.train()
    steps.zero_grad()
    with plan.forward():
        output = network(batch)
    scores = one_score_a_row(output, len(batch)).to(plan.dtype)
    if not bool(torch.isfinite(scores).all()):
        raise ValueError(_diverged("a score", plan, done))
    loss = loss_of(scores)
    value = float(loss.detach())
    if not np.isfinite(value):
        raise ValueError(_diverged("the loss", plan, done))
    loss.backward()
    steps.step()
    return value


def _diverged(what: str, plan: Plan, done: int) -> str:
    return (
        f"{what} of the network is not a finite number any more, in pass {done + 1}: lower"
        f" learning_rate={plan.learning_rate}, leave standardize on, or look into the network."
    )


class _Feed:
    """Batches as tensors on the device; dense rows are standardised and moved there once."""

    def __init__(self, X: Matrix, scaling: Scaling, plan: Plan) -> None:
        self._X, self._scaling, self._plan = X, scaling, plan
        self._whole = self._tensor(X) if isinstance(X, np.ndarray) else None

    def _tensor(self, rows: Any) -> Any:
        with remedied(self._plan.batch_size):
            return torch.as_tensor(self._scaling.apply(rows), dtype=self._plan.dtype).to(self._plan.device)

    def __call__(self, rows: Ints) -> Any:
        if self._whole is None:
            return self._tensor(self._X[rows])
        return self._whole[torch.as_tensor(rows, device=self._plan.device)]


class _Remembered:
    """The objective of some rows; that of a batch that comes again and again is made once."""

    def __init__(self, objective: Callable[[Ints], TensorLoss], fixed: bool) -> None:
        self._objective, self._fixed = objective, fixed
        self._known: TensorLoss | None = None

    def __call__(self, rows: Ints) -> TensorLoss:
        if not self._fixed:
            return self._objective(rows)
        if self._known is None:
            self._known = self._objective(rows)
        return self._known
