"""Solving a ranking problem as a mixed-integer program, whichever formulation and solver."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toprank.control import Run, Status
from toprank.exact.certificate import UNDER_CONSTRAINTS, Certificate
from toprank.exact.climb.local_search import local_search
from toprank.exact.mip import backends
from toprank.exact.mip.as_published import (
    auc_program,
    preference_program,
    resolved_rank_program,
    subrank_program,
)
from toprank.exact.mip.backends import Backend, RawSolution
from toprank.exact.mip.backends.protocol import stop_status
from toprank.exact.mip.compact import Strengthening, compact_program
from toprank.exact.mip.constraints import Constraints, InfeasibleError
from toprank.exact.mip.program import BuildStopped, MixedIntegerProgram, with_margin
from toprank.exact.problem import RankingProblem
from toprank.exact.ties import break_ties
from toprank.exact.widest import NEARLY, widest_margin

__all__ = ["Formulation", "build_program", "solve_program"]

Floats = NDArray[np.float64]
Formulation = Literal["mip", "mip-subrank", "mip-resolved", "mip-auc"]
_MOST_ENTRIES = 20_000_000  # of the constraint matrix: beyond, handing it over takes longer than most limits
_MARGIN_OF_ERROR = 1e-7  # relative: solvers sum in floats
_CLIMBING = 0.05  # of the time goes to local search from the start


def build_program(
    problem: RankingProblem,
    formulation: Formulation = "mip",
    constraints: Constraints | None = None,
    *,
    strengthen: bool = False,
    perturb: bool = False,
    strengthening: Strengthening | None = None,
    run: Run | None = None,
) -> MixedIntegerProgram:
    """The program a formulation makes of a problem.

    Parameters
    ----------
    problem : RankingProblem
    formulation : {"mip", "mip-subrank", "mip-resolved", "mip-auc"}
        Ours, or one of Rudin & Wang (2018): Eq. (22) to (26), Eq. (11) to (21), or Appendix A.1 for the AUC.
        Preferences become their Appendix A.2 in all of the latter.
    constraints : Constraints, optional
        Only ours knows them.
    strengthen : bool
        Eq. (27) to (30) for ``"mip-subrank"``.
    perturb : bool
        For ``"mip-subrank"``: relevant rows that are equal are parted by random differences.
    strengthening : Strengthening, optional
        Which improvements ours uses.
    run : Run, optional
        Building stops with `BuildStopped` when it says so.
    """
    if formulation not in get_args(Formulation):
        raise ValueError(
            f"unknown formulation {formulation!r}; choose one of {', '.join(get_args(Formulation))}."
        )
    _check_size(problem, formulation)
    problem = with_margin(problem)
    _check_margin(problem)
    if formulation == "mip":
        return compact_program(problem, constraints, strengthening=strengthening, run=run)
    if constraints is not None and not constraints.empty:
        raise ValueError(f"solver={formulation!r} knows no constraints; use solver='mip'.")
    if problem.pairs is not None:
        return preference_program(problem, run=run)
    if formulation == "mip-auc":
        return auc_program(problem, run=run)
    if formulation == "mip-subrank":
        return subrank_program(problem, strengthen=strengthen, perturb=perturb, run=run)
    return resolved_rank_program(problem, run=run)


def solve_program(
    problem: RankingProblem,
    run: Run,
    *,
    formulation: Formulation = "mip",
    backend: str = "highs",
    constraints: Constraints | None = None,
    start: ArrayLike | None = None,
    strengthen: bool = False,
    perturb: bool = False,
    threads: int = 1,
) -> Certificate:
    """Solve a ranking problem as a mixed-integer program; the value is recomputed from the coefficients.

    A solver works within tolerances, so what it claims and what its coefficients reach can differ; then the
    certificate says so, and is not called optimal. The bound is the solver's. Where the problem has no margin
    the program has one of its own, 1e-6 of each pair's length, and the certificate states it: value and bound
    are about scores that win pairs by as much. Ties between different rows are broken at the end where that
    costs nothing (`break_ties`).

    Parameters
    ----------
    problem : RankingProblem
    run : Run
        Clock, callback and stop button; the time to build the model counts, and building stops too.
    formulation, constraints, strengthen, perturb
        See `build_program`.
    backend : str
        ``"highs"``, or ``"scip"`` or ``"gurobi"`` where installed.
    start : array-like, optional
        Coefficients of the original features to start from; ``"mip"`` first climbs from them.
    threads : int
        At most so many threads.

    Examples
    --------
    >>> problem = RankingProblem.from_labels([[0.0], [1.0], [2.0]], [0, 1, 1], "auc", margin=1e-3)
    >>> with Run(rng=0) as run:
    ...     solve_program(problem, run).summary()
    'auc 1: proved optimal among scores that win pairs by 0.001 of their length or more'
    """
    solver, demands = backends.get(backend), constraints or Constraints()
    problem = with_margin(problem)
    program, begin, raw = None, None, RawSolution(None, -math.inf, math.inf, Status.TIME_LIMIT)
    try:
        program = build_program(
            problem, formulation, demands, strengthen=strengthen, perturb=perturb, run=run
        )
        if formulation == "mip" and demands.empty and start is not None:
            start = _climbed(problem, start, run)
        begin = _start(problem, program, start)
        if run.should_stop():
            raise BuildStopped
        raw = solver.solve(program, begin, run, threads=threads)
    except BuildStopped:
        raw = replace(raw, status=stop_status(run), message="stopped while the model was built")
    if raw.infeasible and program is not None:
        raise InfeasibleError(_explain(problem, program, solver, demands, run))
    solutions = [] if program is None else _decoded(problem, program, begin, raw.x)
    coef = _best(problem, solutions, start, demands)
    return _certificate(problem, program, f"{formulation} program, {solver.name}", raw, coef, demands, run)


def _check_size(problem: RankingProblem, formulation: str) -> None:
    n, d = problem.X.shape
    entries = {
        "mip": problem.n_pairs * (d + 4),
        "mip-subrank": n * n * n // 2,
        "mip-resolved": n * n * (2 * d + 8),
        "mip-auc": problem.n_pairs * (d + 1),
    }
    if entries[formulation] > _MOST_ENTRIES:
        raise ValueError(
            f"formulation {formulation!r} of {n} rows would need more than {_MOST_ENTRIES:,} matrix entries;"
            " rerank fewer rows, or use solver='search'."
        )


def _check_margin(problem: RankingProblem) -> None:
    """Complain when no coefficients in the box win any pair, though the rows differ."""
    reach = float(np.abs(problem.arrays().differences).sum(axis=1).max(initial=0.0))
    if 0 < reach < problem.margin:
        raise ValueError(
            f"margin={problem.margin:g} is too large: scores of pairs differ by {reach:.3g} of their length"
            " at most, so none could be won; use a smaller margin."
        )


def _start(problem: RankingProblem, program: MixedIntegerProgram, start: ArrayLike | None) -> Floats | None:
    """A full solution near start coefficients, where it is feasible."""
    if start is None:
        return None
    x = program.encode(problem.scale(start))
    return x if program.violation(x) <= program.epsilon / 100 else None


def _climbed(problem: RankingProblem, start: ArrayLike, run: Run) -> Floats:
    """What local search makes of the start in a small part of the time, where that is better."""
    part = run.part(_CLIMBING, silent=True)
    found = problem.unscale(local_search(problem, [problem.scale(start)], part).best.coef)
    given = np.asarray(start, dtype=np.float64)
    return max((found, given), key=problem.evaluate)


def _decoded(
    problem: RankingProblem, program: MixedIntegerProgram, *solutions: Floats | None
) -> list[Floats]:
    """Coefficients of the original features that solutions stand for, as they are and with wider margins."""
    found: list[Floats] = []
    for w in (program.decode(x) for x in solutions if x is not None):
        if program.whole_coefficients:
            found.append(w)  # the columns are on one scale, see `compact_program`
        else:
            found += [problem.unscale(w), problem.unscale(_widest(problem, w))]
    return found


def _best(
    problem: RankingProblem, solutions: list[Floats], start: ArrayLike | None, demands: Constraints
) -> Floats:
    """The best coefficients at hand that meet the demands, ties broken; later ones where values are equal."""
    candidates = [np.zeros(problem.n_features)]
    if start is not None:
        candidates.append(np.asarray(start, dtype=np.float64))
    candidates += solutions
    allowed = [coef for coef in candidates if not demands.unmet(problem.X, coef)]
    if not allowed:
        return candidates[-1] if solutions else candidates[0]
    best = max(reversed(allowed), key=problem.evaluate)
    polished = break_ties(problem.X, best)
    kept = problem.evaluate(polished) >= problem.evaluate(best) and not demands.unmet(problem.X, polished)
    return polished if kept else best


def _widest(problem: RankingProblem, w: Floats) -> Floats:
    """Coefficients on the same support that win the pairs `w` nearly wins by the widest margin there is.

    Signs are kept, so that a user's demands on them are. Where the program finds nothing, `w` stays.
    """
    support, widened = np.flatnonzero(w), np.zeros_like(w)
    differences = problem.arrays().differences
    rows = differences[differences @ w >= 0.5 * problem.margin][:, support]
    if not rows.size:
        return w
    signs = np.sign(w[support])
    found = widest_margin(
        rows,
        enough=lambda lead, width: lead >= NEARLY * width,
        lower=np.minimum(signs, 0.0),
        upper=np.maximum(signs, 0.0),
        least=0.0,
    )
    if found is None or (rows @ found.coef).min() < NEARLY * found.width:
        return w
    widened[support] = found.coef
    return widened


def _certificate(
    problem: RankingProblem,
    program: MixedIntegerProgram | None,
    method: str,
    raw: RawSolution,
    coef: Floats,
    demands: Constraints,
    run: Run,
) -> Certificate:
    """The answer with its bound, and everything about the two that a user should know."""
    value = problem.evaluate(coef)
    tolerance = _MARGIN_OF_ERROR * max(1.0, abs(value))
    claimed = raw.bound + (program.slack if program is not None else 0.0)
    known = not math.isnan(claimed) and claimed >= value - tolerance
    bound = min(claimed, problem.trivial_bound) if known else problem.trivial_bound
    lost = demands.unmet(problem.X, coef)
    notes = [
        *_bound_notes(program, method, trivial=claimed > bound),
        *_demand_notes(demands, lost, found=raw.x is not None),
        *_claim_notes(raw, value, known=known),
    ]
    proved = raw.status is Status.OPTIMAL and known and not lost and bound - value <= tolerance
    status = Status.FINISHED if raw.status is Status.OPTIMAL and not proved else raw.status
    return Certificate.of(
        problem,
        coef,
        bound=value if proved else bound,
        status=status,
        seconds=run.seconds,
        nodes=raw.nodes,
        method=method,
        history=raw.history,
        notes=tuple(notes),
    )


def _bound_notes(program: MixedIntegerProgram | None, method: str, *, trivial: bool) -> list[str]:
    """Whose bound it is, what it is about, and what the program's scaling was."""
    notes = ["the bound is the value of all relevant rows first: the solver had none below"]
    if program is None:
        return notes
    if not trivial:
        notes = [f"the bound is {method.split()[-1]}'s, within its tolerances", *program.about]
    if program.scaling != 1.0:
        notes.append(
            f"differences, each relative to its own length, were divided by {program.scaling:.6g};"
            f" eps is {program.epsilon:.3g}"
        )
    return notes


def _demand_notes(demands: Constraints, lost: list[str], *, found: bool) -> list[str]:
    """Which constraints there were and which the answer does not meet."""
    if demands.empty:
        return []
    notes = [UNDER_CONSTRAINTS + "; ".join(name for name, _ in demands.each())]
    if lost:
        why = "lost to tolerances; a larger margin helps" if found else "no answer was found in time"
        notes.append(f"not met: {'; '.join(lost)} ({why})")
    return notes


def _claim_notes(raw: RawSolution, value: float, *, known: bool) -> list[str]:
    """Where the solver's words and the recomputed value part."""
    notes = [raw.message] if raw.message else []
    if math.isfinite(raw.value) and abs(value - raw.value) > _MARGIN_OF_ERROR * max(1.0, abs(raw.value)):
        notes.append(f"the solver claims {raw.value:.9g}, the coefficients reach {value:.9g}")
        if value < raw.value:
            notes.append("differences near the margin were lost to its tolerances; a larger margin helps")
    if not known:
        notes.append(f"the solver's bound {raw.bound:.9g} does not hold and was put aside")
    return notes


def _explain(
    problem: RankingProblem,
    program: MixedIntegerProgram,
    solver: Backend,
    demands: Constraints,
    run: Run,
) -> str:
    """Which demand cannot be met: each one is tried by itself."""
    if demands.empty:
        return (
            f"the {program.name} program has no solution: margin={problem.margin:g} is too large, since some"
            " rows that must differ by it cannot."
        )
    where = f" (margin={problem.margin:g})"
    for name, single in demands.each():
        raw = solver.solve(compact_program(problem, single), None, run.part(0.5, silent=True), threads=1)
        if raw.infeasible:
            return f"no linear score meets the constraint: {name}{where}."
    names = "; ".join(name for name, _ in demands.each())
    return f"no linear score meets these constraints together: {names}{where}."
