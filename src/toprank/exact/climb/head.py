"""The head of one long list, where its first places alone count: a climb by random steps, each judged.

Pairs near the top are too many to cross them all, and the rows that enter the first places, or leave them,
are in none of those that can be crossed. The value of some thousand rows takes a tenth of a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.exact.climb.arena import ListView, View, dense

__all__ = ["LEAST_LEAD", "Head", "head_of"]

Floats = NDArray[np.float64]
TRIES = 10
"""Steps for each line that a climb over crossings would look at: about as long."""
LONGER, SHORTER, SHORTEST = 1.5, 0.9, 1e-5
"""What a step is multiplied by when it succeeds, and when not, so that one in five does; and its least."""
LEAST_LEAD = 1e-12
"""What counts as won while searching, in units of the scaled features: above rounding."""


@dataclass(frozen=True, slots=True)
class Head:
    """Rows near the top in the coordinates of a search space.

    Parameters
    ----------
    view : ListView
        Of these rows, by their places in `Y`.
    Y : (rows, r) array
        Rows in coordinates in which all directions matter alike.
    basis : (d, r) array
        From those coordinates back to coefficients.
    """

    view: ListView
    Y: Floats
    basis: Floats

    def climb(
        self,
        v: Floats,
        margin: float,
        span: float,
        rng: np.random.Generator,
        lines: int,
        stalled: int,
        patience: int,
    ) -> tuple[Floats, float, int, int]:
        """Random steps from `v`, `span` long at first: answer, value, lines used, lines in vain."""
        v, step = v / np.linalg.norm(v), span
        best = begin = self._value(v, margin)
        for draw in rng.standard_normal((TRIES * lines, len(v))) / np.sqrt(len(v)):
            tried = v + step * draw
            value = self._value(tried, margin)
            if value > best:
                v, best, step = tried / np.linalg.norm(tried), value, LONGER * step
            else:
                step = max(SHORTER * step, SHORTEST)
        return v, best, lines, 0 if best > begin else stalled + lines

    def _value(self, v: Floats, margin: float) -> float:
        largest = float(np.abs(self.basis @ v).max()) if margin > 0 else 1.0
        return self.view.value(self.Y @ v, max(margin * largest, LEAST_LEAD))


def head_of(view: View, scores: Floats, rows: Any, basis: Floats) -> Head | None:
    """The head by the present scores of all rows; None where more than the first places of one list count."""
    if not isinstance(view, ListView) or not view.shallow:
        return None
    near, part = view.head(scores)
    return Head(part, dense(rows[near]) @ basis, basis)
