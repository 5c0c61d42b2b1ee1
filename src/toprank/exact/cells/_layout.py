"""How the arrays of the compiled cell search are laid out, and how its functions are compiled.

Legend. d features; P units (pairs with equal differences are one unit). A literal is ``2 * unit`` for "the
unit is won" and ``2 * unit + 1`` for "the unit is lost". Money (weights, budgets, bounds, the target) is
whole numbers.

Simplex method (`lp` = rows, lines, ids, basis, vertex): rows read ``rows[:, r] @ point >= lines[RHS, r]``,
those before 2d are the box. A vertex is d tight rows (`basis`); ``vertex[k]``, k < d, is the edge that
loosens basic row k at unit rate and keeps the others tight; ``vertex[d]`` is the point, ``vertex[d + 1]`` the
prices of the last climb.

The other bundles: `facts` = units, columns, gauge, errors, ledger, scratch (the units' rows, the same by
columns, their thresholds, how far the entries of each row may be off, the exact features, room to compute
in); `prize` = the objective; `tree` = the stack of nodes; `crew` = witnesses; `board` = one node's notes;
`store` = infeasible sets (found[0] is the latest one, found[1] one to branch on), known ones, known ones by
size.

Nothing here trusts the simplex method: a set of literals is called infeasible only if its rows are exactly
dependent or, with a margin, if multipliers prove it by arithmetic with an error bound (`certify`).
"""

from toprank.exact.rounding import UNIT

# Slots of control.
LEVEL, WORK, LIMIT, NODES, N_ROWS, TOP, N_CLAUSES, HAND = range(8)
OFFERED, N_LOG, NEXT_ID, TARGET, HOPE, TOTAL, ADDITIVE, N_POSITIVES, LOADING, HURRY = range(8, 18)
CONTROL_SIZE = 18
# Slots of goals: slack within which rows tie, largest violation that refactoring may leave.
TOLERANCE, NO_GAP = range(2)
# Rows of lines, gauge, coins and flags.
RHS, SLACK, RATE, RATIO, HOME = range(5)
LOW, HIGH, EXACT, SIZE, HOLD = range(5)
BUDGET, LEFT, PACKED = range(3)
COVERED, TOGETHER, APART = range(3)
# Columns of clauses: how many literals, how much used lately, where the literals begin.
LENGTH, USE, HEAD = range(3)
# Columns of stack.
PHASE, BRANCHED, FIRST_ID, END_ROWS, NUMBER, CREW_SIZE, CREW_TOP, BASIS = range(8)
# Phases of a node on the stack.
FRESH, FIRST, SECOND, SPENT, WAITING = range(5)
# What became of a node, and why the walk returned.
CLOSED, BRANCH, LEAF, STUCK, OPEN = range(5)
DONE, PAUSE, FITS, JAMMED, DEEP = range(5)
UNDECIDED, WON, LOST = range(3)
# Records of the log.
LOG_ENTER, LOG_LOST, LOG_WIN, LOG_RESET, LOG_PACK, LOG_BRANCH, LOG_CLOSE, LOG_FROM = range(1, 9)
CLOSED_EMPTY, CLOSED_VALUE, CLOSED_PACKING = range(3)

EPS = 2 * UNIT
FEW = 4
"""Infeasible sets with more open members are not kept."""
SHARE = 0.5
"""How far towards the losses of the last packing point the budgets are tangent."""
PUBLIC = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = {**PUBLIC, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# The simplex method may round as it likes: what it claims is checked elsewhere.
FAST = {**INNER, "fastmath": {"nnan", "nsz", "reassoc", "contract", "arcp"}}
