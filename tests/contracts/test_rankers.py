"""scikit-learn's checks and ours, over every public ranker."""

import inspect
import re
from functools import partial
from zlib import crc32

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

import toprank
from ranker_variants import RANKERS, VARIANTS
from toprank.base import TWO_LABELS, LinearRanker
from toprank.control import Outcome, Status
from toprank.labels import KINDS
from toprank.testing import expected_failures, ranker_checks


def test_every_public_ranker_is_listed():
    public = {name: getattr(toprank, name) for name in toprank.__all__}
    rankers = [n for n, v in public.items() if inspect.isclass(v) and issubclass(v, BaseEstimator)]
    assert sorted(rankers) == sorted(RANKERS)


def test_every_documented_mode_is_a_variant():
    """Values in braces in the docstrings, one ranker and parameter after the other."""
    made = [one.make() for one in VARIANTS.values()]
    # Solvers and back ends of the exact ranker: tests/exact and tests/rankers/test_exact.py.
    for name in sorted(set(RANKERS) - {"ExactRanker"}):
        documented = re.findall(r"^    (\w+) : \{(.*?)\}", getattr(toprank, name).__doc__, re.M)
        for parameter, values in documented:
            wanted = {value.strip(' "') for value in values.split(",")} - {"top@k"}
            # Labels are read in one place, for all rankers alike.
            own = [one for one in made if type(one).__name__ == name or parameter == "levels"]
            covered = {str(getattr(one, parameter, None)) for one in own}
            assert wanted <= covered, f"{name}: no variant with {parameter} in {sorted(wanted - covered)}"


# What rankers say, rightly, about the checks' toy data and their small time limits.
IGNORED = [
    pytest.mark.filterwarnings(f"ignore{one}")
    for one in (
        "::toprank.control.SearchStoppedWarning",
        "::toprank.ensemble.rank_then_rerank.BaseOrderKeptWarning",
        "::toprank.ensemble.rank_then_rerank.TopWidenedWarning",
        "::toprank.ensemble.top_ensemble.MemberLeftOutWarning",
        "::toprank.rankers.parts.top_push.ZeroOptimumWarning",
        ":kernel='precomputed' is not positive semidefinite",
    )
]
EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]


def known_failures(ranker):
    """What cannot be: checks of scikit-learn whose data or demands do not fit a variant, with the reason."""
    found = expected_failures(ranker)
    if getattr(ranker, "validation_fraction", None) is not None:
        found |= dict.fromkeys(
            EQUIVALENCE, "rows are held out at random: others when weights become repetitions"
        )
    if isinstance(
        ranker,
        (
            toprank.RankerCV,
            toprank.RankThenRerank,
            toprank.BaggedRanker,
            toprank.RankingForest,
            toprank.StabilitySelection,
        ),
    ):
        found |= dict.fromkeys(
            EQUIVALENCE, "rows are dealt at random: otherwise when weights become repetitions"
        )
    if isinstance(ranker, toprank.TreeRank) and (ranker.min_samples_leaf > 1 or ranker.leaf_penalty == "cv"):
        found |= dict.fromkeys(EQUIVALENCE, "the size of leaves and folds is counted in rows, not in weight")
    if isinstance(ranker, (toprank.CRank, toprank.TreeRankTournament)) and ranker.min_samples_leaf > 1:
        found |= dict.fromkeys(EQUIVALENCE, "the size of leaves is counted in rows, not in weight")
    if isinstance(ranker, toprank.RankOver):
        found |= dict.fromkeys(EQUIVALENCE, "leaves count rows; solvers round, and a threshold turns on it")
    trees = isinstance(ranker, toprank.LogitBoost) and ranker.learner == "tree"
    if isinstance(ranker, toprank.GradientBoostingRanker) or trees:
        found |= dict.fromkeys(EQUIVALENCE, "the size of leaves and bins is counted in rows, not in weight")
    at_top = (
        getattr(ranker, "loss", None) == "top_push" or getattr(ranker, "negative_share", None) is not None
    )
    if type(ranker).__name__ == "RankNet" and at_top:
        found |= dict.fromkeys(EQUIVALENCE, "the highest negatives are counted in rows, not in weight")
    if getattr(ranker, "target", None) == "difference":
        found |= dict.fromkeys(
            EQUIVALENCE, "a row and its repetition make a pair, a row and its weight do not"
        )
    if isinstance(ranker, toprank.PluginRanker) and isinstance(ranker.estimator, RandomForestClassifier):
        found |= dict.fromkeys(EQUIVALENCE, "a forest draws rows at random")
    if isinstance(ranker, toprank.TopEnsemble) and ranker.trust == "auto":
        reason = "the best blend of weighted rows is not searched for: members then count alike"
        found |= dict.fromkeys(EQUIVALENCE, reason)
    if getattr(ranker, "n_landmarks", None) is not None:
        reason = "the best directions of the landmarks are others where one of them is repeated"
        found |= dict.fromkeys(EQUIVALENCE, reason)
    if isinstance(ranker, toprank.RankSVMCV) and ranker.kernel == "precomputed":
        found["check_fit2d_1feature"] = "its kernel leaves one row with the second label, too few for folds"
    return found


def ignoring(test):
    for mark in IGNORED:
        test = mark(test)
    return test


THEIR_SHARE, OUR_SHARE = 24, 12
ALIKE = [
    ["check_estimator_sparse_array", "check_estimator_sparse_matrix"],
    [
        "check_classifiers_train",
        "check_classifiers_train(readonly_memmap=True)",
        "check_classifiers_train(readonly_memmap=True, X_dtype=float32)",
    ],
]
"""Forms of one check, each a fit or more. What tells them apart is read in one place for all rankers:
a ranker as it comes meets one form of each in every run, and every form meets some rankers."""


def in_turn(name, number, share):
    """Whether a check is made in every run: all of a ranker as it comes, of its other configurations some.

    Each check meets one configuration in `share`, offset by the name; the nightly run takes them all.
    """
    return not VARIANTS[name].slow and (name in RANKERS or (number + crc32(name.encode())) % share == 0)


def another_form(name, title):
    """Whether this ranker meets another form of the same check."""
    return any(title in forms and title != forms[crc32(name.encode()) % len(forms)] for forms in ALIKE)


def test_every_form_of_a_check_meets_some_ranker():
    titles = [title for forms in ALIKE for title in forms]
    met = {title for name in RANKERS for title in titles if not another_form(name, title)}
    assert met == set(titles)
    assert met <= {title_of(pair[1]) for pair in estimator_checks_generator(toprank.RankSVM())}


def scikit_learn_checks():
    """Every check of every configuration, marked as slow where it is not its turn."""
    for name, one in VARIANTS.items():
        ranker = one.make()
        pairs = estimator_checks_generator(
            ranker, expected_failed_checks=known_failures(ranker), mark="xfail"
        )
        for number, pair in enumerate(pairs):
            values, marks = (pair.values, [*pair.marks]) if hasattr(pair, "marks") else (pair, [])
            title = title_of(values[1])
            if not in_turn(name, number, THEIR_SHARE) or (name in RANKERS and another_form(name, title)):
                marks.append(pytest.mark.slow)
            yield pytest.param(*values, marks=marks, id=f"{name}-{title}")


def title_of(check):
    """check_estimator_sparse_tag, or check_f(x=1): what one check of scikit-learn is called."""
    options = ", ".join(f"{key}={value}" for key, value in check.keywords.items())
    function = check.func
    if isinstance(function, partial):
        return f"{title_of(function)}({options})" if options else title_of(function)
    return f"{function.__name__}({options})" if options else function.__name__


@ignoring
@pytest.mark.parametrize("estimator, check", [*scikit_learn_checks()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def our_checks():
    """The same of the checks that ship with the package."""
    for name in VARIANTS:
        for number, check in enumerate(ranker_checks()):
            marks = [] if in_turn(name, number, OUR_SHARE) else [pytest.mark.slow]
            yield pytest.param(name, check, marks=marks, id=f"{name}-{check.__name__}")


@ignoring
@pytest.mark.parametrize("name, check", [*our_checks()])
def test_our_checks(name, check):
    ranker = VARIANTS[name].make()
    if check.__name__ == "check_time_limit" and callable(getattr(ranker, "kernel", None)):
        pytest.skip("a kernel that is a Python function is computed in one go")
    check(ranker)


class Mean(LinearRanker):
    """A ranker that breaks the contract in the ways its parameter says."""

    def __init__(self, fault="", callback=None, random_state=None, time_limit=None):
        self.fault = fault
        self.callback = callback
        self.random_state = random_state
        self.time_limit = time_limit

    def _fit(self, data, run):
        from toprank.control import Progress

        X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
        self.coef_ = X[data.y == 1].mean(axis=0) - X[data.y == 0].mean(axis=0)
        if self.fault == "parameters":
            self.random_state = 5
        if self.fault == "random":
            self.coef_ = np.random.default_rng().normal(size=X.shape[1])
        if self.fault == "unpicklable":
            self.solver_ = lambda: None
        if self.fault == "slow":
            import time

            time.sleep(2.1)
        run.report(Progress(0.0))
        if self.fault == "deaf":
            run.report(Progress(0.0), force=True)
            run.report(Progress(0.0), force=True)
            return Outcome(0.0, status=Status.FINISHED)
        if self.fault == "status":
            return Outcome(float("nan"))
        return Outcome(0.0, status=run.stopped_by or Status.FINISHED)

    def _scores(self, X):
        return super()._scores(X) + (self.fault == "shifted") * np.arange(X.shape[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        can = tags.ranker_tags
        # A false claim, and one that is withdrawn: what is not said must be refused.
        can.exact = self.fault == "boasts of a proof"
        can.labels = KINDS if self.fault == "boasts of grades" else TWO_LABELS
        can.weights = self.fault == "boasts of weights"
        can.queries = self.fault == "boasts of queries"
        return tags

    def _clean(self, X, y, qid, sample_weight):
        data = super()._clean(X, y, qid, sample_weight)
        if (data.qid, data.sample_weight) != (None, None):
            raise ValueError("never heard of them")
        return data


def failing(ranker):
    failed = set()
    for check in ranker_checks():
        try:
            check(ranker)
        except Exception:
            failed.add(check.__name__)
    return failed


def test_a_sound_ranker_passes():
    assert failing(Mean()) == set()


@pytest.mark.parametrize(
    "fault, caught",
    [
        ("parameters", "check_parameters_unchanged"),
        ("random", "check_same_seed"),
        ("unpicklable", "check_copies"),
        ("deaf", "check_callback"),
        ("status", "check_outcome"),
        ("slow", "check_time_limit"),
        ("boasts of weights", "check_weights"),
        ("boasts of queries", "check_queries"),
        ("boasts of grades", "check_label_kinds"),
        ("boasts of a proof", "check_certificate"),
        ("shifted", "check_linear"),
    ],
)
def test_every_fault_is_caught(fault, caught):
    (check,) = [check for check in ranker_checks() if check.__name__ == caught]
    ranker = Mean(fault) if fault != "parameters" else Mean(fault, random_state=None)
    with pytest.raises(Exception):  # noqa: B017
        check(ranker)


class Leaky(Mean):
    def _fit(self, data, run):
        run.__exit__(None, None, None)  # gives the handler back too early
        return super()._fit(data, run)


class Deaf(Mean):
    def fit(self, X, y, sample_weight=None, *, qid=None):
        try:
            return super().fit(X, y, sample_weight, qid=qid)
        except KeyboardInterrupt:
            return self


@pytest.mark.parametrize("kind, complaint", [(Leaky, "no answer was stored"), (Deaf, "Ctrl-C was lost")])
def test_a_ranker_that_mishandles_interrupts_is_caught(kind, complaint):
    (check,) = [check for check in ranker_checks() if check.__name__ == "check_interrupt"]
    with pytest.raises(AssertionError, match=complaint):
        check(kind())
