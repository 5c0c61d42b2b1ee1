import sys
import types

import numpy as np
import pytest

from toprank import DirectRanker
from toprank.control import Progress
from toprank.report import ProgressBar


class ZMQInteractiveShell:
    """Stands for the kernel of a notebook."""


class _Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, line):
        self.shown.append(line)


@pytest.fixture
def notebook(monkeypatch):
    """What a notebook would show, drawing by drawing."""
    shown, handles = [], []
    module, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    module.get_ipython = ZMQInteractiveShell
    display.HTML = str

    def show(line, display_id):
        assert display_id
        shown.append(line)
        handles.append(_Handle(shown))
        return handles[-1]

    display.display = show
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return types.SimpleNamespace(shown=shown, handles=handles)


def test_one_line_is_drawn_again_in_place(notebook, capsys):
    bar = ProgressBar(every=1.0)
    for seconds in (0.0, 0.5, 0.9, 1.0, 1.5, 2.5):
        bar(Progress(8.0, 10.0, seconds=seconds, phase="<climbing>"))
    assert len(notebook.shown) == 3
    assert len(notebook.handles) == 1
    assert 'value="0.8000"' in notebook.shown[0]
    assert "8 of at most 10 (gap 20 %), 2.5 s, &lt;climbing&gt;" in notebook.shown[-1]
    assert capsys.readouterr() == ("", "")


def test_without_a_bound_there_is_no_bar(notebook):
    ProgressBar()(Progress(8.0))
    assert "<progress" not in notebook.shown[0]
    assert "8, 0.0 s" in notebook.shown[0]


def test_another_fit_is_drawn_at_once(notebook):
    bar = ProgressBar(every=5.0)
    bar(Progress(1.0, seconds=20.0))
    bar(Progress(2.0, seconds=0.0))
    assert len(notebook.shown) == 2


def test_elsewhere_it_is_a_line_on_standard_error(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    X = np.array([[3.0], [1.0], [2.0], [0.0]])
    DirectRanker("dcg", random_state=0, callback=ProgressBar()).fit(X, [1, 0, 1, 0])
    out, errors = capsys.readouterr()
    assert out == ""
    assert errors == "" or errors.startswith("\r")
    ProgressBar()(Progress(8.0, 10.0))
    assert capsys.readouterr().err == "\r8 of at most 10 (gap 20 %), 0.0 s"
