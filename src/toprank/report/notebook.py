"""A progress bar for a fit in a notebook: a callback that redraws one line in place."""

from __future__ import annotations

import math
import sys
from html import escape
from typing import Any

from toprank.control import Progress

__all__ = ["ProgressBar"]


class ProgressBar:
    """A callback for rankers: best value, bound and gap so far, in one line that is drawn again in place.

    In a notebook the line has a bar that is full when value and bound meet; elsewhere it goes to standard
    error.

    Parameters
    ----------
    every : float
        Seconds of the fit between two drawings.

    Examples
    --------
    >>> import numpy as np
    >>> from toprank import DirectRanker
    >>> X = np.array([[3.0], [1.0], [2.0], [0.0]])
    >>> ranker = DirectRanker("dcg", random_state=0, callback=ProgressBar()).fit(X, [1, 0, 1, 0])
    """

    def __init__(self, every: float = 0.5) -> None:
        self.every = every
        self._last = -math.inf
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        """Draw the line again, unless it was drawn a moment ago."""
        # A new fit begins with its clock at zero.
        if 0 <= progress.seconds - self._last < self.every:
            return
        self._last = progress.seconds
        if _in_notebook():
            self._draw(progress)
        else:
            print(f"\r{_words(progress)}", end="", file=sys.stderr, flush=True)

    def _draw(self, progress: Progress) -> None:
        from IPython.display import HTML, display

        line = HTML(_markup(progress))
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)


def _in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook, not in IPython's terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _words(progress: Progress) -> str:
    """How far a fit has come, in one line."""
    known = f" of at most {progress.bound:.6g} (gap {100 * progress.gap:.2g} %)"
    bound = known if math.isfinite(progress.gap) else ""
    phase = f", {progress.phase}" if progress.phase else ""
    return f"{progress.value:.6g}{bound}, {progress.seconds:.1f} s{phase}"


def _markup(progress: Progress) -> str:
    """The same with a bar, as far as a bound is known."""
    bar = ""
    if math.isfinite(progress.gap):
        bar = f'<progress max="1" value="{1 - min(progress.gap, 1):.4f}"></progress> '
    return f"<div>{bar}{escape(_words(progress))}</div>"
