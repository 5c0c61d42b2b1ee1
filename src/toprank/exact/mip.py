"""Solving a ranking problem as a mixed-integer program, whichever formulation and solver."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Run, Status
from toprank.exact import backends
from toprank.exact.backends import Backend, RawSolution
from toprank.exact.certificate import Certificate
from toprank.exact.compact import Strengthening, compact_program
from toprank.exact.constraints import Constraints, InfeasibleError
from toprank.exact.formulation import preference_program, resolved_rank_program, subrank_program
from toprank.exact.problem import RankingProblem
from toprank.exact.program import MixedIntegerProgram
from toprank.exact.ties import break_ties

__all__ = ["Formulation", "build_program", "solve_program"]

Floats = NDArray[np.float64]
Formulation = Literal["mip", "mip-subrank", "mip-resolved"]
_MOST_ENTRIES = 100_000_000  # of the constraint matrix: about a gigabyte


def build_program(
    problem: RankingProblem,
    formulation: Formulation = "mip",
    constraints: Constraints | None = None,
    *,
    strengthen: bool = False,
    strengthening: Strengthening | None = None,
) -> MixedIntegerProgram:
    """The program a formulation makes of a problem.

    Parameters
    ----------
    problem : RankingProblem
    formulation : {"mip", "mip-subrank", "mip-resolved"}
        Ours, or one of Rudin & Wang (2018): Eq. (22) to (26), Eq. (11) to (21). Preferences become their
        Appendix A.2 in both of the latter.
    constraints : Constraints, optional
        Only ours knows them.
    strengthen : bool
        Eq. (27) to (30) for ``"mip-subrank"``.
    strengthening : Strengthening, optional
        Which improvements ours uses.
    """
    if formulation not in get_args(Formulation):
        raise ValueError(
            f"unknown formulation {formulation!r}; choose one of {', '.join(get_args(Formulation))}."
        )
    _check_size(problem, formulation)
    if formulation == "mip":
        return compact_program(problem, constraints, strengthening=strengthening)
    if constraints is not None and not constraints.empty:
        raise ValueError(f"formulation {formulation!r} knows no constraints; use 'mip'.")
    if problem.pairs is not None:
        return preference_program(problem)
    if formulation == "mip-subrank":
        return subrank_program(problem, strengthen=strengthen)
    return resolved_rank_program(problem)


def solve_program(
    problem: RankingProblem,
    run: Run,
    *,
    formulation: Formulation = "mip",
    backend: str = "highs",
    constraints: Constraints | None = None,
    start: ArrayLike | None = None,
    strengthen: bool = False,
    threads: int = 1,
) -> Certificate:
    """Solve a ranking problem as a mixed-integer program; the value is recomputed from the coefficients.

    A solver works within tolerances, so what it claims and what its coefficients reach can differ; then the
    certificate says so, and is not called optimal. The bound is the solver's.

    Parameters
    ----------
    problem : RankingProblem
    run : Run
        Clock, callback and stop button; the time to build the model counts.
    formulation, constraints, strengthen
        See `build_program`.
    backend : str
        ``"highs"``, or ``"scip"`` or ``"gurobi"`` where installed.
    start : array-like, optional
        Coefficients of the original features to start from.
    threads : int
        At most so many threads.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", margin=1e-3)
    >>> with Run(rng=0) as run:
    ...     solve_program(problem, run).summary()
    'auc 1: proved optimal'
    """
    solver = backends.get(backend)
    program = build_program(problem, formulation, constraints, strengthen=strengthen)
    raw = solver.solve(program, _start(problem, program, start), run, threads=threads)
    if raw.infeasible:
        raise InfeasibleError(_explain(problem, program, solver, constraints, run))
    coef = _coefficients(problem, program, raw, start)
    return _certificate(problem, program, solver, raw, coef, constraints, run)


def _check_size(problem: RankingProblem, formulation: str) -> None:
    n, d = problem.X.shape
    entries = {
        "mip": problem.n_pairs * (d + 4),
        "mip-subrank": n * n * n // 2,
        "mip-resolved": n * n * (2 * d + 8),
    }
    if entries[formulation] > _MOST_ENTRIES:
        raise ValueError(
            f"formulation {formulation!r} of {n} rows would need more than {_MOST_ENTRIES:,} matrix entries;"
            " rerank fewer rows, or use solver='search'."
        )


def _start(problem: RankingProblem, program: MixedIntegerProgram, start: ArrayLike | None) -> Floats | None:
    """A full solution from start coefficients, where they are feasible."""
    if start is None:
        return None
    x = program.encode(problem.scale(start))
    return x if program.violation(x) <= program.epsilon / 100 else None


def _coefficients(
    problem: RankingProblem, program: MixedIntegerProgram, raw: RawSolution, start: ArrayLike | None
) -> Floats:
    """The best of what the solver's solution stands for, cleaned of its tolerances, and the start."""
    candidates = [np.zeros(problem.n_features)]
    if start is not None:
        candidates.append(np.asarray(start, dtype=np.float64))
    if raw.x is not None:
        w = program.decode(raw.x)
        w[np.abs(w) <= 1e-9] = 0.0
        candidates += [problem.unscale(c) for c in (w, _widest(problem, w))]
        candidates.append(break_ties(problem.X, candidates[-1]))
    if program.unit != 1 or any(block.startswith("top") for block in program.blocks):
        # Only the solver knows whether a user's demands hold: its own answer, or nothing.
        return candidates[1 + (start is not None)] if raw.x is not None else candidates[0]
    return max(candidates, key=problem.evaluate)


def _widest(problem: RankingProblem, w: Floats) -> Floats:
    """Coefficients on the same support that win the pairs `w` nearly wins by the widest margin there is."""
    from scipy.optimize import linprog

    support = np.flatnonzero(w)
    arrays = problem.arrays()
    won = arrays.differences @ w >= 0.5 * problem.margin
    if not won.any() or not len(support):
        return w
    rows = np.unique(arrays.differences[won][:, support], axis=0)
    # The sign of each coefficient is kept, so that a user's demands on signs are.
    bounds = [(0.0, 1.0) if v > 0 else (-1.0, 0.0) for v in w[support]]
    result = linprog(
        np.append(np.zeros(len(support)), -1.0),
        A_ub=np.column_stack((-rows, np.ones(len(rows)))),
        b_ub=np.zeros(len(rows)),
        bounds=[*bounds, (0.0, None)],
        method="highs",
    )
    if result.x is None:
        return w
    widened = np.zeros_like(w)
    widened[support] = result.x[:-1]
    return widened


def _certificate(
    problem: RankingProblem,
    program: MixedIntegerProgram,
    solver: Backend,
    raw: RawSolution,
    coef: Floats,
    constraints: Constraints | None,
    run: Run,
) -> Certificate:
    notes = [f"the bound is {solver.name}'s, within its tolerances"]
    if program.scaling != 1.0:
        notes.append(
            f"differences of the scaled features were divided by {program.scaling:.6g};"
            f" eps is {program.epsilon:.3g}"
        )
    if constraints is not None and not constraints.empty:
        notes.append("under constraints: " + "; ".join(name for name, _ in constraints.each()))
    value, status = problem.evaluate(coef), raw.status
    claimed = raw.value if math.isfinite(raw.value) else value
    if value < claimed - 1e-7 * max(1.0, abs(claimed)):
        notes.append(
            f"{solver.name} claims {claimed:.9g}, its coefficients reach {value:.9g}: differences near the"
            " margin were lost to its tolerances; a larger margin helps"
        )
        status = Status.FINISHED if status is Status.OPTIMAL else status
    bound = min(raw.bound, problem.trivial_bound) if not math.isnan(raw.bound) else problem.trivial_bound
    return Certificate.of(
        problem,
        coef,
        bound=bound,
        status=status,
        seconds=run.seconds,
        nodes=raw.nodes,
        method=f"{program.name} program, {solver.name}",
        history=raw.history,
        notes=tuple(notes),
    )


def _explain(
    problem: RankingProblem,
    program: MixedIntegerProgram,
    solver: Backend,
    constraints: Constraints | None,
    run: Run,
) -> str:
    """Which demand cannot be met: each one is tried by itself."""
    if constraints is None or constraints.empty:
        return f"the {program.name} program has no solution: margin={problem.margin} is too large here."
    for name, single in constraints.each():
        raw = solver.solve(compact_program(problem, single), None, run.part(0.5, silent=True), threads=1)
        if raw.infeasible:
            return f"no linear score meets the constraint: {name}."
    return "no linear score meets these constraints together: " + "; ".join(
        name for name, _ in constraints.each()
    )
