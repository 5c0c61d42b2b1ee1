"""Gurobi through gurobipy (extra ``gurobi``); its pip licence solves small models only."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toprank.control import Run, Status
from toprank.exact.mip.backends.protocol import (
    BackendUnavailableError,
    RawSolution,
    Watch,
    own_decision,
    stop_status,
)
from toprank.exact.mip.program import MixedIntegerProgram

__all__ = ["BACKEND"]


class _Gurobi:
    name = "gurobi"

    def missing(self) -> str | None:
        """The install command when gurobipy is not there, or what is wrong with the licence."""
        if find_spec("gurobipy") is None:
            return "gurobipy is not installed; install it with: pip install 'toprank[gurobi]'"
        import gurobipy

        try:
            _environment().dispose()
        except gurobipy.GurobiError as error:
            return f"no valid licence ({error})"
        return None

    def solve(
        self, program: MixedIntegerProgram, start: NDArray[np.float64] | None, run: Run, *, threads: int
    ) -> RawSolution:
        """Solve with Gurobi."""
        import gurobipy

        environment = _environment()
        model = gurobipy.Model(program.name, env=environment)
        try:
            _set_parameters(model, program, run, threads)
            x = _fill(model, program, start)
            watch = Watch(run, program, "Gurobi")
            model.optimize(_callback(watch, run))
            return _result(model, program, x, run, watch)
        except gurobipy.GurobiError as error:
            if error.errno == gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED:
                raise BackendUnavailableError(
                    f"the model has {program.n_variables} variables and {program.n_rows} rows, more than this"
                    " Gurobi licence allows; use backend='highs' or a full licence."
                ) from None
            raise
        finally:
            model.dispose()
            environment.dispose()


def _environment() -> Any:
    import gurobipy

    return gurobipy.Env(params={"OutputFlag": 0, "LogToConsole": 0})


def _set_parameters(model: Any, program: MixedIntegerProgram, run: Run, threads: int) -> None:
    tolerance = min(1e-6, max(1e-9, program.epsilon / 10))
    model.Params.Threads = threads
    model.Params.MIPGap = 0.0
    model.Params.FeasibilityTol = tolerance
    model.Params.IntFeasTol = tolerance
    model.Params.Seed = int(run.rng.integers(2_000_000_000))
    if math.isfinite(run.remaining()):
        model.Params.TimeLimit = run.remaining()


def _fill(model: Any, program: MixedIntegerProgram, start: NDArray[np.float64] | None) -> Any:
    import gurobipy
    import scipy.sparse as sp

    kinds = np.where(program.integer, gurobipy.GRB.INTEGER, gurobipy.GRB.CONTINUOUS)
    x = model.addMVar(program.n_variables, lb=program.lower, ub=program.upper, vtype=kinds)
    model.setObjective(program.objective @ x, gurobipy.GRB.MAXIMIZE)
    for bound, sense in ((program.row_upper, "<"), (program.row_lower, ">")):
        chosen = np.flatnonzero(np.isfinite(bound))
        if len(chosen):
            model.addMConstr(sp.csr_matrix(program.rows[chosen]), x, sense, bound[chosen])
    if start is not None:
        x.Start = start
    return x


def _callback(watch: Watch, run: Run) -> Any:
    import gurobipy

    keys = gurobipy.GRB.Callback

    def look(model: Any, where: int) -> None:
        if where == keys.MIP:
            value, bound = model.cbGet(keys.MIP_OBJBST), model.cbGet(keys.MIP_OBJBND)
            nodes = int(model.cbGet(keys.MIP_NODCNT))
            if not watch.report(value, bound, nodes):
                model.terminate()
        elif run.should_stop():
            model.terminate()

    return look


def _result(model: Any, program: MixedIntegerProgram, x: Any, run: Run, watch: Watch) -> RawSolution:
    import gurobipy

    found, finished = model.SolCount > 0, model.Status == gurobipy.GRB.OPTIMAL
    infeasible = model.Status in (gurobipy.GRB.INFEASIBLE, gurobipy.GRB.INF_OR_UNBD)
    return RawSolution(
        np.asarray(x.X, dtype=np.float64) if found else None,
        model.ObjVal + program.offset if found else -math.inf,
        math.inf if infeasible else model.ObjBound + program.offset,
        Status.OPTIMAL if finished else stop_status(run),
        int(model.NodeCount),
        infeasible,
        watch.history,
        "" if finished or infeasible else own_decision(run, "Gurobi", f"status {model.Status}"),
    )


BACKEND = _Gurobi()
