"""Kernels of a proof, compiled by another process while the search climbs; once on a machine.

Numba keeps what it compiled on disk. When all kernels of a method are there, a stamp beside them says so, and
loading them takes a second. When they are not, a process of its own compiles them and this one goes on
without them; where there can be no such process, or it fails, they are compiled here. That process ends when
it is done, should this one be over before: with a short time limit the proof would else never be there.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from toprank.compiled import PYTHON
from toprank.errors import InputError
from toprank.exact.problem import RankingProblem
from toprank.exact.search.choice import kernels_for
from toprank.exact.search.methods import compile_climb, compile_kernels
from toprank.output import write_whole

__all__ = [
    "COMPILE_FIRST",
    "LISTENERS",
    "begin_compiling",
    "compile_and_stamp",
    "compile_in_turn",
    "kernels_there",
    "names_for",
]

COMPILE_FIRST = "TOPRANK_COMPILE_FIRST"
"""An environment variable: when it is set, all is compiled before the clock of a fit starts."""
LISTENERS: list[Callable[[str, float | None], Any]] = []
"""Told that compiling a method begins, with the seconds it took the last time or None, and that it is over,
with the seconds it took and a name that begins with "done: "."""
CALL = (
    # Behind the search itself, which climbs meanwhile, where the system knows of such things.
    "import os, sys; getattr(os, 'nice', int)({behind}); sys.path[:] = {path!r};"
    " from {module} import compile_in_turn as c; c({name!r})"
)
BEHIND = 5
"""By how much the process that compiles stands back: it gets a third of a core that both want."""
SECONDS_IN_LINE = 600.0
"""How long such a process waits for another that compiles the same."""

_there: set[str] = set()
_running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}


def names_for(problem: RankingProblem, method: str) -> list[str]:
    """The methods whose kernels a search of this problem cannot begin without; the companion comes later."""
    return kernels_for(problem, method)[0]


def begin_compiling(problem: RankingProblem, method: str = "auto") -> None:
    """Have compiled, here, what climbing needs; what proving needs elsewhere, unless it is on disk."""
    first, later = kernels_for(problem, method)
    alone = not LISTENERS and multiprocessing.parent_process() is None
    if alone and not all(_on_disk(name) for name in first):
        # Nobody shows what goes on, as the command line does: a first fit would be silent for long.
        logging.getLogger("toprank").warning(
            "Compiling kernels, once on this machine: about a minute; the search climbs meanwhile."
        )
    compile_climb()
    for name in (*first, *later):
        _begin(name)


def kernels_there(names: Iterable[str], seconds: float = 0.0) -> bool:
    """Whether the kernels of these methods can be called; waits for their compilation, at most so long."""
    deadline = time.perf_counter() + seconds
    for name in names:
        _begin(name)
        if name in _running and not _over(name, max(0.0, deadline - time.perf_counter())):
            return False
    return True


def compile_and_stamp(name: str) -> None:
    """Compile or load the kernels of a method and leave word of it beside them."""
    began = time.perf_counter()
    compile_kernels(name)
    stamp = _stamp(name)
    if stamp is None or _written(stamp).get("of") == _digest():
        return
    said = json.dumps({"of": _digest(), "seconds": round(time.perf_counter() - began, 1)})
    with suppress(InputError):  # nowhere to write: the next process compiles as well
        write_whole({stamp: said.encode()})


def compile_in_turn(name: str) -> None:
    """The same, one process at a time: whoever comes second finds it done.

    The lock is a database's, which the system lets go of with the process, however that ends.
    """
    import sqlite3  # which some builds of Python lack; then this process fails, and the search compiles

    stamp = _stamp(name)
    place = ":memory:" if stamp is None else stamp.with_suffix(".lock")
    # Where nothing can be locked, several do the same work.
    with suppress(sqlite3.Error), closing(sqlite3.connect(place, timeout=SECONDS_IN_LINE)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        compile_and_stamp(name)
        return
    compile_and_stamp(name)


def _begin(name: str) -> None:
    """Load the kernels if they are on disk; else have them compiled, by another process if that can be."""
    if name in _there or name in _running:
        return
    if _on_disk(name):
        _here(name)
        return
    stamp = _stamp(name)
    _tell(name, None if stamp is None else _written(stamp).get("seconds"))
    process = None if stamp is None or not _may_spawn() else _spawn(name)
    if process is None:
        _here(name)
    else:
        _running[name] = process, time.perf_counter()


def _on_disk(name: str) -> bool:
    """Whether this process has the kernels, or finds them compiled."""
    stamp = _stamp(name)
    return name in _there or (stamp is not None and _written(stamp).get("of") == _digest())


def _over(name: str, seconds: float) -> bool:
    process, began = _running[name]
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    if process.returncode is None:
        return False
    del _running[name]
    _here(name)  # loads what the process left on disk; compiles, should it have failed
    _tell(f"done: {name}", time.perf_counter() - began)
    return True


def _here(name: str) -> None:
    compile_and_stamp(name)
    _there.add(name)


def _tell(what: str, seconds: float | None) -> None:
    for listener in LISTENERS:
        listener(what, seconds)


# -- the other process --------------------------------------------------------------------------------


def _may_spawn() -> bool:
    """Not in a worker of someone else's, who would each compile the same; nor where Python has no program."""
    if os.environ.get(COMPILE_FIRST) or getattr(sys, "frozen", False) or not sys.executable:
        return False
    return multiprocessing.parent_process() is None


def _spawn(name: str) -> subprocess.Popen[bytes] | None:
    call = CALL.format(behind=BEHIND, path=sys.path, module=__name__, name=name)
    quiet = subprocess.DEVNULL
    try:
        # A session of its own: Ctrl-C is for the search, which stops; what is compiled serves the next one.
        process = subprocess.Popen(
            [sys.executable, "-c", call], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError:
        return None
    atexit.register(_let_go, process)
    return process


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """It goes on after this one, which Popen would warn of if it did not think it over."""
    if process.poll() is None:
        process.returncode = 0


# -- the stamp ----------------------------------------------------------------------------------------


def _stamp(name: str) -> Path | None:
    """Where the stamp of a method is; named as Numba's own files, so that it goes when they do."""
    from toprank.exact.climb import _kernels

    stats = getattr(_kernels.climb, "stats", None)  # no such thing where Numba is switched off
    return None if stats is None else Path(stats.cache_path) / f"toprank-{name}.{PYTHON}.nbi"


def _written(stamp: Path) -> dict[str, Any]:
    try:
        found = json.loads(stamp.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@cache
def _digest() -> str:
    """Of all that makes Numba compile anew: the kernels' files, its version, the processor."""
    import llvmlite.binding as llvm
    import numba

    home = Path(__file__).parents[1]
    files = [(str(file.relative_to(home)), file.stat()) for file in sorted(home.rglob("_[a-z]*.py"))]
    facts = [(file, about.st_mtime_ns, about.st_size) for file, about in files]
    config: Any = numba.config
    machine = config.CPU_NAME or llvm.get_host_cpu_name(), config.CPU_FEATURES
    text = repr((facts, machine, numba.__version__, sys.version))
    return hashlib.sha256(text.encode()).hexdigest()
