"""Points of a node and the units that win there: such units need no linear program.

The arrays are explained in `_cell_layout`.
"""

from numba import njit

from toprank.exact.cells._layout import COVERED, CREW_SIZE, FAST, HOLD, INNER, TOP


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
def witness(facts, lp, crew, stack, board, control, level):
    """Keep who wins at the current point."""
    columns, gauge = facts[1], facts[2]
    masks, roster = crew
    flags, scores, _, _, _ = board
    score(columns, lp[4], scores)
    top = min(control[TOP], masks.shape[0] - 1)
    control[TOP] = top + 1
    for u in range(scores.size):
        won = scores[u] >= gauge[HOLD, u]
        masks[top, u] = won
        flags[COVERED, u] |= won
    n = stack[level, CREW_SIZE]
    if n == roster.shape[1]:
        n -= 1
        for i in range(n):
            roster[level, i] = roster[level, i + 1]
    roster[level, n] = top
    stack[level, CREW_SIZE] = n + 1


@njit(**INNER)
def dismiss(crew, stack, level, unit, want):
    """Keep the witnesses that win (want = 1) or lose (0) the unit."""
    masks, roster = crew
    kept = 0
    for i in range(stack[level, CREW_SIZE]):
        w = roster[level, i]
        if masks[w, unit] == want:
            roster[level, kept] = w
            kept += 1
    stack[level, CREW_SIZE] = kept


@njit(**INNER)
def muster(crew, stack, level, flags):
    """Which units some witness wins."""
    masks, roster = crew
    n = flags.shape[1]
    for u in range(n):
        flags[COVERED, u] = 0
    for i in range(stack[level, CREW_SIZE]):
        w = roster[level, i]
        for u in range(n):
            flags[COVERED, u] |= masks[w, u]
