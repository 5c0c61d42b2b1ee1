"""What a paper did, as plain values: data, splits, rankers, measures, printed figures, claims.

A declaration computes nothing. `toprank.reproduce.cells` turns it into cells (one ranker on one split of one
data set), `toprank.reproduce.runner` computes them, `toprank.reproduce.pages` sets our figures beside the
printed ones. Two arms that ask for the same computation share their cells, whatever they are called: Table 1
and Table 7 of a paper may both show the same runs.

Examples
--------
A paper with one data set, two rankers and one table of two printed figures:

>>> pima = Experiment(
...     name="pima",
...     source=Source(title="Pima", catalog=("pima",)),
...     splits=RandomSplits(count=10, train=0.5),
...     measures=(Measure("auc", title="AUC", statistic="auc"),),
...     arms=(
...         Arm("lr", title="LR", ranker="LogisticRegression", parameters={"C": 1e4}),
...         Arm("svm", title="RankSVM", ranker="RankSVM", grid={"C": (0.1, 1.0, 10.0)},
...             choose=CrossValidation(statistic="average_precision", folds=5), seconds=0.4),
...     ),
... )
>>> table = Table(
...     "table1", title="Results on Pima", rows=("arm",), columns=("measure",),
...     entries=(
...         Entry("pima", "lr", "auc", mean=0.83, deviation=0.02),
...         Entry("pima", "svm", "auc", mean=0.84),
...         Entry("pima", "svm", "auc", part="train"),  # ours alone: nothing printed
...     ),
... )
>>> paper = Paper(
...     name="someone-2020", title="Ranking", authors="Some One", citation="Journal 1 (2020)",
...     experiments=(pima,), tables=(table,),
...     claims=(Claim("RankSVM beats LR.", kind="better", experiment="pima", arm="svm", than=("lr",),
...                   measure="auc", significant=False),),
...     deviations=("The paper does not print its splits; ours are drawn anew.",),
... )
>>> paper.experiment("pima").arm("svm").title
'RankSVM'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toprank.reproduce.protocol import (
    BestAverage,
    BestOnTest,
    Choice,
    ConsecutiveParts,
    CrossValidation,
    GivenFolds,
    RandomSplits,
    Splits,
    StratifiedSplits,
    WholeSet,
)
from toprank.reproduce.tables import Claim, Drawing, Entry, Table

__all__ = [
    "Arm",
    "BestAverage",
    "BestOnTest",
    "Choice",
    "Claim",
    "ConsecutiveParts",
    "CrossValidation",
    "Drawing",
    "Entry",
    "Experiment",
    "GivenFolds",
    "Measure",
    "Paper",
    "RandomSplits",
    "Source",
    "Splits",
    "StratifiedSplits",
    "Table",
    "WholeSet",
    "with_paper_limits",
]

Scaling = Literal["standard", "unit interval", "none"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the rows come from: exactly one of `catalog`, `maker`, `items` and `file` is set.

    Parameters
    ----------
    title : str
        What the paper calls it.
    catalog : tuple of str
        Names for `toprank.datasets.load`; several are put below each other, and `GivenFolds` splits by them.
    maker : str
        A public function of `toprank.datasets` that makes (X, y), called with `options`.
    items : tuple of (label, score)
        The rows themselves, the score being their only feature.
    file : str
        For data that cannot be had: the file a user may put into the folder TOPRANK_DATA; without it
        everything about this source is "data not available".
    file_format : str
        What that file has to look like, in a sentence.
    all_columns : bool
        Keep identifiers and columns that give the label away, as the paper did.
    drop : tuple of str
        Columns left out, after that.
    relevant_from : float or None
        Graded labels of at least this much are positive; None: labels are 0 and 1 already.
    most_rows : int or None
        Keep only about so many rows, spread evenly over each class: for a rehearsal.
    stands_in_for : str
        What this is not: the data of the paper that could not be had. Said wherever the figures are shown.
    note : str
        Which rows and columns are used and why, in a sentence.
    """

    title: str
    catalog: tuple[str, ...] = ()
    maker: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[tuple[int, float], ...] = ()
    file: str = ""
    file_format: str = ""
    all_columns: bool = False
    drop: tuple[str, ...] = ()
    relevant_from: float | None = None
    most_rows: int | None = None
    stands_in_for: str = ""
    note: str = ""


@dataclass(frozen=True)
class Arm:
    """A ranker in the experiment, as a column or row of a table.

    Parameters
    ----------
    name : str
        Short, for ``--only``; unique within the experiment.
    title : str
        What the table calls it.
    ranker : str
        A public ranker of `toprank`; ``"LogisticRegression"``, ``"LinearSVC"`` or ``"SVC"`` of scikit-learn;
        ``"GivenCoefficients"`` with parameter ``coef``, a list. Empty: from the paper only.
    parameters : mapping
        Fixed parameters of the ranker: numbers, text, lists.
    grid : mapping of parameter to tuple of values
        All combinations are tried, and one is kept as `choose` says.
    choose : CrossValidation, BestOnTest, BestAverage or None
        None only without a grid. `BestOnTest` and `BestAverage` choose among the stored results of all
        points, so that arms that differ in them alone share their cells.
    scaling : {"standard", "unit interval", "none"}
        Of the features: mean 0 and deviation 1 on the training part, or range [0, 1] over both parts.
    top : int, "all" or None
        Rerank so many training rows at the top of a first list with this ranker; "all" of them; None: no
        first list.
    base : str
        Who makes the first list, with `base_parameters`.
    time_limit : float or None
        Seconds for each fit at budget 1, for rankers with a ``time_limit``; on one thread.
    seconds : float or None
        What one cell takes at budget 1, measured or guessed; None: `time_limit`, else a second.
    group : str
        A heading over several arms in a table.
    beyond : bool
        Whether the paper knows nothing of it: our own column.
    history : bool
        Whether to keep how value and bound met.
    curve : bool
        Whether to keep the ROC curve on the test part.
    paper_limit : float or None
        Seconds that the paper gave its solver, for `with_paper_limits`.
    """

    name: str
    title: str
    ranker: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    choose: Choice | None = None
    scaling: Scaling = "standard"
    top: int | Literal["all"] | None = None
    base: str = "LogisticRegression"
    base_parameters: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    seconds: float | None = None
    group: str = ""
    beyond: bool = False
    history: bool = False
    curve: bool = False
    paper_limit: float | None = None

    @property
    def from_paper_only(self) -> bool:
        """Whether its figures are only quoted."""
        return not self.ranker

    @property
    def expected_seconds(self) -> float:
        """What one cell takes at budget 1."""
        if self.seconds is not None:
            return self.seconds
        return 1.0 if self.time_limit is None else self.time_limit


@dataclass(frozen=True)
class Measure:
    """What is reported about a list.

    Parameters
    ----------
    name : str
        Short; unique within the experiment.
    title : str
        What the table calls it.
    statistic : str
        For `toprank.statistics.get`: ``"dcg"``, ``"precision@5%"``, ...; or ``"subrank"`` and
        ``"resolved_rank"``, one number for each item.
    loss : {"", "hinge", "exponential"}
        Instead of a statistic: the mean over pairs of a convex loss of the difference in score.
    scale : float
        The value is multiplied by this: 1 / ln 2 makes the natural-log DCG.
    digits : int
        Digits after the point, as printed.
    """

    name: str
    title: str
    statistic: str = ""
    loss: Literal["", "hinge", "exponential"] = ""
    scale: float = 1.0
    digits: int = 2

    @property
    def per_item(self) -> bool:
        """Whether it is one number for each item instead of one for the list."""
        return self.statistic in ("subrank", "resolved_rank")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One data set, one way to split it, and everyone who was tried on it.

    `name` is what ``--only`` calls it; unique within the paper. Every measure is stored for the training and
    the test part of every cell.
    """

    name: str
    source: Source
    splits: Splits
    measures: tuple[Measure, ...]
    arms: tuple[Arm, ...]

    def arm(self, name: str) -> Arm:
        """The arm of that name."""
        return _named(self.arms, name, f"arm of experiment {self.name!r}")

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        return _named(self.measures, name, f"measure of experiment {self.name!r}")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """Everything of one paper.

    Parameters
    ----------
    name : str
        For the command line: ``"rudin-wang-2018"``.
    title, authors, citation : str
    experiments : tuple of Experiment
    tables : tuple of Table
    drawings : tuple of Drawing
    claims : tuple of Claim
    deviations : tuple of str
        Where we knowingly do something else, and why; whole sentences.
    remarks : tuple of str
        What a reader should know about the figures: where we differ and why; whole sentences.
    """

    name: str
    title: str
    authors: str
    citation: str
    experiments: tuple[Experiment, ...]
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...] = ()
    claims: tuple[Claim, ...] = ()
    deviations: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def experiment(self, name: str) -> Experiment:
        """The experiment of that name."""
        return _named(self.experiments, name, f"experiment of {self.name}")


def with_paper_limits(paper: Paper) -> Paper:
    """The same with the time limits of the paper, where an arm knows them.

    >>> from toprank.reproduce import paper
    >>> with_paper_limits(paper("rudin-wang-2018")).experiment("uis").arm("subrank50").time_limit
    7200.0
    """
    return replace(
        paper, experiments=tuple(replace(one, arms=_as_long(one.arms)) for one in paper.experiments)
    )


def _as_long(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    return tuple(
        arm if arm.paper_limit is None else replace(arm, time_limit=arm.paper_limit, seconds=None)
        for arm in arms
    )


def _named(values: tuple[Any, ...], name: str, what: str) -> Any:
    for value in values:
        if value.name == name:
            return value
    raise KeyError(f"no {what} is called {name!r}")
