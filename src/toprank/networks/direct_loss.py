"""`DirectLossRanker`: a network trained on average precision itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import RankingData
from toprank.control import Callback, Seed
from toprank.losses.direct_loss import UPDATES, DirectLoss, direct_order
from toprank.networks.base import NetworkRanker
from toprank.rankers.parts.parameters import check_at_least, check_choice
from toprank.statistics import RankStatistic

__all__ = ["DirectLossRanker"]

Ints = NDArray[np.intp]


class DirectLossRanker(NetworkRanker):
    """Trains a network on average precision itself, whose gradient is found by searching for other orders.

    The order of the scores is the one with the largest F, a sum over pairs; the order with the largest F
    plus a little of the loss lies in the direction in which the loss changes, and the difference of the two
    gradients of F, divided by that little, is the gradient of the expected loss (Song et al. 2016; Werner
    2020, Section 3.4). The other order is found by a dynamic program over (positives placed, negatives
    placed), in time and memory proportional to the positives times the negatives of a list, which
    `batch_size` limits. Needs PyTorch: ``pip install toprank[torch]``.

    Parameters
    ----------
    update : {"both", "positive", "negative"}
        Whether the order is pulled towards a worse list, towards a better one, or the mean of both is taken.
    epsilon : float
        How much of the loss is added: the larger, the smoother and the less exact the gradient.
    hidden_layers : sequence of int
        Units of each hidden layer; one layer is the two-layer network of the paper.
    activation : {"tanh", "relu", "sigmoid"}
        Of the hidden units.
    network : torch.nn.Module, callable or None
        Any network with one output for each row; it is copied, and training begins from its weights. A
        function gets the number of features and makes one. None is the usual network.
    batch_size : int
        Rows in a mini-batch, about.
    learning_rate : float
        Step of Adam.
    alpha : float
        The price of large weights (weight decay).
    max_iter : int
        Passes over the rows.
    standardize : bool
        Whether columns are centred and scaled inside.
    statistic : str or RankStatistic
        What `score` reports and held-out rows are judged by; any statistic will do.
    validation_fraction : float or None
        Share of the rows (queries) to hold out; training stops when the statistic there has not improved for
        `n_iter_no_change` passes, and the best pass is kept. Not looked at where `fit` gets rows
        to stop by (`X_val`, `y_val`).
    n_iter_no_change : int
        Passes to wait for an improvement.
    device : str
        "auto" is the accelerator that is there, else the CPU; or any name PyTorch knows.
    precision : {"auto", "double", "single", "mixed"}
        Of the training; "auto" is double on the CPU and single elsewhere, "mixed" computes inside the network
        in bfloat16.
    time_limit : float or None
        Seconds; None for no limit. Looked at after every batch.
    random_state : int, Generator, RandomState or None
        First weights, batches, and which rows are held out.
    pos_label : label or None
        The label that belongs at the top; None: the larger number, or the yes of yes and no.
    callback : callable or None
        Called with a `Progress` now and then; returning False stops the fit, anything else goes on.
    verbose : int
        Whether to print progress.

    Attributes
    ----------
    weights_ : dict of str to ndarray
        The weights of the network, those of the best pass where rows were held out.
    mean_, scale_ : ndarrays of shape (n_features,)
        How columns are standardised.
    history_ : dict of str to ndarray
        "loss" of each pass, "value" of the rows held out or brought after it, "seconds" since training began;
        `toprank.report.LearningCurveDisplay` draws it.
    n_iter_ : int
        Passes up to the weights that were kept.
    outcome_ : Outcome
        The value is 1 less the average precision of the last batch.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from toprank import DirectLossRanker
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> ranker = DirectLossRanker(hidden_layers=(16,), random_state=0).fit(X[:300], y[:300])
    >>> bool(ranker.score(X[300:], y[300:]) > 0.9)
    True
    """

    def __init__(
        self,
        update: str = "both",
        *,
        epsilon: float = 1.0,
        hidden_layers: Sequence[int] = (32,),
        activation: str = "tanh",
        network: Any = None,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        alpha: float = 1e-4,
        max_iter: int = 100,
        standardize: bool = True,
        statistic: str | RankStatistic = "average_precision",
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        device: str = "auto",
        precision: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.update = update
        self.epsilon = epsilon
        self.hidden_layers = hidden_layers
        self.activation = activation
        self.network = network
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.max_iter = max_iter
        self.standardize = standardize
        self.statistic = statistic
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.device = device
        self.precision = precision
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    # -- learning -----------------------------------------------------------------------------

    def _check_own(self) -> None:
        check_choice("update", self.update, list(UPDATES))
        if not check_at_least("epsilon", self.epsilon, 0) > 0:
            raise ValueError(f"epsilon={self.epsilon} must be above 0: the gradient is divided by it.")

    def _objective(self, data: RankingData) -> Callable[[Ints], Any]:
        from toprank.networks.objectives import as_torch

        def loss_of(rows: Ints) -> Any:
            qid = None if data.qid is None else data.qid[rows]
            loss = DirectLoss.from_labels(
                data.y[rows], qid=qid, epsilon=float(self.epsilon), update=self.update
            )
            return as_torch(loss.at)

        return loss_of

    def _prepare(self, data: RankingData) -> None:
        direct_order(np.zeros(1), np.zeros(1), 0.0)

    # -- tags ---------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.at_top = True
        return tags
