"""SCIP through PySCIPOpt (extra ``scip``)."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run, Status
from toprank.exact.mip.backends.protocol import RawSolution, Watch, own_decision, stop_status
from toprank.exact.mip.program import BuildStopped, MixedIntegerProgram

__all__ = ["BACKEND"]


class _Scip:
    name = "scip"

    def missing(self) -> str | None:
        """The install command when PySCIPOpt is not there."""
        if find_spec("pyscipopt") is None:
            return "PySCIPOpt is not installed; install it with: pip install 'toprank[scip]'"
        return None

    def solve(
        self, program: MixedIntegerProgram, start: NDArray[np.float64] | None, run: Run, *, threads: int
    ) -> RawSolution:
        """Solve with SCIP, which uses one thread; an event handler serves the clock and the callback."""
        from pyscipopt import Model

        model = Model(program.name)
        model.hideOutput()
        model.setParams(_parameters(program, run))
        variables = _variables(model, program)
        _rows(model, program, variables, run)
        if start is not None:
            solution = model.createSol()
            for variable, value in zip(variables, start, strict=True):
                model.setSolVal(solution, variable, float(value))
            model.addSol(solution, free=True)
        watch = Watch(run, program, "SCIP")
        model.includeEventhdlr(_handler(watch), "toprank", "progress and stop")
        model.optimize()
        return _result(model, program, variables, run, watch)


def _parameters(program: MixedIntegerProgram, run: Run) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "numerics/feastol": min(1e-6, max(1e-9, program.epsilon / 10)),
        "limits/gap": 0.0,
        "misc/catchctrlc": False,  # Ctrl-C belongs to the run
        "randomization/randomseedshift": int(run.rng.integers(2**31 - 1)),
    }
    if math.isfinite(run.remaining()):
        parameters["limits/time"] = run.remaining()
    return parameters


def _variables(model: Any, program: MixedIntegerProgram) -> list[Any]:
    columns = zip(program.lower, program.upper, program.integer, program.objective, strict=True)
    variables = [
        model.addVar(lb=float(low), ub=float(high), vtype="I" if whole else "C", obj=float(worth))
        for low, high, whole, worth in columns
    ]
    model.setMaximize()
    return variables


def _rows(model: Any, program: MixedIntegerProgram, variables: list[Any], run: Run) -> None:
    """Add the rows one by one, as PySCIPOpt wants them: slow enough to look at the clock."""
    from pyscipopt.scip import Expr, ExprCons, Term

    rows = program.rows
    terms = [Term(variable) for variable in variables]
    for row in range(program.n_rows):
        if row % 100 == 0 and run.should_stop():
            raise BuildStopped
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        entries = zip(rows.indices[part], rows.data[part], strict=True)
        expression = Expr({terms[column]: float(value) for column, value in entries})
        low, high = program.row_lower[row], program.row_upper[row]
        model.addCons(
            ExprCons(
                expression,
                lhs=float(low) if math.isfinite(low) else None,
                rhs=float(high) if math.isfinite(high) else None,
            )
        )


def _handler(watch: Watch) -> Any:
    from pyscipopt import Eventhdlr
    from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE

    watched = (
        SCIP_EVENTTYPE.NODESOLVED,
        SCIP_EVENTTYPE.BESTSOLFOUND,
        SCIP_EVENTTYPE.LPSOLVED,
        SCIP_EVENTTYPE.PRESOLVEROUND,
    )

    class Handler(Eventhdlr):
        def eventinit(self) -> None:
            for event in watched:
                self.model.catchEvent(event, self)

        def eventexit(self) -> None:
            for event in watched:
                self.model.dropEvent(event, self)

        def eventexec(self, event: Any) -> None:
            value, bound = self.model.getPrimalbound(), self.model.getDualbound()
            nodes = int(self.model.getNNodes())
            if not watch.report(value, bound, nodes):
                self.model.interruptSolve()

    return Handler()


def _result(
    model: Any, program: MixedIntegerProgram, variables: list[Any], run: Run, watch: Watch
) -> RawSolution:
    state = model.getStatus()
    found = model.getNSols() > 0
    best = model.getBestSol() if found else None
    x = np.array([model.getSolVal(best, variable) for variable in variables]) if found else None
    value = model.getSolObjVal(best) + program.offset if found else -math.inf
    finished, infeasible = state == "optimal", state in ("infeasible", "inforunbd")
    return RawSolution(
        x,
        value,
        value if finished else model.getDualbound() + program.offset,
        Status.OPTIMAL if finished else stop_status(run),
        int(model.getNNodes()),
        infeasible,
        watch.history,
        "" if finished or infeasible else own_decision(run, "SCIP", state),
    )


BACKEND = _Scip()
