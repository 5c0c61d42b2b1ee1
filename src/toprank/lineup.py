"""The rankers a user can choose from and compare.

Every public ranker class joins `toprank compare` by being public; what it should be called in the table is
one line in `LABELS`. The one that reranks the top is named in `RERANKER`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args

from toprank.base import BaseRanker, RankerTags
from toprank.contenders import others
from toprank.control import Callback
from toprank.labels import KINDS, LabelKind

__all__ = [
    "BASELINE",
    "BASES",
    "ENSEMBLE",
    "LINEAR_BASES",
    "RERANK",
    "RERANKER",
    "SHORT_NAMES",
    "Contender",
    "Settings",
    "capabilities",
    "capability_table",
    "lineup",
    "make_base",
    "make_named",
    "make_reranker",
    "named_rankers",
    "problem_map",
    "problem_table",
]

BASELINE = "logistic regression"
"""The contender every other one has to beat."""

BASES = {"logistic": BASELINE, "forest": "random forest", "boosting": "gradient boosting"}
"""Who can make the first list, and what to call it."""

LINEAR_BASES = frozenset({"logistic"})
"""Those whose models are lists of numbers."""

ENSEMBLE, RERANK = "ensemble", "rerank"
"""Short names of the blend of several rankers, and of the base whose top is reranked."""

RERANKER = "ExactRanker"
"""The public class that reranks the top of the first list."""

LABELS = {
    "DirectRanker": "direct search, whole list",
    "BaggedRanker": "bagged direct search",
    "TopEnsemble": "ensemble",
}
"""What the table calls a ranker; the name of its class where nothing is said."""

LEFT_OUT = frozenset({"RankThenRerank", "RankThenRerankCV", "PluginRanker", "RankerCV"})
"""Public rankers that do not take part under their own name, because they do under another: the first two
with several sizes of the top; as they come, the third is logistic regression and the fourth is RankSVMCV.
"""

FOR_NUMBERS = frozenset({"CRank", "OrdinalDecomposition", "TreeRankTournament"})
"""Public rankers that are another one where there are two labels: TreeRank, or logistic regression."""

SHORT_NAMES = {"RankThenRerank": RERANK, "TopEnsemble": ENSEMBLE}
"""Public rankers that go by a shorter name."""

LARGEST_SHARE = 0.9
"""Of the rows that rankers take for the top: there must be a rest."""

Problem = Literal["hard", "weak", "localized"]
"""The order of all items; who the best K are; who they are and in which order (Werner 2020, Section 2.2)."""

SETUPS: tuple[dict[str, Any], ...] = (
    {},
    {"statistic": "auc"},
    {"statistic": "c_index"},
    {"statistic": "dcg@10"},
    {"statistic": "precision@10"},
    {"statistic": "localized_ranking_loss@10"},
    {"statistic": "weak_ranking_loss@10"},
    {"weighting": "top@10"},
    {"loss": "p_norm"},
    {"top": "10%"},
    {"reranker": "RankSVM"},
)
"""Parameters that make a ranker solve another problem, or learn from other labels; K is 10 here."""

PARTS = {"binary": "bipartite", "ordinal": "d-partite", "continuous": "continuous"}
"""What the review calls kinds of labels."""

REVIEW = {
    ("binary", "hard"): "most algorithms",
    ("binary", "weak"): "a classifier whose threshold lets K items through",
    ("binary", "localized"): "ranking trees",
    ("ordinal", "hard"): "most algorithms",
    ("ordinal", "weak"): "no meaning",
    ("ordinal", "localized"): "not achieved so far",
    ("continuous", "hard"): "meaningful; gradient-free boosting",
    ("continuous", "weak"): "meaningful",
    ("continuous", "localized"): "meaningful",
}
"""What Werner (2020, Sections 3 and 4.1) has for each problem."""

REDUCED = {
    ("ordinal", "hard"): "any that learns from pairs, those of `preferences.kendall_pairs(y)`",
    ("continuous", "hard"): "any that learns from pairs, those of `preferences.kendall_pairs(y)`",
    ("ordinal", "weak"): "none: a weak problem has two classes, which grades say better themselves",
    ("ordinal", "localized"): "`labels.localized(y, K)`, then any for the hard problem",
    ("continuous", "weak"): "`labels.weak(y, K)`, then any for the weak bipartite problem",
    ("continuous", "localized"): "`labels.localized(y, K)`, then any for the hard problem",
}
"""Problems that become others by a change of the labels."""

FOREST_TREES = 300
"""Of the forest that makes the first list."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What one fit is asked to do.

    Parameters
    ----------
    statistic : str
        What to optimise.
    top : int
        How many items at the top of the training list are reranked.
    base : str
        One of `BASES`: who makes the first list.
    time_limit : float or None
        Seconds for the search.
    seed : int
    callback : callable or None
        Told about the progress of the search.
    keep_proof : bool
        Whether a certificate should carry its proof.
    budget : int or None
        How many items at the top count: rankers that have a top, or a share of one, take this one.
    rows : int or None
        Rows that are learned from, of which the budget is a share.
    fewest_of_a_class : int
        The top is made longer until it holds so many items of either class; 0 keeps to it.
    threshold : float or None
        Score of the first list from which items are reranked, instead of `top`.
    exact : mapping of str to value
        Further parameters of `RERANKER`.
    """

    statistic: str = "dcg"
    top: int = 50
    base: str = "logistic"
    time_limit: float | None = None
    seed: int = 0
    callback: Callback | None = None
    keep_proof: bool = False
    budget: int | None = None
    rows: int | None = None
    fewest_of_a_class: int = 5
    threshold: float | None = None
    exact: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contender:
    """A ranker in the comparison: its name in the table and how to make an unfitted one."""

    name: str
    make: Callable[[], Any]


def lineup(
    settings: Settings, rows: int, *, queries: bool = False, kind: LabelKind = "binary"
) -> list[Contender]:
    """Everyone who takes part in a comparison on so many training rows, logistic regression first.

    With `queries`, those rankers only that can learn from several lists. Where labels are of another kind
    than two, those rankers too that are made for it.

    >>> [contender.name for contender in lineup(Settings(top=50), rows=120)][:4]
    ['logistic regression', 'random forest', 'gradient boosting', 'linear SVM']
    """
    settings = replace(settings, rows=rows)
    contenders = [
        Contender(label, partial(make_base, replace(settings, base=base))) for base, label in BASES.items()
    ]
    contenders += [Contender(name, make) for name, make in _others(settings).items()]
    for factor in (1, 2, 3):
        wider = replace(settings, top=settings.top * factor)
        # Reranking everything is no reranking: that is what the rankers below do.
        if wider.top < rows:
            contenders.append(Contender(f"rerank the top {wider.top}", partial(make_reranker, wider)))
    for name, ranker in _public_rankers().items():
        if name in LEFT_OUT or (kind == "binary" and name in FOR_NUMBERS):
            continue
        if queries and not _make(ranker, settings).ranker_tags.queries:
            continue
        contenders.append(Contender(LABELS.get(name, name), partial(_make, ranker, settings)))
    return contenders


def capabilities() -> dict[str, RankerTags]:
    """What each public ranker can do as it comes, by its name.

    >>> capabilities()["TreeRank"].queries, capabilities()["ExactRanker"].exact
    (False, True)
    """
    return {name: kind().ranker_tags for name, kind in sorted(_public_rankers().items())}


def capability_table() -> str:
    """The same as a table in Markdown, for the documentation.

    >>> capability_table().splitlines()[2]
    '| AccuracyAtTop | yes |  | yes |  | binary | yes | yes |  |'
    """
    before = ("ranker", "weights", "queries", "pairs", "validation rows")
    heads = (*before, "labels", "weighs the top", "linear", "proved")
    lines = [heads, ("---",) * len(heads)]
    for name, can in capabilities().items():
        takes, is_ = (
            (can.weights, can.queries, can.pairs, can.validation),
            (can.at_top, can.linear, can.exact),
        )
        kinds = ", ".join(kind for kind in get_args(LabelKind) if kind in can.labels)
        lines.append((name, *map(_yes, takes), kinds, *map(_yes, is_)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _yes(can: bool) -> str:
    return "yes" if can else ""


def problem_map() -> dict[tuple[LabelKind, Problem], list[str]]:
    """The rankers for each kind of labels and each problem, as their tags say, with the parameters it takes.

    >>> found = problem_map()
    >>> found["ordinal", "weak"], 'ExactRanker(statistic="precision@K")' in found["binary", "weak"]
    ([], True)
    """
    found: dict[tuple[LabelKind, Problem], list[str]] = {
        (kind, problem): [] for kind in get_args(LabelKind) for problem in get_args(Problem)
    }
    for name, ranker in sorted(_public_rankers().items()):
        seen = set()
        for setup in SETUPS:
            if not _takes(ranker, setup):
                continue
            for kind in get_args(LabelKind):
                problem = _problem_of(ranker, setup, kind)
                if problem is not None and (kind, problem) not in seen:
                    seen.add((kind, problem))
                    found[kind, problem].append(_call(name, setup))
    return found


def problem_table() -> str:
    """The same as a table in Markdown, for the documentation."""
    lines = ["| problem | the review | rankers |", "| --- | --- | --- |"]
    for (kind, problem), rankers in problem_map().items():
        ways = [f"`{ranker}`" for ranker in rankers]
        others = REDUCED.get((kind, problem))
        said = ", ".join(ways) + ("; or " if ways and others else "") + (others or "")
        lines.append(f"| {problem} {PARTS[kind]} | {REVIEW[kind, problem]} | {said} |")
    return "\n".join(lines)


def _takes(ranker: type, setup: dict[str, Any]) -> bool:
    """Whether a ranker has these parameters; a share of the list goes where `top` is open."""
    known = inspect.signature(ranker).parameters
    return all(key in known and (key != "top" or known[key].default is None) for key in setup)


def _problem_of(ranker: type, setup: dict[str, Any], kind: LabelKind) -> Problem | None:
    """What a ranker does with labels of a kind, when these parameters are changed; None if it takes none."""
    import toprank

    values = {key: getattr(toprank, value)() if key == "reranker" else value for key, value in setup.items()}
    made = ranker(**values)
    meant = KINDS if "statistic" not in setup else toprank.statistics.get(setup["statistic"]).labels
    if kind not in made.ranker_tags.labels & meant:
        return None
    if kind != "binary" and "levels" in made.get_params(deep=False):
        made.set_params(levels=kind)
    tags = made.ranker_tags
    if not tags.at_top:
        return "hard"
    return "weak" if tags.weak else "localized"


def _call(name: str, setup: dict[str, Any]) -> str:
    said = ", ".join(
        f"{key}={value}()" if key == "reranker" else f'{key}="{value.replace("10", "K")}"'
        for key, value in setup.items()
    )
    return f"{name}({said})" if said else name


def make_base(settings: Settings) -> Any:
    """The estimator that makes the first list."""
    if settings.base == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(
            n_estimators=FOREST_TREES, min_samples_leaf=3, random_state=settings.seed
        )
    if settings.base == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=settings.seed)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=5000)


def make_reranker(settings: Settings, *, base: Any = None) -> Any:
    """Base ranker, then `RERANKER` on the top of its list; a `base` given is fitted, and used as it is."""
    import toprank

    reranker = _make(getattr(toprank, RERANKER), replace(settings, time_limit=None, callback=None))
    return toprank.RankThenRerank(
        make_base(settings) if base is None else base,
        reranker,
        top=settings.top,
        threshold=settings.threshold,
        cv=5 if base is None else "prefit",
        fewest_of_a_class=settings.fewest_of_a_class,
        # For base and reranker together.
        time_limit=settings.time_limit,
        callback=settings.callback,
        random_state=settings.seed,
    )


def named_rankers() -> dict[str, str]:
    """What a single ranker can be called on the command line, and what a table calls it.

    >>> named_rankers()["rerank"], named_rankers()["TopPush"]
    ('linear reranker', 'TopPush')
    """
    short = {ENSEMBLE: "ensemble", **BASES, RERANK: "linear reranker"}
    own = {name: LABELS.get(name, name) for name in _public_rankers() if name not in SHORT_NAMES}
    return {**short, **own, **{name: name for name in _others(Settings())}}


def make_named(name: str, settings: Settings) -> Any:
    """The unfitted ranker of that name, one of `named_rankers`."""
    if name in BASES:
        return make_base(replace(settings, base=name))
    if name == RERANK:
        return make_reranker(settings)
    if name in _others(settings):
        return _others(settings)[name]()
    return _make(_public_rankers()["TopEnsemble" if name == ENSEMBLE else name], settings)


def _others(settings: Settings) -> dict[str, Callable[[], Any]]:
    """Other packages' rankers with these settings."""
    return others(settings.seed, settings.budget or settings.top)


def _public_rankers() -> dict[str, type[BaseRanker]]:
    import toprank

    found = {name: getattr(toprank, name) for name in toprank.__all__}
    return {n: one for n, one in found.items() if isinstance(one, type) and issubclass(one, BaseRanker)}


def _make(kind: type, settings: Settings) -> Any:
    """An unfitted ranker with those of the settings that it takes."""
    wanted = {
        "statistic": settings.statistic,
        "time_limit": settings.time_limit,
        "random_state": settings.seed,
        "callback": settings.callback,
        "keep_proof": settings.keep_proof,
    }
    takes = inspect.signature(kind).parameters
    # A top that is None as it comes stands for another way to learn, which is not asked for here.
    wanted |= {key: value for key, value in _top_of(settings).items() if key in takes and takes[key].default}
    if kind.__name__ == RERANKER:
        wanted |= settings.exact
    if kind.__name__ == "RankRLSCV" and str(settings.statistic) != "auc":
        wanted["cv"] = 5  # leaving out single pairs judges the AUC and nothing else
    return kind(**{key: value for key, value in wanted.items() if key in takes})


def _top_of(settings: Settings) -> dict[str, Any]:
    """What rankers with a top of their own call it: the budget, or its share of the rows."""
    if settings.budget is None or settings.rows is None:
        return {}
    share = min(max(settings.budget / settings.rows, 1 / settings.rows), LARGEST_SHARE)
    return {"k": settings.budget, "top_share": share, "negative_share": share}
