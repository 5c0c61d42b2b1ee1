"""What all networks share: parameters checked, rows standardised, training, scores, the last hidden layer."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import TransformerTags
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.base import Matrix, RankingData, WatchedRanker
from toprank.control import Outcome, Run, Status
from toprank.networks.rows import Dealer, Scaling
from toprank.rankers.parts.boosting import split_rows
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count

__all__ = ["NetworkRanker"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
PRECISIONS = ["auto", "double", "single", "mixed"]


class NetworkRanker(WatchedRanker):
    """A ranker whose score is the output of a network, trained by PyTorch.

    A subclass says in `_objective` what is lowered. What was learned is kept as arrays, so that a fitted
    ranker copies, pickles and is saved without PyTorch's types; scores are computed in double precision on
    the CPU, whatever the network was trained on.

    Attributes
    ----------
    weights_ : dict of str to ndarray
        The weights of the network, those of the best pass where rows were held out.
    mean_, scale_ : ndarrays of shape (n_features,)
        How columns are standardised.
    history_ : dict of str to ndarray
        "loss", the mean over the batches of each pass; "value", the statistic of held-out rows after it;
        "seconds" since training began.
    n_iter_ : int
        Passes up to the weights that were kept.
    """

    hidden_layers: Any
    activation: str
    network: Any
    batch_size: int
    learning_rate: float
    alpha: float
    max_iter: int
    standardize: bool
    validation_fraction: float | None
    n_iter_no_change: int
    device: str
    precision: str
    statistic: Any
    weights_: dict[str, NDArray[Any]]
    mean_: Floats
    scale_: Floats
    history_: dict[str, Floats]
    n_iter_: int

    # -- what a network implements ------------------------------------------------------------

    @abstractmethod
    def _objective(self, data: RankingData) -> Callable[[Ints], Any]:
        """From row numbers to the loss of their scores, a function of a tensor."""

    @abstractmethod
    def _check_own(self) -> None:
        """Check the parameters that only this ranker has."""

    # -- learning -----------------------------------------------------------------------------

    def _fit(self, data: RankingData, run: Run) -> Outcome:
        from toprank.networks.modules import build, seeded, weights_of
        from toprank.networks.training import train

        self._check_own()
        plan = self._plan()
        part, held = split_rows(data, self.validation_fraction, run.rng)
        dealer = Dealer(part, plan.batch_size)
        weight = None if part.sample_weight is None else part.sample_weight[dealer.rows]
        scaling = (
            Scaling.of(part.X[dealer.rows], weight) if self.standardize else Scaling.none(data.X.shape[1])
        )
        self.mean_, self.scale_ = scaling.mean, scaling.scale
        with seeded(int(run.rng.integers(2**31 - 1)), plan.device):
            network = build(self.network, data.X.shape[1], self._sizes(), self.activation)
            self.weights_ = weights_of(network)
            judge = None if held is None else self._judge(held, scaling)
            found = train(network, part.X, scaling, dealer, self._objective(part), plan, run, judge)
        self.weights_, self.n_iter_ = found.weights, max(1, found.best)
        self.history_ = {
            "loss": np.array(found.losses),
            "value": self._sign() * np.array(found.values),
            "seconds": np.array(found.seconds),
        }
        status = run.stopped_by or Status.FINISHED
        return Outcome(found.last_loss, status=status, seconds=run.seconds, iterations=len(found.losses))

    def _plan(self) -> Any:
        from toprank.networks.modules import ACTIVATIONS, find_device
        from toprank.networks.training import Plan

        check_choice("activation", self.activation, list(ACTIVATIONS))
        check_choice("precision", self.precision, PRECISIONS)
        device = find_device(self.device)
        precision = self.precision
        if precision == "auto":
            precision = "double" if device.type == "cpu" else "single"
        return Plan(
            learning_rate=check_at_least("learning_rate", self.learning_rate, 0),
            alpha=check_at_least("alpha", self.alpha, 0),
            max_iter=check_count("max_iter", self.max_iter),
            patience=check_count("n_iter_no_change", self.n_iter_no_change),
            batch_size=check_count("batch_size", self.batch_size, 2),
            precision=precision,
            device=device,
        )

    def _sizes(self) -> list[int]:
        given = self.hidden_layers
        sizes = [given] if isinstance(given, (int, np.integer)) else list(given)
        return [check_count("hidden_layers", one) for one in sizes]

    def _judge(self, held: RankingData, scaling: Scaling) -> Callable[[Any], float]:
        """How good a network is on held-out rows, by the statistic."""
        import torch

        from toprank.networks.modules import BLOCK, one_score_a_row

        statistic, sign = self._scored_by(), self._sign()

        def judge(network: Any) -> float:
            network.eval()
            first = next(network.parameters())
            scores = []
            with torch.no_grad():
                for begin in range(0, len(held.y), BLOCK):
                    rows = torch.as_tensor(scaling.apply(held.X[begin : begin + BLOCK]), dtype=first.dtype)
                    output = one_score_a_row(network(rows.to(first.device)), len(rows))
                    scores.append(output.to("cpu", torch.float64).numpy())
            whole = np.nan_to_num(np.concatenate(scores))
            return sign * float(statistic(held.grade, whole, qid=held.qid, sample_weight=held.sample_weight))

        return judge

    def _sign(self) -> float:
        """What turns the statistic so that more is better."""
        return 1.0 if self._scored_by().greater_is_better else -1.0

    @property
    def validation_values_(self) -> Floats:
        """The statistic of the rows that were held out, or brought to stop by, after each pass."""
        return self.history_["value"]

    # -- ranking ------------------------------------------------------------------------------

    def _module(self) -> Any:
        from toprank.networks.modules import build, find_device, load, seeded

        # A new network draws weights, which are replaced: not from the user's random numbers.
        with seeded(0, find_device("cpu")):
            fresh = build(self.network, len(self.mean_), self._sizes(), self.activation)
        return load(fresh, self.weights_)

    def _scores(self, X: Matrix) -> Floats:
        from toprank.networks.modules import scores_of

        return scores_of(self._module(), _Standardised(X, Scaling(self.mean_, self.scale_)))

    def transform(self, X: ArrayLike) -> Floats:
        """The last hidden layer: what the last linear layer of the network adds up to the score.

        In a pipeline a network is so the features of the ranker behind it; a fitted one, frozen
        (`sklearn.frozen.FrozenEstimator`), those of a reranker that proves what it does with them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_units)
        """
        from toprank.networks.modules import last_hidden

        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, **self._accepted())
        return last_hidden(self._module(), _Standardised(rows, Scaling(self.mean_, self.scale_)))

    def fit_transform(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Floats:
        """Learn to rank, then give the last hidden layer of the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    # -- saving -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted ranker to a ``.safetensors`` file: weights as they are, the rest as JSON."""
        from toprank.networks.saving import save_network

        check_is_fitted(self)
        save_network(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, network: Any = None) -> Self:
        """Read a ranker that `save` wrote.

        Parameters
        ----------
        path : path-like
        network : torch.nn.Module or callable, optional
            The network it was made with, where that was not the usual one: a file holds no code.
        """
        from toprank.networks.saving import load_network

        found = load_network(path, network=network)
        if not isinstance(found, cls):
            raise ValueError(f"{str(path)!r} holds a {type(found).__name__}, not a {cls.__name__}.")
        return found

    # -- tags ---------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        tags.ranker_tags.queries = True
        return tags


class _Standardised:
    """Rows that are standardised when they are asked for, some at a time."""

    def __init__(self, X: Matrix, scaling: Scaling) -> None:
        self._X, self._scaling = X, scaling

    def __len__(self) -> int:
        return int(self._X.shape[0])

    def __getitem__(self, rows: slice) -> Floats:
        return self._scaling.apply(self._X[rows])
