"""Who is told how far the work has come."""

from __future__ import annotations

from typing import Any, Protocol

from toprank.control import Progress

__all__ = ["Silent", "Watch"]


class Watch(Protocol):
    """Told about the stages of a command; a screen draws bars from it."""

    def stage(self, text: str, *, steps: int | None = None, seconds: float | None = None) -> None:
        """A new piece of work begins: so many steps, or at most so many seconds, or nobody knows."""

    def step(self, size: float = 1.0) -> None:
        """One of the steps is done, or such a part of one."""

    def note(self, text: str) -> None:
        """Something to say beside the bar: how much is left."""

    def search(self, progress: Progress) -> Any:
        """A search inside the stage reports; returning False stops it."""


class Silent:
    """Nobody is watching."""

    def stage(self, text: str, *, steps: int | None = None, seconds: float | None = None) -> None:
        """Ignore it."""

    def step(self, size: float = 1.0) -> None:
        """Ignore it."""

    def note(self, text: str) -> None:
        """Ignore it."""

    def search(self, progress: Progress) -> None:
        """Ignore it."""
