"""Back ends: what is there is run, what is missing says so, and no claim is taken on trust."""

import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from clock import Clock
from toprank.control import Run, Status, keep_best_on_interrupt
from toprank.exact import verify
from toprank.exact.mip import backends
from toprank.exact.mip import solve as mip
from toprank.exact.mip.backends import BackendUnavailableError, RawSolution
from toprank.exact.mip.constraints import Constraints, TopGroup
from toprank.exact.mip.program import BuildStopped
from toprank.exact.mip.solve import build_program, solve_program
from toprank.exact.problem import RankingProblem

USABLE = [name for name, reason in backends.available().items() if reason is None]
UNLIMITED = [name for name in USABLE if name != "gurobi"]  # its pip licence solves small models only
MARGIN = 1e-3


def easy_problem(**options):
    X = [[0.0], [1.0], [2.0], [3.0]]
    return RankingProblem.from_labels(X, [0, 1, 0, 1], "auc", margin=MARGIN, **options)


def hard_problem(n=60, d=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return RankingProblem.from_labels(X, y, "dcg", margin=MARGIN)


def solve(problem, **options):
    with Run(time_limit=60, rng=0) as run:
        return solve_program(problem, run, **options)


# -- missing ones ----------------------------------------------------------------------------------


def test_unknown_and_missing_back_ends(monkeypatch):
    with pytest.raises(ValueError, match="gurobi, highs, scip"):
        backends.get("cplex")
    for name, module in (("scip", "PySCIPOpt"), ("gurobi", "gurobipy")):
        monkeypatch.setattr(f"toprank.exact.mip.backends.{name}.find_spec", lambda name: None)
        with pytest.raises(BackendUnavailableError, match=rf"{module} .* pip install 'toprank\[{name}\]'"):
            backends.get(name)


HIDE = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyscipopt", "gurobipy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
import importlib.util
found = importlib.util.find_spec
hidden = ("pyscipopt", "gurobipy")
importlib.util.find_spec = lambda name, *rest: None if name in hidden else found(name, *rest)
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_without_the_other_solvers_the_tests_pass_and_say_what_was_not_run():
    root = Path(__file__).parents[3]
    tests = ("test_other_back_ends_agree", "test_every_formulation_reaches_the_enumerated_optimum[3]")
    files = [f"tests/exact/mip/test_solve.py::{test}" for test in tests]
    result = subprocess.run(
        [sys.executable, "-c", HIDE, "-q", "-rs", "-p", "no:cacheprovider", *files],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed, 12 skipped" in result.stdout
    for name in ("scip", "gurobi"):
        assert f"{name} was not run" in result.stdout
        assert f"pip install 'toprank[{name}]'" in result.stdout


@pytest.mark.skipif("gurobi" not in USABLE, reason="gurobi was not run: it is not installed")
def test_a_model_beyond_a_limited_licence_says_so():
    from gurobipy import GRB, GurobiError, Model

    problem = hard_problem(80)
    try:
        with Model() as model:
            model.addMVar(2001, vtype=GRB.BINARY)
            model.optimize()
    except GurobiError:
        size = build_program(problem).n_variables
        with Run(time_limit=1.0, rng=0) as run, pytest.raises(BackendUnavailableError) as caught:
            solve_program(problem, run, backend="gurobi")
        assert f"{size} variables" in str(caught.value)
        assert "use backend='highs'" in str(caught.value)
    else:
        pytest.skip("a full Gurobi licence is installed: no model is too large")


@pytest.mark.skipif("gurobi" not in USABLE, reason="gurobi was not run: it is not installed")
def test_a_licence_that_does_not_hold_is_named(monkeypatch):
    from gurobipy import GurobiError

    def refuse():
        raise GurobiError(10009, "License expired 2020-01-01")

    monkeypatch.setattr("toprank.exact.mip.backends.gurobi._environment", refuse)
    with pytest.raises(BackendUnavailableError, match=r"no valid licence \(License expired"):
        backends.get("gurobi")


# -- claims ----------------------------------------------------------------------------------------


class Liar:
    """A solver that returns what it is told to."""

    name = "liar"

    def __init__(self, coef, **says):
        self.coef, self.says = coef, says

    def missing(self):
        return None

    def solve(self, program, start, run, *, threads):
        x = None if self.coef is None else program.encode(np.array(self.coef))
        return RawSolution(x, **{"value": 1.0, "bound": 1.0, "status": Status.OPTIMAL, **self.says})


def lied_to(monkeypatch, liar, **options):
    monkeypatch.setattr(mip.backends, "get", lambda name: liar)
    problem = easy_problem()
    found = solve(problem, **options)
    assert found.value == problem.evaluate(found.coef)
    assert verify(problem, found, seconds=0).passed
    return found


def test_a_claim_the_coefficients_do_not_reach_is_not_called_optimal(monkeypatch):
    found = lied_to(monkeypatch, Liar([-1.0]))
    assert found.status is Status.FINISHED
    assert any("claims 1, the coefficients reach 0.25" in note for note in found.notes)


def test_a_bound_that_the_answer_refutes_is_put_aside(monkeypatch):
    found = lied_to(monkeypatch, Liar([1.0], value=0.5, bound=0.5))
    assert found.status is Status.FINISHED
    assert found.value == 0.75
    assert found.bound == 1.0
    assert any("bound 0.5 does not hold" in note for note in found.notes)


def test_a_solver_that_gives_up_is_quoted(monkeypatch):
    found = lied_to(
        monkeypatch, Liar(None, status=Status.FINISHED, bound=np.nan, message="it said 'memlimit'")
    )
    assert found.status is Status.FINISHED
    assert "it said 'memlimit'" in found.notes


def test_a_demand_lost_to_tolerances_is_admitted(monkeypatch):
    group = Constraints(top_groups=(TopGroup((0,), top=1, at_least=1),))
    found = lied_to(monkeypatch, Liar([1.0]), constraints=group)
    assert found.status is Status.FINISHED
    assert any(note.startswith("not met: at least 1 of the top 1") for note in found.notes)


def test_another_number_of_threads_is_no_trouble():
    problem = hard_problem(14, 3)
    assert len({solve(problem, threads=threads).value for threads in (1, 2, 1)}) == 1
    assert solve(problem, threads=2).status is Status.OPTIMAL


def test_the_certificate_says_how_features_were_scaled():
    found = solve(easy_problem(scales=[0.5]), formulation="mip-subrank")
    assert found.scales == (0.5,)
    assert (
        "differences, each relative to its own length, were divided by 0.751; eps is 0.00133" in found.notes
    )


# -- time, interrupt, callback -----------------------------------------------------------------------


@pytest.mark.wall_clock
@pytest.mark.parametrize("backend", UNLIMITED)
@pytest.mark.parametrize("formulation", ["mip", "mip-subrank"])
def test_time_limit_start_and_history(backend, formulation):
    problem = hard_problem()
    start = np.array([1.0, 0, 0, 0, 0, 0])
    with Clock(2.0) as clock, Run(time_limit=2.0, rng=0) as run:
        found = solve_program(problem, run, formulation=formulation, backend=backend, start=start)
    # The solvers ask for the time between their steps, of which the first relaxation is a long one.
    assert clock.seconds_over < 1.5
    assert found.status is Status.TIME_LIMIT
    assert problem.evaluate(start) <= found.value <= found.bound <= problem.trivial_bound
    bounds = [bound for _, _, bound in found.history]
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.wall_clock
@pytest.mark.parametrize("backend", UNLIMITED)
def test_building_the_model_obeys_the_time_limit(backend):
    problem = hard_problem(250)
    start = np.array([1.0, 0, 0, 0, 0, 0])
    solve(easy_problem(), formulation="mip-subrank", backend=backend)  # what it takes to load the solver
    with Clock(0.02) as clock, Run(time_limit=0.02, rng=0) as run:
        found = solve_program(problem, run, formulation="mip-subrank", backend=backend, start=start)
    assert clock.kept, clock.seconds_over
    assert found.status is Status.TIME_LIMIT
    assert "stopped while the model was built" in found.notes
    assert problem.evaluate(start) <= found.value
    assert found.bound == problem.trivial_bound


@pytest.mark.wall_clock
@pytest.mark.skipif("scip" not in USABLE, reason="scip was not run: it is not installed")
def test_handing_the_model_over_row_by_row_obeys_the_time_limit():
    program = build_program(hard_problem(120), "mip-subrank")
    with Clock(0.01) as clock, Run(time_limit=0.01, rng=0) as run, pytest.raises(BuildStopped):
        backends.get("scip").solve(program, None, run, threads=1)
    assert clock.kept, clock.seconds_over


@pytest.mark.parametrize("backend", UNLIMITED)
def test_ctrl_c_leaves_the_best_answer(backend):
    problem, start = hard_problem(), np.eye(6)[0]
    pressed = []

    def press_once(progress):
        if not pressed:
            pressed.append(progress)
            signal.raise_signal(signal.SIGINT)

    with keep_best_on_interrupt() as kept, Run(time_limit=60, rng=0, callback=press_once) as run:
        found = solve_program(problem, run, backend=backend, start=start)
    assert pressed
    assert kept.interrupted
    assert found.status is Status.INTERRUPTED
    assert problem.evaluate(start) <= found.value <= found.bound


@pytest.mark.parametrize("backend", UNLIMITED)
def test_the_callback_sees_progress_and_can_stop(backend):
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) < 3

    problem = hard_problem()
    with Run(time_limit=60, rng=0, callback=callback) as run:
        found = solve_program(problem, run, backend=backend, start=np.eye(6)[0])
    assert found.status is Status.STOPPED
    assert len(seen) == 3
    assert all(progress.value <= progress.bound for progress in seen)


# -- HiGHS beside OR-tools ----------------------------------------------------------------------


def test_a_copy_of_highs_in_the_way_is_explained(monkeypatch):
    """Both packages bring a HiGHS library; the linker's error says nothing to a user."""
    monkeypatch.setitem(sys.modules, "highspy", None)  # importing it raises ImportError
    monkeypatch.setitem(sys.modules, "ortools", types.ModuleType("ortools"))
    with pytest.raises(BackendUnavailableError, match=r"OR-tools was imported first.*solver='search'"):
        backends.get("highs")
    monkeypatch.delitem(sys.modules, "ortools")
    with pytest.raises(BackendUnavailableError, match=r"highspy does not load.*pip install"):
        backends.get("highs")


def test_a_back_end_of_ones_own_is_asked_for_by_its_name(monkeypatch):
    """It solves what the others solve; a name of the library's is not given away."""
    monkeypatch.setattr(backends, "_REGISTERED", {})
    calls = []

    class Handed:
        name = "handed"

        def missing(self):
            return None

        def solve(self, program, start, run, *, threads):
            calls.append(program.n_variables)
            return backends.get("highs").solve(program, start, run, threads=threads)

    backends.register(Handed())
    assert backends.names() == ["gurobi", "handed", "highs", "scip"]
    assert backends.available()["handed"] is None
    found = solve(easy_problem(), backend="handed")
    assert calls
    assert found.proved
    assert found.value == 0.75  # by hand: of the four pairs one has to be lost
    with pytest.raises(ValueError, match="'highs' already"):
        backends.register(types.SimpleNamespace(name="highs"))
