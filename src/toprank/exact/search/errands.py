"""Taking part in a search that was begun elsewhere: one errand after another, in any process.

A process keeps the searches it takes part in, without their nodes, from errand to errand: what is worked out
once (coordinates, arrays, the memory of the kernels) serves all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toprank.exact.problem import RankingProblem
from toprank.exact.search.methods import hand_over, method_from_plan
from toprank.exact.sharing import Crew, Errand, Findings

__all__ = ["Assignment", "Recruit", "hear", "run_errand"]

CHUNK_SECONDS = 0.1
"""Between two looks at the news."""
SECONDS_IN_ANY_CASE = 0.05
"""What an errand that is recalled has been searched at least: the way is never for nothing."""
MOST_SEARCHES = 4
"""That a process keeps, the last ones it took part in."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A search that others take part in.

    Parameters
    ----------
    token : str
        Name of this search: no other has it.
    problem : RankingProblem
    columns : array
        On which it searches.
    method : str
        Name in the registry of methods.
    plan : dict
        `Method.plan` of the search.
    """

    token: str
    problem: RankingProblem
    columns: NDArray[np.int64]
    method: str
    plan: dict[str, Any]


Recruit = Callable[[Assignment], Crew]
"""Finds those who take part in a search."""


class Partner(Protocol):
    """A method as it looks to those who run its errands."""

    candidates: list[NDArray[np.float64]]
    should_stop: Callable[[], bool]

    @property
    def done(self) -> bool: ...

    @property
    def nodes(self) -> int: ...

    @property
    def whole_target(self) -> int: ...

    def advance(self, max_seconds: float = 0.1) -> None: ...

    def aim(self, target: int) -> None: ...

    def take_over(self, packed: dict[str, Any], target: int, serial: int) -> None: ...

    def findings(self, nodes_before: int, seconds: float) -> Findings: ...


class _Post:
    """What this process knows of a search: the news, and searches without nodes that are not in use."""

    def __init__(self) -> None:
        self.target: int | None = None
        self.recalled, self.over = 0, False
        self.partners: list[Partner] = []


_posts: dict[str, _Post] = {}
_lock = threading.Lock()


def run_errand(assignment: Assignment, errand: Errand) -> Findings:
    """Search some open nodes for a while.

    It ends early when nothing is left, on an answer that raises the target, and when `hear` says so.
    """
    began = time.perf_counter()
    post = _post(assignment.token)
    partner = _partner(assignment, post)
    before = partner.nodes
    known = errand.target
    partner.take_over(errand.nodes, known, errand.serial)

    def wanted_back() -> bool:
        recalled = errand.serial <= post.recalled and time.perf_counter() - began > SECONDS_IN_ANY_CASE
        return post.over or recalled

    partner.should_stop = wanted_back
    while not (partner.done or wanted_back() or time.perf_counter() - began > errand.seconds):
        if post.target is not None:
            known = max(known, post.target)
            partner.aim(known)
        partner.advance(min(CHUNK_SECONDS, errand.seconds))
        if partner.whole_target > known:
            break
    findings = partner.findings(before, time.perf_counter() - began)
    with _lock:
        post.partners.append(partner)
    return findings


def hear(token: str, target: int, recalled: int, over: bool) -> None:
    """News of a search: a target to reach, errands that should end soon, or that all of them should."""
    if over:
        with _lock:
            post = _posts.pop(token, None)
        if post is not None:
            post.over = True
        return
    post = _post(token)
    post.target = target if post.target is None else max(post.target, target)
    post.recalled = max(post.recalled, recalled)


def _post(token: str) -> _Post:
    with _lock:
        post = _posts.pop(token, None) or _Post()
        _posts[token] = post  # the last one is the latest
        for old in list(_posts)[:-MOST_SEARCHES]:
            del _posts[old]
    return post


def _partner(assignment: Assignment, post: _Post) -> Partner:
    with _lock:
        if post.partners:
            return post.partners.pop()
    arrays = hand_over(assignment.method, assignment.problem, assignment.columns)
    made: Partner = method_from_plan(assignment.method, arrays, assignment.plan)
    return made
