"""What the tags of a ranker say is what its `fit` does."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
from sklearn.utils import get_tags

from toprank.base import BaseRanker
from toprank.testing.samples import raises, sample, seeded, takes_grades, takes_kernel

__all__ = ["expected_failures", "tag_checks"]

NEED_WEIGHTS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_all_zero_sample_weights_error",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_classifiers_one_label_sample_weights",
)
"""Checks of scikit-learn that fit with weights whoever has `sample_weight` in the signature of `fit`."""


def expected_failures(ranker: BaseRanker) -> dict[str, str]:
    """The checks of scikit-learn a ranker cannot pass by its tags, with the reason.

    For ``expected_failed_checks`` of `sklearn.utils.estimator_checks.check_estimator`.

    >>> from toprank import BaggedRanker, TopPush
    >>> expected_failures(TopPush())
    {}
    >>> expected_failures(BaggedRanker())["check_sample_weights_list"]
    'it takes no weights, and says so'
    """
    found: dict[str, str] = {}
    if not ranker.ranker_tags.weights:
        found |= dict.fromkeys(NEED_WEIGHTS, "it takes no weights, and says so")
    if hasattr(ranker, "predict_proba"):
        # With calibrated probabilities few rows, or none, may be more likely positive than not.
        found["check_classifiers_train"] = "predict calls as many rows positive as there are positives"
    if not takes_grades(ranker) and "ordinal" in ranker.ranker_tags.labels:
        found["check_classifier_not_supporting_multiclass"] = "more than two numbers are grades"
    if not takes_grades(ranker) and "continuous" in ranker.ranker_tags.labels:
        found["check_classifiers_regression_target"] = "a response, too, puts rows in order"
    return found


def tag_checks() -> list[Callable[[BaseRanker], None]]:
    """The checks of this module."""
    return [
        check_signature,
        check_weights,
        check_queries,
        check_validation_rows,
        check_label_kinds,
        check_missing_values,
        check_linear,
        check_certificate,
    ]


def check_signature(ranker: BaseRanker) -> None:
    """Every `fit` takes X, y, sample_weight by position, qid by name, and by the tags rows to stop by."""
    found = [(one.name, one.kind) for one in inspect.signature(ranker.fit).parameters.values()]
    plain, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    wanted = [("X", plain), ("y", plain), ("sample_weight", plain), ("qid", named)]
    if ranker.ranker_tags.validation or len(found) > len(wanted):
        wanted += [(f"{name}_val", named) for name in ("X", "y", "sample_weight", "qid")]
    assert found == wanted, f"fit does not take {[name for name, _ in wanted]} as all do"


def check_weights(ranker: BaseRanker) -> None:
    """Weights are used, or refused by name; negative ones and those of one class only are refused."""
    X, y = sample(ranker)
    weight = np.where(np.arange(len(y)) % 2, 1.0, 3.0)
    if not ranker.ranker_tags.weights:
        name = type(ranker).__name__
        raises(ValueError, seeded(ranker).fit, X, y, weight, naming=("sample_weight", name))
        return
    assert np.isfinite(seeded(ranker).fit(X, y, weight).decision_function(X)).all()
    raises(ValueError, seeded(ranker).fit, X, y, -weight)
    raises(ValueError, seeded(ranker).fit, X, y, weight[:-1])
    if not takes_grades(ranker):
        raises(ValueError, seeded(ranker).fit, X, y, weight * y, naming=("sample_weight",))


def check_queries(ranker: BaseRanker) -> None:
    """Queries, in any order and by any name, are used, or refused by name."""
    X, y = sample(ranker)
    qid = np.array(["b", "a", "c"])[np.arange(len(y)) % 3]
    if not ranker.ranker_tags.queries:
        raises(ValueError, seeded(ranker).fit, X, y, qid=qid, naming=("qid", type(ranker).__name__))
        return
    fitted = seeded(ranker).fit(X, y, qid=qid)
    assert np.isfinite(fitted.decision_function(X)).all()
    assert math.isfinite(fitted.score(X, y, qid=qid)), "score with qid is not finite"
    raises(ValueError, seeded(ranker).fit, X, y, qid=qid[:-1])


def check_validation_rows(ranker: BaseRanker) -> None:
    """Rows to stop by are followed, step by step, or refused by name."""
    X, y = sample(ranker)
    fit = partial(cast("Any", seeded(ranker)).fit, X[:40], y[:40])
    held: dict[str, Any] = {"X_val": X[40:], "y_val": y[40:]}
    if not ranker.ranker_tags.validation:
        raises((TypeError, ValueError), fit, **held, naming=("X_val",))
        return
    watched = fit(**held)
    values, steps = watched.validation_values_.copy(), watched.n_iter_
    assert 1 <= steps <= len(values), "validation_values_ has fewer entries than there were steps"
    assert np.isfinite(values).all(), "validation_values_ is not finite"
    assert not np.array_equal(values, fit(X_val=X[40:], y_val=1 - y[40:]).validation_values_), (
        "other labels in y_val change nothing"
    )
    _check_wrong_validation_rows(fit, held, watched)


def _check_wrong_validation_rows(fit: Any, held: dict[str, Any], fitted: BaseRanker) -> None:
    """What cannot be used of rows to stop by is refused by the name of its argument."""
    X, y = held["X_val"], held["y_val"]
    gap = np.where(np.arange(len(y)) == 0, np.nan, y)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("X_val", {"X_val": X[:, :-1]}),
        ("y_val", {"y_val": np.ones_like(y)}),
        ("y_val", {"y_val": gap}),
        ("y_val", {"y_val": None}),
        ("X_val", {"X_val": None}),
        ("y_val", {"y_val": y[:-1]}),
        ("qid_val", {"qid_val": np.zeros(len(y))}),
    ]
    if fitted.kind_ == "binary":
        wrong.append(("y_val", {"y_val": y + 1}))
    if not fitted.ranker_tags.weights:
        wrong.append(("sample_weight_val", {"sample_weight_val": np.ones(len(y))}))
    for name, change in wrong:
        raises(ValueError, fit, **(held | change), naming=(name,))


def check_label_kinds(ranker: BaseRanker) -> None:
    """Grades and a response are learned from, or refused by name; two labels always are learned from."""
    X, y = sample(ranker)
    can = ranker.ranker_tags.labels
    assert "binary" in can, "the tags leave out two labels"
    grades = y + (np.arange(len(y)) % 5 == 0)
    response = grades + np.linspace(0.0, 0.5, len(y))
    for kind, labels in (("ordinal", grades), ("continuous", response)):
        if kind not in can:
            raises(ValueError, seeded(ranker).fit, X, labels, naming=("y", type(ranker).__name__))
            continue
        fitted = seeded(ranker).fit(X, labels)
        said = fitted.predict(X)
        assert labels.min() <= said.min() <= said.max() <= labels.max(), "predict leaves the range of y"
        assert (np.diff(said[fitted.rank(X)]) <= 0).all(), "predict does not rise with the score"
        assert math.isfinite(fitted.score(X, labels)), f"score is not finite with {kind} labels"
        if fitted.kind_ == "continuous":
            assert not hasattr(fitted, "classes_"), "a response has no classes"
        else:
            assert set(said) <= set(fitted.classes_.tolist()), "predict invents labels"


def check_missing_values(ranker: BaseRanker) -> None:
    """NaN is taken, or refused."""
    X, y = sample(ranker)
    if takes_kernel(ranker):
        return
    holed = X.copy()
    holed[::7, 1] = np.nan
    if get_tags(ranker).input_tags.allow_nan:
        assert np.isfinite(seeded(ranker).fit(holed, y).decision_function(holed)).all()
    else:
        raises(ValueError, seeded(ranker).fit, holed, y, naming=("NaN",))


def check_linear(ranker: BaseRanker) -> None:
    """A linear one scores by ``X @ coef_ + intercept_``."""
    X, y = sample(ranker)
    if not ranker.ranker_tags.linear:
        return
    fitted = seeded(ranker).fit(X, y)
    scores = X @ getattr(fitted, "coef_") + fitted.intercept_  # noqa: B009  # no attribute of every ranker
    assert np.allclose(scores, fitted.decision_function(X)), "X @ coef_ + intercept_ is not the score"


def check_certificate(ranker: BaseRanker) -> None:
    """One that proves has a certificate, whose bound is not below its value."""
    if not ranker.ranker_tags.exact:
        return
    X, y = sample(ranker)
    certificate = getattr(seeded(ranker).fit(X, y), "certificate_", None)
    assert certificate is not None, "the tags promise a certificate"
    assert certificate.value <= certificate.bound + 1e-9 * abs(certificate.bound)
