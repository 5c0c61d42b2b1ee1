"""The registry: a method is a folder and an entry, found by name and imported only then."""

import subprocess
import sys
import types

import numpy as np
import pytest

from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.proof import check_proof, proof_part
from toprank.exact.search import methods
from toprank.exact.search.driver import search
from toprank.exact.search.methods import (
    METHODS,
    MethodEntry,
    hand_over,
    make_method,
    replay_log,
    resume_method,
)
from turns import first_in_every_run


def small_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 2))
    y = (X[:, 0] + rng.normal(size=14) > 0).astype(int)
    return RankingProblem.from_labels(X, y, "dcg")


@pytest.mark.parametrize("name", METHODS)
def test_every_entry_searches_resumes_and_replays(name):
    problem = small_problem()
    read, kept = hand_over(name, problem), METHODS[name].replay is not None
    first = make_method(name, read, keep_log=kept)
    assert first.name == name
    while not first.done:
        first.advance(0.1)
    if kept:
        assert replay_log(name, read, first.log, first.bound + 1e-9) == []
    begun = make_method(name, read)
    again = resume_method(name, read, begun.checkpoint(), 1)
    while not again.done:
        again.advance(0.1)
    best = max(problem.evaluate(problem.unscale(w)) for w in first.candidates)
    assert again.bound == pytest.approx(best, abs=1e-9)
    again.rehearse()


class Guess:
    """A proof for toys: nothing beats every pair that can be won, which these toys attain."""

    name = "guess"
    done, nodes, unresolved, log = False, 0, -np.inf, None

    def __init__(self, arrays, *, target=-np.inf, keep_log=False, **options):
        self.arrays, self.bound, self.candidates = arrays, arrays.attainable_value(), []
        self.log = {b"": b""} if keep_log else None

    def advance(self, max_seconds, target):
        self.nodes, self.done = 1, True

    def checkpoint(self):
        return {"nodes": self.nodes}

    def rehearse(self):
        pass

    def dismiss(self):
        pass


def test_a_new_method_takes_one_entry(monkeypatch):
    """Searched, kept, replayed and named in errors, with no other line changed."""
    module = types.ModuleType("toprank_guess")
    module.Guess, module.again = Guess, lambda arrays, log, bound: []
    monkeypatch.setitem(sys.modules, "toprank_guess", module)
    entry = MethodEntry("toprank_guess:Guess", "toprank_guess:Guess", "toprank_guess:again")
    monkeypatch.setitem(METHODS, "guess", entry)
    problem = RankingProblem.from_labels([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 0, 1], "dcg")
    monkeypatch.setattr("toprank.exact.search.driver._Driver._look_first", lambda self: False)
    monkeypatch.setattr("toprank.exact.search.driver._Driver._climb", lambda self, starts, reachable: False)
    with Run(rng=0) as run:
        found = search(problem, run, method="guess", keep_proof=True)
    assert (found.method, found.nodes) == ("guess", 1)
    part = proof_part("guess", np.arange(2), problem.trivial_bound, {b"": b""})
    assert check_proof(problem, {"parts": [part]}, problem.trivial_bound) == []
    with pytest.raises(ValueError, match="boxes, cells, slices, rows, angles, guess"):
        methods.check_method("magic")


def test_a_log_of_an_unknown_method_is_no_proof():
    assert replay_log("sweep", small_problem().arrays(), {}, 1.0) == [
        "the log of the method 'sweep' cannot be replayed"
    ]


@pytest.mark.parametrize("name", first_in_every_run(METHODS, 2))
def test_only_the_method_asked_for_is_imported(name):
    others = [other for other in METHODS if other != name]
    script = (
        "import sys, numpy as np\n"
        "import toprank\n"
        f"X = np.random.default_rng(0).normal(size=(20, {2 if name == 'angles' else 3}))\n"
        f"toprank.ExactRanker(method={name!r}, n_jobs=1).fit(X, np.arange(20) % 3 == 0)\n"
        f"found = [m for m in sys.modules if m.startswith(tuple('toprank.exact.' + o for o in {others}))]\n"
        "assert not found, found\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
