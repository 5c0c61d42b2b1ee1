"""`SoDeepRanker`: a network trained on statistics of ranks, through ranks that can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from toprank.base import TWO_LABELS, RankingData
from toprank.control import Callback, Seed
from toprank.labels import KINDS, LabelKind
from toprank.networks.base import NetworkRanker
from toprank.rankers.parts.parameters import check_at_least, check_choice, check_count
from toprank.statistics import RankStatistic

__all__ = ["SoDeepRanker"]

Ints = NDArray[np.intp]
LOSSES = ["spearman", "average_precision", "recall", "mean_rank"]
SORTERS = ["learned", "sigmoid", "neural_sort", "projection"]


class SoDeepRanker(NetworkRanker):
    """Trains a network on Spearman's correlation, average precision or recall, through soft ranks.

    A second network turns the scores of a list into their ranks; it is learned once on made-up lists and
    can be differentiated, so that whatever is a function of ranks can be lowered (Engilberge et al. 2019,
    "SoDeep"; Werner 2020, Section 3.4). It is trained where it is first needed, in less than a minute, and
    kept in the user's cache (`TOPRANK_CACHE` names another folder). Closed forms can stand in its place.
    Scores are standardised within their list first. All but "projection" look at all pairs of a list, in
    memory too: `batch_size` limits it. Needs PyTorch: ``pip install toprank[torch]``.

    Parameters
    ----------
    loss : {"average_precision", "spearman", "recall", "mean_rank"}
        With soft ranks r, 1 the best: 1 - mean over positives of r among the positives / r; 1 - Spearman's
        correlation with the ranks of the labels; 1 - the share of positives among the first k, their places
        counted softly; or the mean rank of the positives, which is what the paper prints for average
        precision and equals the AUC where ranks are hard.
    sorter : {"learned", "sigmoid", "neural_sort", "projection"}
        Who gives the ranks: the network that was learned; sums of sigmoids of differences (Qin et al.
        2010); NeuralSort (Grover et al. 2019); the projection onto all permutations by isotonic regression
        (Blondel et al. 2020), in n log n.
    temperature : float
        Of the closed forms: the larger, the softer the ranks; in units of the spread of the scores.
    k : int
        Of "recall": how many places of a list count.
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
        What `y` is: two labels, grades or any numbers, the higher the nearer to the top ("spearman"
        only); "auto" tells it from `y`.
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
    >>> from toprank import SoDeepRanker
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> ranker = SoDeepRanker(sorter="sigmoid", hidden_layers=(16,), random_state=0).fit(X[:300], y[:300])
    >>> bool(ranker.score(X[300:], y[300:]) > 0.9)
    True
    """

    def __init__(
        self,
        loss: str = "average_precision",
        *,
        sorter: str = "learned",
        temperature: float = 0.1,
        k: int = 10,
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
        levels: str = "auto",
        time_limit: float | None = None,
        random_state: Seed = None,
        pos_label: Any = None,
        callback: Callback | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.sorter = sorter
        self.temperature = temperature
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
        check_choice("loss", self.loss, LOSSES)
        check_choice("sorter", self.sorter, SORTERS)
        check_count("k", self.k)
        if not check_at_least("temperature", self.temperature, 0) > 0:
            raise ValueError(f"temperature={self.temperature} must be above 0: ranks would have no gradient.")

    def _prepare(self, data: RankingData) -> None:
        if self.sorter == "learned":
            from toprank.networks.sorting import learned_sorter

            learned_sorter()

    def _objective(self, data: RankingData) -> Callable[[Ints], Any]:
        from toprank.networks.soft_ranks import list_loss, make_sorter

        sorter = make_sorter(self.sorter, float(self.temperature))

        def loss_of(rows: Ints) -> Any:
            parts = _lists(rows, data)
            labels = [data.grade[rows[part]] for part in parts]
            wanted = [
                rankdata(-one) if self.loss == "spearman" else (one > 0).astype(np.float64) for one in labels
            ]
            return list_loss(self.loss, sorter, parts, wanted, int(self.k))

        return loss_of

    # -- tags ---------------------------------------------------------------------------------

    def _label_kinds(self) -> frozenset[LabelKind]:
        return KINDS if self.loss == "spearman" else TWO_LABELS

    def _why_not(self, kind: LabelKind) -> str:
        return f"loss={self.loss!r} needs two labels; loss='spearman' takes any numbers"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.ranker_tags.at_top = self.loss not in ("spearman", "mean_rank")
        tags.ranker_tags.weak = self.loss == "recall"
        return tags


def _lists(rows: Ints, data: RankingData) -> list[Ints]:
    """The places of each list in a batch."""
    if data.qid is None:
        return [np.arange(len(rows))]
    query = data.qid[rows]
    order = np.argsort(query, kind="stable")
    return [np.asarray(one) for one in np.split(order, np.flatnonzero(np.diff(query[order])) + 1)]
