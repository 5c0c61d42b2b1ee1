"""How far a reader must go: the files that one fit by boxes runs through.

A process fits once to have everything compiled, then again under a profile of all its threads. Compiled
kernels leave no frames: a kernel counts when a function that ran names it, and so do the kernels it calls.
"""

import json
import subprocess
import sys

import pytest

MOST_FILES = 29

SCRIPT = """
import json
import sys
import threading
import types

import numpy as np
from numba.core.dispatcher import Dispatcher

import toprank
import toprank.exact

HOME = toprank.exact.__path__[0]
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
ranker = toprank.ExactRanker(n_jobs=2, random_state=0, method="boxes").fit(X, y)
seen = set()


def watch(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(HOME):
        seen.add(frame.f_code)


threading.setprofile(watch)
sys.setprofile(watch)
ranker.fit(X[::-1], y[::-1])
sys.setprofile(None)
threading.setprofile(None)
assert ranker.certificate_.method == "boxes" and ranker.certificate_.nodes > 0, ranker.certificate_


def kernels_named_by(code, module):
    spaces = [vars(module)]
    for name in code.co_names:
        if name.startswith("toprank.exact"):
            spaces.append(vars(sys.modules[name]))
    for space in list(spaces):
        spaces += [vars(space[n]) for n in code.co_names if isinstance(space.get(n), types.ModuleType)]
    return [space[n] for space in spaces for n in code.co_names if isinstance(space.get(n), Dispatcher)]


modules = {getattr(module, "__file__", None): module for module in list(sys.modules.values())}
waiting = [kernel for code in seen for kernel in kernels_named_by(code, modules[code.co_filename])]
files, kernels = {code.co_filename for code in seen}, set()
while waiting:
    kernel = waiting.pop()
    if kernel not in kernels:
        kernels.add(kernel)
        function = kernel.py_func
        files.add(function.__code__.co_filename)
        waiting += kernels_named_by(function.__code__, sys.modules[function.__module__])
print(json.dumps(sorted(file[len(HOME) + 1 :] for file in files)))
"""


@pytest.fixture(scope="module")
def touched():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_fit_by_boxes_never_opens_a_file_of_cells(touched):
    assert "boxes/search.py" in touched
    assert [file for file in touched if file.startswith(("cells", "slices", "mip"))] == []


def test_a_fit_by_boxes_stays_within_a_few_files(touched):
    assert len(touched) <= MOST_FILES, touched
