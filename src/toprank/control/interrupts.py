"""Ctrl-C: caught by the outermost fit, seen by every fit inside it, handed on at the end."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, ClassVar, Self

__all__ = ["Interrupts", "keep_best_on_interrupt"]


class Interrupts:
    """Ctrl-C between two moments: remembered, shown to every run, and handed on at the end.

    Only the outermost of nested scopes catches: what falls into an inner fit is known to the outer one too.
    """

    current: ClassVar[Interrupts | None] = None

    def __init__(self) -> None:
        self.pending = False
        self._previous: Any = None
        self._closing = False

    def open(self) -> bool:
        """Catch from now on, if nobody does and the caller's choice of a handler leaves us to."""
        if threading.current_thread() is not threading.main_thread() or Interrupts.current is not None:
            return False
        self._previous = signal.getsignal(signal.SIGINT)
        # A caller that ignores SIGINT, or set it outside Python (None), keeps its choice.
        if not callable(self._previous):
            return False
        signal.signal(signal.SIGINT, self._catch)
        Interrupts.current = self
        return True

    def close(self) -> None:
        """Give the handler back; from here on Ctrl-C is the caller's."""
        self._closing = True  # what comes before the handler is back must not keep it from coming back
        try:
            signal.signal(signal.SIGINT, self._previous)
        finally:
            Interrupts.current = None

    def hand_on(self) -> None:
        """Do what the caller's handler does, which as a rule is to raise KeyboardInterrupt."""
        self._previous(signal.SIGINT, None)

    def _catch(self, signum: int, frame: FrameType | None) -> None:
        again, self.pending = self.pending, True
        if again and not self._closing:
            self._previous(signum, frame)


class keep_best_on_interrupt:  # reads as a statement: with keep_best_on_interrupt()
    """Within this context Ctrl-C ends fits with their best answer so far, and goes no further.

    Elsewhere a fit that is interrupted keeps its best answer too, and then raises KeyboardInterrupt, so that
    the loop around it stops. Here it returns as if time had run out; fits begun later in the context stop at
    once. A second Ctrl-C raises as usual. Does nothing outside the main thread.

    Examples
    --------
    >>> from toprank import DirectRanker
    >>> with keep_best_on_interrupt() as kept:  # Ctrl-C would end this fit, not the program
    ...     ranker = DirectRanker("dcg", random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    >>> kept.interrupted, ranker.first([[0.0], [1.0], [2.0]], 1)
    (False, array([2]))
    """

    def __enter__(self) -> Self:
        self._interrupts = Interrupts.current or Interrupts()
        self._outermost = self._interrupts.open()
        return self

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interrupts.pending

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._outermost:
            self._interrupts.close()
