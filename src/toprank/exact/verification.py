"""Check a certificate against its problem, and say what was checked and what was not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from toprank.control import Run
from toprank.exact.certificate import UNDER_CONSTRAINTS, Certificate
from toprank.exact.problem import RankingProblem
from toprank.exact.proof import check_proof
from toprank.exact.search.choice import compile_for, within_reach
from toprank.exact.search.driver import search

__all__ = ["Verification", "verify"]

TOLERANCE = 1e-9
"""Relative size of a difference that is rounding: statistics are sums of a few hundred floats."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of a certificate when it was checked.

    Parameters
    ----------
    held, failed, unchecked : tuples of str
        Plain sentences: what was checked and holds, what was checked and does not, what was not checked.

    Examples
    --------
    >>> from toprank import ExactRanker
    >>> from toprank.exact import verify
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> ranker = ExactRanker("auc", keep_proof=True, random_state=0).fit(X, y)
    >>> report = verify(ranker.problem(X, y), ranker.certificate_)
    >>> report.summary(), report.complete
    ('All that the certificate claims was checked, and holds.', True)
    >>> report.held[1]
    'the coefficients reach 0.75, recomputed in exact arithmetic'
    """

    held: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing failed; what was not checked may still be wrong."""
        return not self.failed

    @property
    def complete(self) -> bool:
        """Whether all was checked and all holds."""
        return not self.failed and not self.unchecked

    def __add__(self, other: Verification) -> Verification:
        return Verification(
            self.held + other.held, self.failed + other.failed, self.unchecked + other.unchecked
        )

    def summary(self) -> str:
        """One sentence for people.

        >>> Verification(held=("the value",), unchecked=("the bound",)).summary()
        'What was checked holds; the bound was not checked.'
        """
        if self.failed:
            return "The certificate does not hold."
        if self.unchecked:
            return "What was checked holds; the bound was not checked."
        return "All that the certificate claims was checked, and holds."


def verify(problem: RankingProblem, certificate: Certificate, *, seconds: float = 5.0) -> Verification:
    """Check a certificate: the claim, the value, and the bound as far as that can be done.

    Data, statistic, margin and penalty are compared with the fingerprint, and the value is recomputed in
    exact arithmetic; where the problem has no margin and the certificate states one, at that one. A bound
    can be checked in three ways, tried in this order: it says no more than counting the pairs that can be
    won; the proof was kept (``keep_proof=True``) and is replayed, by code that shares nothing with the
    search; or the search proves it again within some seconds, or finds coefficients that refute it.
    Otherwise the bound was not checked, and the report says so.

    Parameters
    ----------
    problem : RankingProblem
        Made from the data, not from the certificate.
    certificate : Certificate
    seconds : float
        How long to search where no proof was kept; 0 for not at all.

    Returns
    -------
    Verification

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0]], [0, 1], "auc")
    >>> from toprank.control import Status
    >>> stated = Certificate.of(problem, np.array([1.0]), bound=1.0, status=Status.OPTIMAL, seconds=0.0,
    ...                         nodes=0, method="perfect order")
    >>> verify(problem, stated).summary()
    'All that the certificate claims was checked, and holds.'
    """
    if not (seconds >= 0 and math.isfinite(seconds)):
        raise ValueError(f"seconds={seconds} must be a number from 0.")
    if certificate.margin > problem.margin:
        # Less is claimed than was asked: of scores that win their pairs by more, and the summary says so.
        problem = replace(problem, margin=certificate.margin)
    first = _claim(problem, certificate) + _value(problem, certificate)
    if first.failed:
        return first + Verification(unchecked=("the bound, since the rest does not hold",))
    return first + _bound(problem, certificate, seconds)


def _claim(problem: RankingProblem, certificate: Certificate) -> Verification:
    """Whether the certificate is about this problem."""
    wrong = list(_differences(problem, certificate))
    if wrong:
        return Verification(failed=tuple(wrong))
    return Verification(
        held=("the certificate is about these data and this statistic: the fingerprints agree",)
    )


def _differences(problem: RankingProblem, certificate: Certificate) -> Iterator[str]:
    if certificate.fingerprint != problem.fingerprint():
        yield "the fingerprint belongs to another problem: data, statistic, margin or penalty differ"
    for name in ("statistic", "margin", "penalty"):
        stated, actual = getattr(certificate, name), getattr(problem, name)
        if stated != actual:
            yield f"{name} is {actual!r}, the certificate says {stated!r}"
    if certificate.scales != tuple(problem.scales.tolist()):
        yield "the scales of the features differ"


def _value(problem: RankingProblem, certificate: Certificate) -> Verification:
    """Whether the coefficients reach the value, and value, bound and status go together."""
    coef = np.asarray(certificate.coef)
    if len(coef) != problem.n_features:
        return Verification(failed=(f"{len(coef)} coefficients for {problem.n_features} features",))
    if not np.isfinite(coef).all():
        return Verification(failed=("coefficients that are not finite",))
    value, bound = float(problem.evaluate_exact(coef)), certificate.bound
    wrong = []
    if value != certificate.value:
        wrong.append(f"the coefficients reach {value!r}, not the stated value {certificate.value!r}")
    if not bound >= certificate.value:
        wrong.append(f"the bound {bound!r} is below the value {certificate.value!r}")
    if certificate.proved and not bound <= _above(certificate.value):
        wrong.append(f"called optimal, but value and bound differ by {bound - certificate.value!r}")
    if bound > _above(problem.trivial_bound):
        wrong.append(f"the bound {bound!r} is above {problem.trivial_bound!r}, the value of a perfect list")
    held = () if wrong else (f"the coefficients reach {value:.6g}, recomputed in exact arithmetic",)
    return Verification(held, tuple(wrong))


def _bound(problem: RankingProblem, certificate: Certificate, seconds: float) -> Verification:
    """Whether no coefficients reach more than the bound, by the cheapest means that decides it."""
    if certificate.proof is not None:
        wrong = check_proof(problem, certificate.proof, certificate.bound)
        if wrong:
            return Verification(failed=tuple(wrong))
        which = f" that wins pairs by {problem.margin:g} of their length" if problem.margin else ""
        return Verification(held=(f"the kept proof was replayed: no linear score{which} is above the bound",))
    if _attainable(problem) <= _above(certificate.bound):
        words = "the bound is what winning every pair that can be won would give: nothing can be above it"
        return Verification(held=(words,))
    if any(note.startswith(UNDER_CONSTRAINTS) for note in certificate.notes):
        return Verification(unchecked=(_unchecked(certificate, "it holds under constraints"),))
    if seconds == 0:
        return Verification(unchecked=(_unchecked(certificate, "no proof was kept"),))
    return _searched(problem, certificate, seconds)


def _searched(problem: RankingProblem, certificate: Certificate, seconds: float) -> Verification:
    """Search for some seconds: for better coefficients, and for a proof of the bound."""
    compile_for(problem)
    with Run(time_limit=seconds, rng=0) as run:
        found = search(problem, run, starts=[np.asarray(certificate.coef)])
    if found.value > _above(certificate.bound):
        said = "called optimal" if certificate.proved else f"the bound is {certificate.bound:.6g}"
        words = f"{said}, but {_list(found.coef)} reach {found.value:.6g}, found in {found.seconds:.1f} s"
        return Verification(failed=(words,))
    if found.bound <= _above(certificate.bound):
        return Verification(held=(f"the bound was proved again in {found.seconds:.1f} s",))
    tried = f"no proof was kept, and {seconds:g} s of search neither proved nor refuted it"
    return Verification(unchecked=(_unchecked(certificate, tried),))


def _attainable(problem: RankingProblem) -> float:
    """Value of winning all pairs that can be won one by one, where there are not too many to look at."""
    if not within_reach(problem):
        return problem.trivial_bound
    return max(problem.floor, problem.arrays().attainable_value() - problem.penalty)


def _unchecked(certificate: Certificate, why: str) -> str:
    return (
        f"the bound {certificate.bound:.6g}: {why}; it rests on the program that wrote the file"
        f" ({certificate.method})"
    )


def _list(coef: tuple[float, ...], most: int = 8) -> str:
    numbers = ", ".join(f"{one:.6g}" for one in coef[:most])
    return f"the coefficients [{numbers}{', ...' if len(coef) > most else ''}]"


def _above(number: float) -> float:
    return number + TOLERANCE * max(1.0, abs(number))
