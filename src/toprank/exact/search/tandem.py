"""Two searches of one problem that take turns: what one of them cannot do the other often can.

The bound of each holds, so the lower one does; the first that is through has proved it for both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.search.methods import Method
from toprank.exact.sharing import Crew

__all__ = ["Tandem"]

Floats = NDArray[np.float64]
HEAD_START = 3.0
"""Seconds the first method has for itself: most problems take less. After that they take turns, which the
bounds have no say in: that of the cells tells little about when that of boxes, which falls late, will
overtake it."""


class Tandem:
    """A method that goes first, and another that is called in when it takes long.

    Parameters
    ----------
    first : Method
    make_second : callable
        Makes the other one for the same problem, given the target it must look for.
    may_begin : callable
        Whether the other one can be made already.
    share : float
        Of the time they take turns in, what the other one gets.
    """

    def __init__(
        self,
        first: Method,
        make_second: Callable[[float], Method],
        may_begin: Callable[[], bool] = lambda: True,
        share: float = 0.5,
    ) -> None:
        self._methods = [first]
        self._seconds = [0.0]
        self._make_second, self._may_begin = make_second, may_begin
        self._share = share
        self.candidates: list[Floats] = []
        self.bound = first.bound
        self.should_stop = first.should_stop

    def advance(self, max_seconds: float, target: float) -> None:
        """Work for about so long with the one whose turn it is."""
        begin = time.perf_counter()
        turn = self._turn()
        if turn == len(self._methods):
            self._methods.append(self._make_second(target))
            self._seconds = [0.0, 0.0]
        method = self._methods[turn]
        method.advance(max_seconds, target)
        self._seconds[turn] += time.perf_counter() - begin
        self.candidates += method.candidates
        method.candidates = []
        self.bound = min(self.bound, method.bound)

    def _turn(self) -> int:
        """0 for the first method, 1 for the second; whoever has come to an end leaves it to the other."""
        for place, method in enumerate(self._methods):
            if method.done:
                return 1 - place
        if len(self._methods) == 1:
            return int(self._seconds[0] >= HEAD_START and self._may_begin())
        return int(self._seconds[1] * (1.0 - self._share) < self._seconds[0] * self._share)

    @property
    def _leader(self) -> Method:
        """The one that is through or, as long as none is, has the lower bound."""
        return min(self._methods, key=lambda method: (not self._through(method), method.bound))

    @staticmethod
    def _through(method: Method) -> bool:
        """Whether a method has decided everything; one that rounding defeats leaves it to the other."""
        return method.done and method.unresolved == -math.inf

    @property
    def done(self) -> bool:
        """Whether one of them is through, or both have done what they could."""
        ended = len(self._methods) > 1 and all(method.done for method in self._methods)
        return ended or self._through(self._leader)

    @property
    def unresolved(self) -> float:
        """What the leader could not decide."""
        return self._leader.unresolved

    @property
    def nodes(self) -> int:
        """Nodes of both."""
        return sum(method.nodes for method in self._methods)

    @property
    def name(self) -> str:
        """Name of the leader, whose log and checkpoint are handed out."""
        return self._leader.name

    @property
    def log(self) -> dict[bytes, bytes] | None:
        """The leader's log."""
        return self._leader.log

    def rehearse(self) -> None:
        """Have both rehearse."""
        for method in self._methods:
            method.rehearse()

    def plan(self) -> dict[str, Any]:
        """The leader's."""
        return self._leader.plan()

    def share(self, crew: Crew) -> None:
        """The leader's searching is left to others; whoever makes a second method sees to its own."""
        self._leader.share(crew)

    def dismiss(self) -> None:
        """Have nothing searched by others any more."""
        for method in self._methods:
            method.dismiss()

    def checkpoint(self) -> dict[str, Any]:
        """The leader's open nodes; the other's work is not kept."""
        return self._leader.checkpoint()
