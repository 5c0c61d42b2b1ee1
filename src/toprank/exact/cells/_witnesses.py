"""Points of a node and the units that win there: such units need no linear program.

The arrays are explained in `_layout`.
"""

from toprank.compiled import njit
from toprank.exact.cells._layout import COVERED, FAST, HOLD, INNER, N_WITNESSES, TOP


@njit(**FAST)
def score(columns, vertex, scores):
    """Scores of all units at the current point."""
    d, n = columns.shape
    for u in range(n):
        scores[u] = 0.0
    for j in range(d):
        x = vertex[d, j]
        for u in range(n):
            scores[u] += columns[j, u] * x


@njit(**INNER)
def witness(walk, level):
    """Keep who wins at the current point."""
    thresholds, control, stack = walk.facts.thresholds, walk.control, walk.tree.stack
    masks, of_level = walk.witnesses.masks, walk.witnesses.of_level
    flags, scores = walk.room.flags, walk.room.scores
    score(walk.facts.columns, walk.lp.vertex, scores)
    top = min(control[TOP], masks.shape[0] - 1)
    control[TOP] = top + 1
    for u in range(scores.size):
        won = scores[u] >= thresholds[HOLD, u]
        masks[top, u] = won
        flags[COVERED, u] |= won
    n = stack[level, N_WITNESSES]
    if n == of_level.shape[1]:
        n -= 1
        for i in range(n):
            of_level[level, i] = of_level[level, i + 1]
    of_level[level, n] = top
    stack[level, N_WITNESSES] = n + 1


@njit(**INNER)
def keep_witnesses(witnesses, stack, level, unit, want):
    """Keep the witnesses that win (want = 1) or lose (0) the unit."""
    masks, of_level = witnesses.masks, witnesses.of_level
    kept = 0
    for i in range(stack[level, N_WITNESSES]):
        w = of_level[level, i]
        if masks[w, unit] == want:
            of_level[level, kept] = w
            kept += 1
    stack[level, N_WITNESSES] = kept


@njit(**INNER)
def cover(witnesses, stack, level, flags):
    """Which units some witness wins."""
    masks, of_level = witnesses.masks, witnesses.of_level
    n = flags.shape[1]
    for u in range(n):
        flags[COVERED, u] = 0
    for i in range(stack[level, N_WITNESSES]):
        w = of_level[level, i]
        for u in range(n):
            flags[COVERED, u] |= masks[w, u]
