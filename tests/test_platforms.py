"""What macOS, Windows and plain terminals lack must not be needed: the main paths run without it."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import toprank
from toprank.cli.main import main

SOURCES = Path(toprank.__file__).parent

# Taken away before anything of ours is imported, after what we build on, which has its own ways for each
# system. Folders cannot be opened on Windows, hence not synchronised.
BUILT_ON = """
import joblib, matplotlib, numba, numpy, pandas, rich.console, scipy.optimize, sklearn.linear_model, typer
from threadpoolctl import ThreadpoolController
ThreadpoolController()  # looks for the C library when first asked
"""
TAKEN_AWAY = """
import os, signal, sys
for name in (
    "sched_getaffinity", "sched_setaffinity", "fork", "forkpty", "nice", "getuid", "geteuid", "setsid",
    "killpg", "uname", "fchmod", "chown", "statvfs", "O_DIRECTORY", "O_CLOEXEC", "getpgid", "wait",
):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGQUIT", "alarm", "setitimer", "pause",
             "pthread_kill", "pthread_sigmask", "sigwait"):
    if hasattr(signal, name):
        delattr(signal, name)
for name in ("fcntl", "resource", "termios", "pwd", "grp", "tty"):
    sys.modules[name] = None
opened = os.open

def files_only(path, *arguments, **options):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return opened(path, *arguments, **options)

os.open = files_only
"""
POORER = BUILT_ON + TAKEN_AWAY
RUN = "from toprank.cli.main import main\nsys.exit(main(sys.argv[1:]))"
BOTH = """
from toprank.cli.main import main
sys.exit(main(["score", *sys.argv[1:]]) or main(["verify", *sys.argv[1:]]))
"""
FIT = """
import numpy as np
import toprank
X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3 == 0
for ranker in (
    toprank.ExactRanker(n_jobs=-1, time_limit=20),
    toprank.RankThenRerank(top=20, time_limit=20),
    toprank.AccuracyAtTop(n_jobs=1),
    toprank.RankSVMCV(cv=2),
):
    assert np.isfinite(ranker.fit(X, y).decision_function(X)).all()
"""


def run(code, *arguments, encoding="ascii", **more):
    known = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C", **more}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=known, capture_output=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(encoding)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pümps")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["größe", "b"])
    frame["label"] = (frame["b"] + rng.normal(size=60) > 0.5).astype(int)
    frame.to_csv(folder / "items.csv", index=False, encoding="utf-8")
    return folder


def test_rank_score_and_verify(folder):
    data, model, out = (str(folder / name) for name in ("items.csv", "model.json", "out.csv"))
    shown = run(
        POORER + RUN,
        "rank",
        data,
        "-t",
        "label",
        "--ranker",
        "rerank",
        "--splits",
        "2",
        "--time-limit",
        "5",
        "-m",
        model,
        "-o",
        out,
    )
    assert "held-out" in shown
    assert "gr??e" in shown
    assert len(pd.read_csv(out)) == 60
    assert "was checked, and holds" in run(POORER + BOTH, model, data)


@pytest.mark.slow
def test_json_means_the_same_in_ascii(folder, capsys):
    options = [
        "rank",
        str(folder / "items.csv"),
        "-t",
        "label",
        "--ranker",
        "rerank",
        "--splits",
        "0",
        "--time-limit",
        "5",
        "--json",
    ]
    plain = json.loads(run(POORER + RUN, *options))
    assert main(options) == 0
    assert plain.keys() == json.loads(capsys.readouterr().out).keys()
    assert "größe" in json.dumps(plain, ensure_ascii=False)


def test_fits_with_all_processors():
    run(POORER + FIT)


def test_the_list_of_data_sets_is_shown():
    both = "from toprank.cli.main import main\nassert main(['data']) == 0\nmain(['--help'])"
    shown = run(POORER + both)
    assert "travelmode" in shown
    assert "--help" in shown


@pytest.mark.slow
def test_compare(folder):
    data = str(folder / "items.csv")
    shown = run(POORER + RUN, "compare", data, "-t", "label", "--splits", "2", "--time-limit", "0.5")
    assert "+-" in shown


def test_the_poorer_platform_is_poorer():
    look = "print(hasattr(os, 'fork'), hasattr(signal, 'SIGKILL'))"
    assert run(TAKEN_AWAY + look).split() == ["False", "False"]
    with pytest.raises(AssertionError, match="AttributeError"):
        run(TAKEN_AWAY + "os.sched_getaffinity(0)")


def _calls():
    for file in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield file.relative_to(SOURCES), node


def _is_binary(call):
    mode = next((word.value for word in call.keywords if word.arg == "mode"), None)
    words = [mode, *call.args] if mode is not None else call.args
    return any(isinstance(w, ast.Constant) and isinstance(w.value, str) and "b" in w.value for w in words)


def _reads_text(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    value = getattr(call.func, "value", None)
    owner = getattr(value, "id", getattr(value, "attr", ""))
    if name in ("read_text", "write_text"):
        return True
    # os.open gives a descriptor; what is opened by a name that begins with _ is a thing of ours, no file.
    return name in ("open", "fdopen") and (owner, name) != ("os", "open") and not owner.startswith("_")


def test_text_files_have_an_encoding():
    """Without one, Python takes that of the machine, which on Windows is not UTF-8."""
    bare = [
        f"{file}:{call.lineno}"
        for file, call in _calls()
        if _reads_text(call)
        and not _is_binary(call)
        and not any(word.arg == "encoding" for word in call.keywords)
    ]
    assert bare == []


def test_only_one_place_counts_processors():
    asked = {
        str(file)
        for file, call in _calls()
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in ("cpu_count", "sched_getaffinity")
    }
    assert asked == {"control/run.py"}
