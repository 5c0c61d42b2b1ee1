"""Machine code that another version left on disk is never run."""

import importlib.util
import sys

import numba
import numpy as np
import pytest

import toprank
from toprank import compiled

SOURCE = """
from toprank.compiled import njit

@njit(cache=True)
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result
"""


@pytest.fixture
def as_in_a_new_process(tmp_path, monkeypatch):
    """The kernel as a process that starts now gets it, and the folder it is kept in."""
    source = tmp_path / "some_kernels.py"
    source.write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")

    def load():
        compiled._forget_other_versions.cache_clear()
        spec = importlib.util.spec_from_file_location("some_kernels", source)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "some_kernels", module)
        spec.loader.exec_module(module)
        return module.total

    return load, tmp_path / "__pycache__"


@pytest.mark.parametrize("of", [(numba, "0.1"), (toprank, "0.0.1")], ids=["numba", "toprank"])
def test_the_code_of_another_version_under_this_version_s_index(as_in_a_new_process, monkeypatch, of):
    load, folder = as_in_a_new_process
    with monkeypatch.context() as then:
        then.setattr(of[0], "__version__", of[1])
        load()(np.ones(3))
    (code,) = folder.glob("*.nbc")
    # As between the two writes of a process of this version: the index is its own, the code is not yet.
    for index in folder.glob("some_kernels*.nbi"):
        index.write_bytes(index.read_bytes().replace(b"0.1", numba.__version__.encode()))
    code.write_bytes(b"what this version cannot read")
    kernel = load()
    assert kernel(np.ones(3)) == 3.0
    assert kernel.stats.cache_misses


def test_what_this_version_left_is_loaded(as_in_a_new_process):
    load, folder = as_in_a_new_process
    load()(np.ones(3))
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    kernel = load()
    assert kernel(np.ones(3)) == 3.0
    assert kernel.stats.cache_hits
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


def test_other_pythons_and_other_files_stay(as_in_a_new_process):
    load, folder = as_in_a_new_process
    folder.mkdir()
    others = [folder / name for name in ("a.f-1.py21.nbi", "a.f-1.py21.1.nbc", "a.cpython-21.pyc")]
    ours = [folder / f"{name}.{compiled.PYTHON}.nbi" for name in ("a.f-1", "toprank-boxes")]
    for file in (*others, *ours):
        file.touch()
    load()(np.ones(3))
    assert [file.exists() for file in others] == [True, True, True]
    assert [file.exists() for file in ours] == [False, False]
