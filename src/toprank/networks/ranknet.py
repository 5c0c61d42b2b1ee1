"""`RankNet`: a network trained on the pairs of a list, or for its top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.base import TWO_LABELS, RankingData
from toprank.control import Callback, Seed
from toprank.labels import KINDS, LabelKind
from toprank.losses.objectives import Labels, make_objective
from toprank.networks.base import NetworkRanker
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count, check_share
from toprank.statistics import RankStatistic

__all__ = ["RankNet"]

Ints = NDArray[np.intp]
OVER_PAIRS = ["cross_entropy", "hinge", "squared_hinge"]
AT_TOP = ["p_norm", "top_push", "at_top", "ndcg"]


class RankNet(NetworkRanker):
    """Trains a network so that sigmoid(s_i - s_j) is the probability that i belongs above j.

    The cross entropy over all pairs of a list (Burges et al. 2005; Werner 2020, Section 3.4), or another
    loss of the library, at the price of a sort: value and gradient in the scores are computed for all pairs
    at once, and back-propagation does the rest. Needs PyTorch: ``pip install toprank[torch]``.

    Lists are taken a mini-batch at a time, each with labels in the shares of the whole; with `qid` a batch is
    whole queries, rows are compared within their query, and every query counts the same. With sample weights
    a pair weighs the product of its rows' weights.

    Parameters
    ----------
    loss : {"cross_entropy", "hinge", "squared_hinge", "p_norm", "top_push", "at_top", "ndcg"}
        Over pairs, i above j: log(1 + exp(-(s_i - s_j))), or max(0, 1 - (s_i - s_j)), or its square. Of the
        top: the p-norm push (Rudin 2009); positives against the highest negatives (Li, Jin & Zhou 2014), or
        against the top share of all rows (Pat&Mat); pairs that weigh what their swap costs NDCG@k
        (LambdaRank; Burges 2010).
    target : {"order", "difference"}
        Of the cross entropy: pairs with different labels, the target 1 for the higher; or all pairs, the
        target the sigmoid of the difference of their labels in units of their standard deviation.
    p : float
        Of the p-norm push: the larger, the more the highest negatives count.
    negative_share : float or None
        The share of the negatives, the highest of each list, that positives are compared with: localized
        pairs (the partial AUC), or the threshold of "top_push". None is all of them; for "top_push" the
        highest.
    top_share : float
        Of "at_top": the share of the list that is acted on.
    k : int
        Of "ndcg": positions that count.
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
    levels : {"auto", "binary", "ordinal", "continuous"}
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top (losses over pairs;
        grades for "ndcg" too); "auto" tells it from `y`.
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
        The value is the loss of the last batch.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from toprank import RankNet
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> ranker = RankNet(hidden_layers=(16,), random_state=0).fit(X[:300], y[:300])
    >>> bool(ranker.score(X[300:], y[300:]) > 0.9)
    True
    >>> ranker.transform(X[300:]).shape
    (100, 16)
    """

    def __init__(
        self,
        loss: str = "cross_entropy",
        *,
        target: str = "order",
        p: float = 4.0,
        negative_share: float | None = None,
        top_share: float = 0.1,
        k: int = 10,
        hidden_layers: Sequence[int] = (32,),
        activation: str = "tanh",
        network: Any = None,
        batch_size: int = 256,
        learning_rate: float = 0.01,
        alpha: float = 1e-4,
        max_iter: int = 100,
        standardize: bool = True,
        statistic: str | RankStatistic = "auc",
        validation_fraction: float | None = None,
        n_iter_no_change: int = 10,
        device: str = "auto",
        precision: str = "auto",
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.target = target
        self.p = p
        self.negative_share = negative_share
        self.top_share = top_share
        self.k = k
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
        self.levels = levels
        self.time_limit = time_limit
        self.random_state = random_state
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    # -- learning -----------------------------------------------------------------------------

    def _check_own(self) -> None:
        check_choice("loss", self.loss, [*OVER_PAIRS, *AT_TOP])
        check_choice("target", self.target, ["order", "difference"])
        check_at_least("p", self.p, 1)
        check_count("k", self.k)
        check_share("top_share", self.top_share, "the list")
        if self.negative_share is not None and self.negative_share != 1:
            check_share("negative_share", self.negative_share, "the negatives")

    def _objective(self, data: RankingData) -> Callable[[Ints], Any]:
        from toprank.networks.objectives import as_torch, logistic_pairs

        name = {"cross_entropy": "logistic"}.get(self.loss, self.loss)
        if self._by_difference():
            name = "cross_entropy"
        unit = float(np.std(data.grade)) or 1.0
        whole = Labels(data.grade, data.qid, data.sample_weight)

        def loss_of(rows: Ints) -> Any:
            part = whole.take(rows)

            @cache  # not made at all where an accelerator needs none
            def made() -> Any:
                return as_torch(make_objective(part, name, unit=unit, **self._loss_options()))

            def loss(scores: Any) -> Any:
                return made()(scores)

            plain = name == "logistic" and self.negative_share is None
            return logistic_pairs(part, loss) if plain else loss

        return loss_of

    def _loss_options(self) -> dict[str, Any]:
        return {
            "p": float(self.p),
            "negative_share": self.negative_share,
            "top_share": float(self.top_share),
            "k": int(self.k),
        }

    def _by_difference(self) -> bool:
        return self.loss == "cross_entropy" and self.target == "difference"

    def _prepare(self, data: RankingData) -> None:
        known = {"cross_entropy": "logistic"}.get(self.loss, self.loss)
        if known in [*OVER_PAIRS, *AT_TOP, "logistic"]:
            make_objective(Labels(np.array([0.0, 1.0])), known)(np.zeros(2))

    # -- tags ---------------------------------------------------------------------------------

    def _label_kinds(self) -> frozenset[LabelKind]:
        if self.negative_share is not None or self.loss in ("p_norm", "top_push", "at_top"):
            return TWO_LABELS
        return frozenset({"binary", "ordinal"}) if self.loss == "ndcg" else KINDS

    def _why_not(self, kind: LabelKind) -> str:
        if self.loss == "ndcg":
            return "loss='ndcg' needs grades; a loss over all pairs takes any numbers"
        what = f"loss={self.loss!r}" if self.loss in AT_TOP else "negative_share"
        return f"{what} needs two labels; a loss over all pairs takes any numbers"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.weights = self.loss != "ndcg"
        tags.ranker_tags.at_top = self.loss in AT_TOP or self.negative_share is not None
        return tags
