"""HiGHS, the default: free, and a dependency of the library."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run, Status
from toprank.exact.mip.backends.protocol import RawSolution, Watch, own_decision, stop_status
from toprank.exact.mip.program import BuildStopped, MixedIntegerProgram

__all__ = ["BACKEND"]


class _Highs:
    name = "highs"

    def missing(self) -> str | None:
        """Why HiGHS cannot be loaded: another package's copy of it may be in its place."""
        try:
            import highspy  # noqa: F401
        except ImportError as error:
            return _explain(error)
        return None

    def solve(
        self, program: MixedIntegerProgram, start: NDArray[np.float64] | None, run: Run, *, threads: int
    ) -> RawSolution:
        """Solve with HiGHS; the interrupt callback carries value and bound and serves the clock."""
        import highspy

        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in _options(program, run, threads).items():
            solver.setOptionValue(option, value)
        model = _model(program)
        if run.should_stop():
            raise BuildStopped
        solver.passModel(model)
        if start is not None:
            solution = highspy.HighsSolution()
            solution.col_value = start
            solution.value_valid = True
            solver.setSolution(solution)

        watch = Watch(run, program, "HiGHS")

        def look(event: Any) -> None:
            out = event.data_out
            if not watch.report(out.mip_primal_bound, out.mip_dual_bound, int(out.mip_node_count)):
                event.interrupt()

        solver.cbMipInterrupt += look
        if solver.run() == highspy.HighsStatus.kError:
            # Its threads are shared by the process; another number of them needs new ones.
            highspy.Highs.resetGlobalScheduler(True)
            solver.run()
        return _result(solver, program, run, watch)


def _explain(error: ImportError) -> str:
    """What to do when highspy does not load."""
    if "ortools" in sys.modules:
        return (
            "OR-tools was imported first in this process, and the HiGHS library that it brings along stands"
            " where highspy needs its own (the other way round, importing OR-tools fails). Use one process"
            " for each, or solver='search', which needs no HiGHS."
        )
    return f"highspy does not load ({error}); reinstall it with: pip install --force-reinstall highspy"


def _options(program: MixedIntegerProgram, run: Run, threads: int) -> dict[str, Any]:
    # The smallest step that decides anything is epsilon: tolerances must stay well below it.
    tolerance = min(1e-6, max(1e-9, program.epsilon / 10))
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": threads,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 1e-9,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": tolerance,
        "random_seed": int(run.rng.integers(2**31 - 1)),
    }
    if math.isfinite(run.remaining()):
        options["time_limit"] = run.remaining()
    return options


def _model(program: MixedIntegerProgram) -> Any:
    import highspy

    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.n_variables, program.n_rows
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_, model.col_lower_, model.col_upper_ = program.objective, program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = program.rows.indptr
    model.a_matrix_.index_ = program.rows.indices
    model.a_matrix_.value_ = program.rows.data
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    model.integrality_ = [kinds[int(whole)] for whole in program.integer]
    return model


def _result(solver: Any, program: MixedIntegerProgram, run: Run, watch: Watch) -> RawSolution:
    import highspy

    info, state = solver.getInfo(), solver.getModelStatus()
    infeasible = state in (
        highspy.HighsModelStatus.kInfeasible,
        highspy.HighsModelStatus.kUnboundedOrInfeasible,
    )
    finished = state == highspy.HighsModelStatus.kOptimal
    found = info.primal_solution_status == highspy.kSolutionStatusFeasible
    x = np.asarray(solver.getSolution().col_value, dtype=np.float64) if found else None
    value = info.objective_function_value + program.offset if found else -math.inf
    # Before the first node, or when it did not run at all, the field holds no bound.
    bound = info.mip_dual_bound + program.offset if watch.history else math.inf
    return RawSolution(
        x,
        value,
        value if finished else bound,
        Status.OPTIMAL if finished else stop_status(run),
        max(0, int(info.mip_node_count)),
        infeasible,
        watch.history,
        "" if finished or infeasible else own_decision(run, "HiGHS", solver.modelStatusToString(state)),
    )


BACKEND = _Highs()
