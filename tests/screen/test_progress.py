import io
import sys

import pytest

from toprank.exact.search.methods import METHODS
from toprank.screen.progress import Bars, _Announcer


def test_each_thing_that_is_compiled_is_said_once_with_its_time(capsys):
    announcer = _Announcer()
    for module in ("toprank.exact.climb._kernels", "toprank.exact.arithmetic._kernels", "numba.np.arrayobj"):
        announcer.begins(module)
    announcer.begins("toprank.statistics._kernels")
    announcer.tells("boxes", None)
    announcer.begins("toprank.exact.boxes._sweep_kernels")  # here, after the other process failed
    announcer.tells("cells", 31.4)
    announcer.tells("done: cells", 33.3)
    assert capsys.readouterr().err.splitlines() == [
        "Compiling the search for good linear scores, about ten seconds: once on this machine.",
        "Compiling the statistics, a few seconds: once on this machine.",
        "Compiling the proof by boxes: once on this machine, about a minute; it climbs meanwhile.",
        "Compiling the proof by cells: once on this machine, 31 s the last time; it climbs meanwhile.",
        "The proof by cells is compiled (33 s).",
    ]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_proof_can_be_announced(method, capsys):
    _Announcer().tells(method, None)
    _Announcer().begins(f"toprank.exact.{method}._kernels")
    assert capsys.readouterr().err.count(f"the proof by {method}") == 2


def test_bars_on_an_ascii_terminal_are_ascii(monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    written = io.BytesIO()
    monkeypatch.setattr("sys.stderr", Terminal(written, encoding="ascii", errors="backslashreplace"))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    with Bars() as bars:
        bars.stage("Fitting: an ensemble of many members")
        sys.stderr.flush()
    assert b"Fitting" in written.getvalue()
    assert b"\\u" not in written.getvalue()


def test_a_note_in_a_log_says_what_it_is_about(capsys):
    with Bars() as bars:
        bars.stage("Preparing the kernels", steps=2)
        bars.note("logistic regression")
    assert capsys.readouterr().err == "Preparing the kernels: logistic regression\n"
