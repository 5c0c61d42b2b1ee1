"""Fitted linear estimators as plain values (numbers, text, lists, dictionaries) and back.

Only the classes listed here and our public rankers can be written or built, and building one sets attributes
and nothing else: a file cannot name code to run. Numbers survive exactly, so scores do too: a ranker is
written only when the one built from the text scores the same, bit for bit.
"""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from toprank.base import BaseRanker, ranking_scores
from toprank.control import Outcome, Status
from toprank.exact.certificate import Certificate
from toprank.exact.mip.constraints import Constraints, TopGroup
from toprank.statistics import LinearRankStatistic

__all__ = ["NotPlainError", "estimator_from_plain", "estimator_to_plain", "same_scores"]

# Class name: (module, learned attributes that make it score again). Of our own rankers: a linear score and
# the cuts of its grades, or the estimator it was learned with, and what was shown about them.
_RANKER = (
    *("kind_", "classes_", "coef_", "intercept_", "n_features_in_", "cuts_", "curve_"),
    *("estimator_", "ranker_", "C_", "outcome_", "certificate_"),
)
_LINEAR = ("classes_", "coef_", "intercept_", "n_features_in_")
_KNOWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "LogisticRegression": ("sklearn.linear_model", _LINEAR),
    "RidgeCV": ("sklearn.linear_model", ("coef_", "intercept_", "n_features_in_", "alpha_")),
    "LinearSVC": ("sklearn.svm", _LINEAR),
    "LinearRegression": ("sklearn.linear_model", _LINEAR),
    "Ridge": ("sklearn.linear_model", _LINEAR),
    "StandardScaler": ("sklearn.preprocessing", ("mean_", "var_", "scale_", "n_features_in_")),
    "MaxAbsScaler": ("sklearn.preprocessing", ("max_abs_", "scale_", "n_features_in_")),
    "Pipeline": ("sklearn.pipeline", ()),
    "RankThenRerank": (
        "toprank.ensemble.rank_then_rerank",
        (
            *("base_", "reranker_", "threshold_", "n_top_", "n_features_in_", "intercept_"),
            *("kind_", "classes_", "cuts_", "curve_"),
            *("reranked_", "by_query_", "top_", "top_rows_", "passes_score_"),
            # How rows reach the reranker, and its scores are fitted in above the base's.
            *("_fill", "_top_scores", "_base_spread", "_rerank_middle", "_rerank_spread"),
            *("_spreads", "_below_curve", "_top_curve"),
            "outcome_",
        ),
    ),
}

# Parameters of the session that fitted, not of the model; time limits and start points differ between runs
# that give the same answer, and the same answer should give the same file.
_SESSION = {"callback", "checkpoint", "n_jobs", "start", "time_limit", "verbose"}


class NotPlainError(ValueError):
    """An estimator that is more than a list of numbers, or a description of none we know."""


def estimator_to_plain(estimator: Any, parts: list[Any] | None = None) -> dict[str, Any]:
    """Describe a fitted estimator with plain values.

    Parameters
    ----------
    estimator : estimator
    parts : list, optional
        Where estimators go that are no lists of numbers; the description then holds ``{"part": number}``.
        Without it they are refused.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> fitted = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> plain = estimator_to_plain(fitted)
    >>> plain["class"], sorted(plain["learned"])
    ('LogisticRegression', ['classes_', 'coef_', 'intercept_', 'n_features_in_'])
    >>> bool((estimator_from_plain(plain).coef_ == fitted.coef_).all())
    True
    """
    known = 0 if parts is None else len(parts)
    try:
        return _described(estimator, parts)
    except NotPlainError:
        if parts is None:
            raise
        parts[known:] = [estimator]
        return {"part": known}


def _described(estimator: Any, parts: list[Any] | None) -> dict[str, Any]:
    name = type(estimator).__name__
    known_class, learned = _lookup(name)
    if type(estimator) is not known_class:
        raise NotPlainError(f"{name} is not the class of that name this version can write")
    if not _can_be_linear(estimator):
        raise NotPlainError(f"{_call(estimator)} is not a linear model that can be written as text")
    if name == "Pipeline":
        steps = [[key, estimator_to_plain(step, parts)] for key, step in estimator.steps]
        return {"class": name, "steps": steps}
    attributes = {key: _plain(getattr(estimator, key), parts) for key in learned if hasattr(estimator, key)}
    fields = {"class": name, "parameters": _parameters(estimator, parts), "learned": attributes}
    scores = any(hasattr(estimator, known) for known in ("classes_", "kind_", "coef_"))
    if scores and not same_scores(estimator, fields, parts or ()):
        raise NotPlainError(f"{_call(estimator)} is not a linear model that can be written as text")
    return fields


def _can_be_linear(estimator: Any) -> bool:
    """Whether the tags of a ranker, or of the one it was learned with, say that it scores linearly."""
    within = [getattr(estimator, name) for name in ("estimator_", "ranker_") if hasattr(estimator, name)]
    composed = type(estimator).__name__ in _KNOWN or bool(within)
    return composed or not isinstance(estimator, BaseRanker) or estimator.ranker_tags.linear


def same_scores(estimator: Any, fields: Mapping[str, Any], parts: Sequence[Any]) -> bool:
    """Whether the estimator built from a description scores as the described one, bit for bit.

    On a few made-up rows: whatever a score consists of that the description lacks shows on any.
    """
    rows = np.random.default_rng(0).normal(size=(7, estimator.n_features_in_))
    # That the rows lack names, or overflow, is of no interest here.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            again = estimator_from_plain(json.loads(json.dumps(fields)), parts)
            ours, theirs = ranking_scores(again, rows), ranking_scores(estimator, rows)
        except (AttributeError, NotPlainError, TypeError, ValueError):
            return False
    return np.array_equal(ours, theirs, equal_nan=True)


def _parameters(estimator: Any, parts: list[Any] | None) -> dict[str, Any]:
    """Those that are not what they are by default, but for those of the session."""
    defaults = type(estimator)().get_params(deep=False)
    found = {}
    for key, value in estimator.get_params(deep=False).items():
        if key in _SESSION or _same(value, defaults[key]) or _used_up(value):
            continue
        if value is not None and value is getattr(estimator, f"{key}_", None):
            continue  # what was fitted before is written as what was learned
        try:
            found[key] = _plain(value, parts)
        except NotPlainError as error:
            raise NotPlainError(f"{type(estimator).__name__} has a {key} that is no text: {error}") from None
    return found


def _used_up(value: Any) -> bool:
    """Random numbers and splitters are used up by the fit; a seed, being a number, is kept."""
    return isinstance(value, (np.random.Generator, np.random.RandomState)) or hasattr(value, "get_n_splits")


def _call(estimator: Any) -> str:
    """An estimator with what makes it another than the usual one, in one line."""
    return " ".join(repr(estimator).split())


def estimator_from_plain(fields: Mapping[str, Any], parts: Sequence[Any] = ()) -> Any:
    """Build the estimator that `estimator_to_plain` described."""
    if set(fields) == {"part"}:
        return parts[fields["part"]]
    name = fields["class"]
    known_class, learned = _lookup(name)
    if name == "Pipeline":
        return known_class([(str(key), estimator_from_plain(step, parts)) for key, step in fields["steps"]])
    estimator = known_class()
    parameters = {str(key): _rich(value, parts) for key, value in fields["parameters"].items()}
    for given, allowed in ((parameters, estimator.get_params(deep=False)), (fields["learned"], learned)):
        unknown = sorted(set(given) - set(allowed))
        if unknown:
            raise NotPlainError(f"{name} has no {unknown[0]!r}")
    estimator.set_params(**parameters)
    for key, value in fields["learned"].items():
        setattr(estimator, key, _rich(value, parts))
    _check_sizes(estimator, name)
    return estimator


def _lookup(name: str) -> tuple[Any, tuple[str, ...]]:
    """The class of that name and its learned attributes: listed above, or one of our linear rankers."""
    if name in _KNOWN:
        module, learned = _KNOWN[name]
        return getattr(importlib.import_module(module), name), learned
    import toprank

    found = getattr(toprank, name) if name in toprank.__all__ else None
    if isinstance(found, type) and issubclass(found, BaseRanker):
        return found, _RANKER
    raise NotPlainError(f"{name} is not a linear model that can be written as text")


def _check_sizes(estimator: Any, name: str) -> None:
    coefficients = getattr(estimator, "coef_", None)
    if coefficients is None:
        return
    width = getattr(estimator, "n_features_in_", None)
    if coefficients.shape[-1:] != (width,) or not np.isfinite(coefficients).all():
        raise NotPlainError(f"the coefficients of {name} are damaged")


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _plain(value: Any, parts: list[Any] | None) -> Any:
    """A value as JSON has it; infinities and NaN, which JSON lacks, as ``{"float": "inf"}``."""
    if isinstance(value, np.ndarray):
        return [_plain(item, parts) for item in value.tolist()]
    if isinstance(value, np.generic):
        return _plain(value.item(), parts)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, LinearRankStatistic):
        return str(value)
    if isinstance(value, Outcome):
        return {"outcome": _plain_outcome(value)}
    if isinstance(value, Certificate):
        return {"certificate": json.loads(value.without_times().to_json())}
    if isinstance(value, Constraints):
        return {"constraints": asdict(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item, parts) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"mapping": {key: _plain(item, parts) for key, item in value.items()}}
    if hasattr(value, "get_params"):
        return estimator_to_plain(value, parts)
    raise NotPlainError(f"a value of type {type(value).__name__} cannot be written as text")


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    # Seconds are left out: the same data and seed then give the same file, byte for byte.
    return {
        "value": _plain(outcome.value, None),
        "bound": _plain(outcome.bound, None),
        "status": str(outcome.status),
        "iterations": outcome.iterations,
        "notes": list(outcome.notes),
    }


def _rich(value: Any, parts: Sequence[Any]) -> Any:
    """The inverse of `_plain`; lists become arrays."""
    if isinstance(value, list):
        return np.asarray([_rich(item, parts) for item in value])
    if not isinstance(value, dict):
        return value
    if set(value) == {"float"}:
        return float(value["float"])
    if set(value) == {"mapping"}:
        return {key: _rich(item, parts) for key, item in value["mapping"].items()}
    if set(value) == {"outcome"}:
        return _rich_outcome(value["outcome"])
    if set(value) == {"certificate"}:
        return Certificate.from_json(json.dumps(value["certificate"]))
    if set(value) == {"constraints"}:
        return _rich_constraints(value["constraints"])
    return estimator_from_plain(value, parts)


def _rich_constraints(fields: Mapping[str, Any]) -> Constraints:
    signs, groups = fields["signs"], fields["top_groups"]
    return Constraints(
        None if signs is None else tuple(signs),
        fields["max_features"],
        fields["integer_range"],
        tuple(TopGroup(tuple(one["members"]), one["top"], one["at_least"], one["at_most"]) for one in groups),
    )


def _rich_outcome(fields: Mapping[str, Any]) -> Outcome:
    return Outcome(
        value=_rich(fields["value"], ()),
        bound=_rich(fields["bound"], ()),
        status=Status(fields["status"]),
        iterations=int(fields["iterations"]),
        notes=tuple(str(note) for note in fields["notes"]),
    )
