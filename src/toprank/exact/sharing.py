"""Open nodes of a search, dealt out to others in batches: on other processes, or other machines.

What travels are plain arrays, as in a checkpoint. A batch is searched for some seconds; then what is left of
it comes back as open nodes, with what was found and the log of what was done. Whoever searches a batch and is
lost costs nothing but that time: its nodes are still known here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Crew", "CrewLost", "Errand", "Findings", "Sharing"]

Floats = NDArray[np.float64]
SHORTEST_ERRAND, LONGEST_ERRAND = 0.25, 5.0
"""Seconds that a batch is searched; the way there and back takes hundredths of a second."""
SECONDS_PER_HAND = 0.01
"""Of each of many hands an errand lasts this much longer at least: whoever deals needs some thousandths of a
second for each, and would be overrun."""
SHARE_OF_TIME = 0.05
"""In between, this share of the time so far: what others may have to wait for is small beside it."""
MOST_NODES = 1000
"""In a batch, so that it stays small; more would not be searched in those seconds. Not tuned."""
SPARE = 4
"""One batch more for so many hands lies ready for whoever is done first, and one in any case."""
SECONDS_BETWEEN_LOOKS = 0.05
"""How long a stop asked for from outside may go unheard."""


class CrewLost(ConnectionError):
    """Those who searched are gone, all of them and for good: the best answer so far is kept."""


@dataclass(frozen=True, slots=True)
class Errand:
    """Some open nodes to be searched for a while.

    Parameters
    ----------
    serial : int
        Its number: later ones have larger numbers.
    nodes : dict of arrays
        The open nodes.
    target : int
        What cannot reach it, in whole-number values, is left out.
    seconds : float
        How long to search at most.
    """

    serial: int
    nodes: dict[str, Any]
    target: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What came of an errand.

    Parameters
    ----------
    opened, stuck : dict of arrays
        Nodes that are left, and nodes that rounding leaves open.
    candidates : list of arrays
        Coefficients that may be better than what was known.
    target : int
        What better ones must reach, by what was found.
    nodes, failures : int
        Nodes looked at, and how often one could not be worked out.
    log : dict
        What was done on each subtree, where that is kept.
    seconds : float
        What it took.
    """

    opened: dict[str, Any]
    stuck: dict[str, Any]
    candidates: list[Floats]
    target: int
    nodes: int
    failures: int = 0
    log: dict[bytes, bytes] = field(default_factory=dict)
    seconds: float = 0.0


class Crew(Protocol):
    """Others who take part in one search. All but `returned` come back at once."""

    def hands(self) -> int:
        """How many errands are run at a time; may change on the way."""

    def send(self, errand: Errand) -> None:
        """Have an errand run."""

    def returned(self, seconds: float) -> list[tuple[int, Findings | None]]:
        """Serials and findings that came back, after waiting at most so long for the first.

        None for an errand that came to nothing; a CrewLost where none will come any more.
        """

    def tell(self, target: int, recalled: int) -> None:
        """Let all know of a higher target; errands up to this serial should come back soon."""

    def dismiss(self) -> None:
        """Nothing of what is under way is wanted any more."""


N = TypeVar("N")


class Shared(Protocol[N]):
    """What a search looks like to those who deal out its nodes."""

    should_stop: Callable[[], bool]

    @property
    def waiting(self) -> int:
        """Number of open nodes that nobody searches."""

    @property
    def whole_target(self) -> int:
        """What better answers must reach, in whole-number values."""

    def hand_out(self, number: int) -> list[N]:
        """So many open nodes at most, the best first; they are no longer the search's."""

    def take_back(self, nodes: list[N]) -> None:
        """Open nodes that nobody searched."""

    def welcome(self, findings: Findings) -> None:
        """Book what came of an errand."""

    def pack(self, nodes: list[N]) -> dict[str, Any]:
        """Nodes as plain arrays."""


class Sharing(Generic[N]):
    """The nodes of one search that others have, and the dealing out of more.

    Parameters
    ----------
    crew : Crew
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._away: dict[int, list[N]] = {}
        self._serial = 0
        self._began = time.perf_counter()
        self._told = (0, 0)
        self._last_recall = self._began

    @property
    def away(self) -> list[N]:
        """Nodes that others have."""
        return [node for nodes in self._away.values() for node in nodes]

    def explore(self, search: Shared[N], deadline: float) -> None:
        """Deal out, and book what comes back, until the deadline."""
        while True:
            self._deal(search)
            left = deadline - time.perf_counter()
            if left <= 0 or search.should_stop() or not (self._away or search.waiting):
                return
            for serial, findings in self._crew.returned(min(left, SECONDS_BETWEEN_LOOKS)):
                nodes = self._away.pop(serial, None)
                if nodes is not None and findings is not None:
                    search.welcome(findings)
                elif nodes is not None:
                    search.take_back(nodes)

    def dismiss(self) -> list[N]:
        """Have nothing searched by others any more; the nodes they had."""
        nodes, self._away = self.away, {}
        self._crew.dismiss()
        return nodes

    def _deal(self, search: Shared[N]) -> None:
        hands = self._crew.hands()
        ready = hands + max(1, hands // SPARE) if hands else 0
        while len(self._away) < ready:
            # Half of what waits stays here, for those who are done sooner.
            nodes = search.hand_out(min(MOST_NODES, -(-search.waiting // (2 * hands))))
            if not nodes:
                break
            self._send(search, nodes, hands)
        self._tell(search, hands)

    def _send(self, search: Shared[N], nodes: list[N], hands: int) -> None:
        self._serial += 1
        self._away[self._serial] = nodes
        seconds = min(SHARE_OF_TIME * (time.perf_counter() - self._began), LONGEST_ERRAND)
        seconds = max(seconds, _shortest(hands))
        self._crew.send(Errand(self._serial, search.pack(nodes), search.whole_target, seconds))

    def _tell(self, search: Shared[N], hands: int) -> None:
        """Pass on a higher target; where someone has nothing to do the others are asked to share."""
        target, recalled = search.whole_target, self._told[1]
        now, idle = time.perf_counter(), len(self._away) < hands
        if idle and self._away and now - self._last_recall > _shortest(hands):
            recalled, self._last_recall = self._serial, now
        if self._away and (target, recalled) != self._told:
            self._told = target, recalled
            self._crew.tell(target, recalled)


def _shortest(hands: int) -> float:
    """Seconds that an errand lasts at least, and that lie between two requests to share."""
    return max(SHORTEST_ERRAND, SECONDS_PER_HAND * hands)
