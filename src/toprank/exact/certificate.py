"""The answer of an exact method, with everything a sceptic needs to check it."""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from toprank.control import STILL_COMPILING, Outcome, Progress, Status, relative_gap
from toprank.exact.problem import RankingProblem
from toprank.markup import html_table, shown_number
from toprank.output import write_whole

__all__ = ["AMONG", "PROVED", "UNDER_CONSTRAINTS", "Certificate", "CertificateError"]

UNDER_CONSTRAINTS = "under constraints: "
AMONG = "among scores that win pairs by "
PROVED = "proved optimal: no linear score orders these items better"
"""How the note begins that says what the answer had to meet beside the problem."""

_FORMAT = "toprank certificate"
_VERSION = 2


class CertificateError(ValueError):
    """A file is not a certificate, or is damaged."""


@dataclass(frozen=True)
class Certificate:
    """A linear ranker, its value, and the proof-carrying bound on what any other could reach.

    Parameters
    ----------
    coef : tuple of float
        Coefficients of the original features.
    value : float
        The problem's value at `coef`, recomputed in exact arithmetic.
    bound : float
        No coefficients reach more than this.
    status : Status
        ``optimal`` means proved: value and bound meet.
    seconds, nodes : float, int
        What it cost.
    method : str
        Who made the bound.
    statistic : str
        What was maximised.
    margin, penalty : float
        Zero: a pair is won by any score difference, and the bound holds for every linear score. Otherwise
        the difference must be at least `margin` times the pair's length (see `RankingProblem`), and the
        bound is about scores counted so. The price of each non-zero coefficient.
    scales : tuple of float
        The features were divided by these; ``max |coef_j| * scales_j = 1`` is the normalisation in which
        a margin is stated.
    fingerprint : str
        SHA-256 of the problem: data, statistic, feasible set.
    history : tuple of (seconds, value, bound)
        How value and bound met.
    notes : tuple of str
        Plain sentences a user should know.
    proof : dict or None
        The partition that was searched, where it was kept, for `verify` to replay.

    Examples
    --------
    >>> from toprank import ExactRanker
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> certificate = ExactRanker("auc", random_state=0).fit(X, y).certificate_
    >>> certificate.value, certificate.proved
    (0.75, True)
    """

    coef: tuple[float, ...]
    value: float
    bound: float
    status: Status
    seconds: float
    nodes: int
    method: str
    statistic: str
    margin: float
    penalty: float
    scales: tuple[float, ...]
    fingerprint: str
    history: tuple[tuple[float, float, float], ...] = ()
    notes: tuple[str, ...] = ()
    proof: dict[str, Any] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        problem: RankingProblem,
        coef: NDArray[np.float64],
        *,
        bound: float,
        status: Status,
        seconds: float,
        nodes: int,
        method: str,
        history: tuple[tuple[float, float, float], ...] = (),
        notes: tuple[str, ...] = (),
        proof: dict[str, Any] | None = None,
    ) -> Self:
        """The certificate of coefficients of the original features; the value is computed here, exactly."""
        # Fractions only where rounding could decide: for all pairs they would take longer than the search.
        value = problem.evaluate(coef)
        return cls(
            tuple(np.asarray(coef, dtype=np.float64).tolist()),
            value,
            max(bound, value),
            status,
            seconds,
            nodes,
            method,
            problem.statistic,
            problem.margin,
            problem.penalty,
            tuple(problem.scales.tolist()),
            problem.fingerprint(),
            history,
            notes,
            proof,
        )

    @property
    def gap(self) -> float:
        """Relative distance between value and bound."""
        return relative_gap(self.value, self.bound)

    @property
    def proved(self) -> bool:
        """Whether no linear ranker does better, as `claim` puts it."""
        return self.status is Status.OPTIMAL

    @property
    def claim(self) -> str:
        """What is proved, in a sentence; empty when nothing is."""
        if not self.proved:
            return ""
        return f"proved optimal {self._among}" if self._among else PROVED

    @property
    def _among(self) -> str:
        """Which scores the bound is about, where not about all."""
        return f"{AMONG}{self.margin:.2g} of their length or more" if self.margin else ""

    @property
    def outcome(self) -> Outcome:
        """The same result in the words every ranker uses."""
        notes = (*self.notes, self._among) if self._among else self.notes
        return Outcome(self.value, self.bound, self.status, self.seconds, self.nodes, notes)

    def summary(self) -> str:
        """One line for people: proved optimal, or how far from it at most.

        >>> Certificate(
        ...     (1.0,), 9.0, 10.0, Status.TIME_LIMIT, 1.0, 5, "boxes", "dcg", 0.0, 0.0, (1.0,), ""
        ... ).summary()
        'dcg 9: at most 10 % below the best possible (10)'
        """
        if self.proved:
            return f"{self.statistic} {self.value:.6g}: proved optimal {self._among}".rstrip()
        if not math.isfinite(self.gap):
            return f"{self.statistic} {self.value:.6g}: no bound is known"
        why = f"; {STILL_COMPILING}" if STILL_COMPILING in self.notes else ""
        return (
            f"{self.statistic} {self.value:.6g}: at most {100 * self.gap:.2g} % below the best possible"
            f" ({self.bound:.6g}){why}"
        )

    def _sentences(self) -> str:
        further = [note for note in self.notes if note != STILL_COMPILING]  # which the summary says
        return ". ".join([self.summary(), *further]) + "."

    def _repr_html_(self) -> str:
        """The claim as a notebook shows it."""
        rows = [
            ["statistic", self.statistic],
            ["value", shown_number(self.value)],
            ["bound", shown_number(self.bound)],
            ["gap", f"{100 * self.gap:.2g} %" if math.isfinite(self.gap) else "no bound"],
            ["status", str(self.status)],
            ["method", f"{self.method}, {self.nodes} nodes, {self.seconds:.1f} s"],
            ["problem", self.fingerprint[:16]],
        ]
        return html_table("Certificate", [], rows, below=self._sentences())

    def progress(self) -> list[Progress]:
        """The history as progress events, ready to draw."""
        return [Progress(value, bound, seconds) for seconds, value, bound in self.history]

    # -- files --------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Readable text; numbers survive the round trip exactly."""
        content = _plain(asdict(self))
        return json.dumps(
            {"format": _FORMAT, "version": _VERSION, "seal": _seal(content), **content},
            indent=1,
            allow_nan=True,
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` wrote; anything else is a CertificateError."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise CertificateError(f"not a certificate: no valid JSON ({error}).") from None
        if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
            raise CertificateError("not a certificate: the field 'format' is missing.")
        version = content.pop("version", None)
        if version != _VERSION:
            raise CertificateError(
                f"certificate version {version!r} is not known; this library reads {_VERSION}."
            )
        if content.pop("seal", None) != _seal(content):
            raise CertificateError(
                "the certificate was changed or damaged: its seal does not match its content."
            )
        try:
            return cls(
                **{
                    **content,
                    "coef": tuple(map(float, content["coef"])),
                    "scales": tuple(map(float, content["scales"])),
                    "status": Status(content["status"]),
                    "history": tuple(tuple(map(float, event)) for event in content["history"]),
                    "notes": tuple(content["notes"]),
                }
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CertificateError(f"damaged certificate: {error}.") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate; the file is whole or not there."""
        write_whole({Path(path): self.to_json().encode()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a certificate from a file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise CertificateError(f"{path}: not a certificate: no text.") from None
        except OSError as error:
            raise CertificateError(f"{path} cannot be read: {error.strerror}.") from None
        except CertificateError as error:
            raise CertificateError(f"{path}: {error}") from None

    def without_times(self) -> Self:
        """The same claim without what differs from run to run: equal answers then give equal files."""
        return replace(self, seconds=0.0, history=())


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """What JSON knows: lists for tuples, text for the status."""
    return dict(json.loads(json.dumps({**content, "status": str(content["status"])})))


def _seal(content: dict[str, Any]) -> str:
    """SHA-256 of the content: shows damage and careless changes; the replay shows the rest."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
