"""Settings for all tests."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import toprank
from toprank.exact.search.compiling import COMPILE_FIRST

# The first call of a compiled kernel takes seconds, on a busy machine any call may: no deadline per example.
# Where a change is judged (CI) every run draws the same examples; elsewhere new ones are tried.
settings.register_profile("toprank", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("toprank")
# Half the examples in every run, all of them in `make nightly`, which sets the variable.
EVERY_EXAMPLE = os.environ.get("TOPRANK_EXAMPLES") == "all"
# Limits in tests are about the search, on a machine that has compiled everything.
os.environ.setdefault(COMPILE_FIRST, "1")


class WithoutTorch:
    """Where PyTorch is not installed its tests are left out, and the end of the run says so."""

    left_out = ("src/toprank/networks", "tests/networks")

    def pytest_ignore_collect(self, collection_path):
        here = collection_path.as_posix()
        return True if any(here.endswith(one) for one in self.left_out) else None

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(
            f"Left out, for torch is not installed (pip install toprank[torch]): {', '.join(self.left_out)},"
            " and networks among the contract tests."
        )


def pytest_configure(config):
    if toprank._ABSENT:
        config.pluginmanager.register(WithoutTorch())
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job; the tests press Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # once, not in every worker
        forget_stale_kernels()
        if getattr(config.option, "numprocesses", None) and not config.option.collectonly:
            compile_before_the_workers()


def pytest_collection_modifyitems(items):
    """Another process can hold the processor for a second; it does not do so three times in a row."""
    for item in items:
        if item.get_closest_marker("wall_clock"):
            item.add_marker(pytest.mark.flaky(reruns=2))
    if not EVERY_EXAMPLE:
        for test in {item.obj for item in items if is_drawn(getattr(item, "obj", None))}:
            halve_the_examples(test)


def is_drawn(test):
    """Whether hypothesis draws a test's examples."""
    return getattr(test, "is_hypothesis_test", False)


def halve_the_examples(test):
    """Of a test's own number, or of the usual one; hypothesis keeps it with the function."""
    own = getattr(test, "_hypothesis_internal_use_settings", None) or settings()
    test._hypothesis_internal_use_settings = settings(own, max_examples=max(1, own.max_examples // 2))


def compile_before_the_workers():
    """Workers that begin together would each compile every kernel; here two processes share the work.

    Boxes and slices have the most in common, which one process compiles once.
    """
    call = "import sys; from toprank.exact.search.compiling import compile_and_stamp as c"
    call += "; [c(method) for method in sys.argv[1:]]"
    shares = (("boxes", "slices"), ("cells", "rows", "angles"))
    running = [subprocess.Popen([sys.executable, "-c", call, *methods]) for methods in shares]
    for process in running:
        process.wait()


def forget_stale_kernels():
    """Numba looks at the file of a kernel, not at those of kernels it calls: after an edit all must go."""
    package = Path(toprank.__file__).parent
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    for source in [package] if elsewhere else package.iterdir():
        edited = max((file.stat().st_mtime for file in source.rglob("_[a-z]*.py")), default=0.0)
        cached = list(Path(elsewhere or source).rglob("*.nb[ci]"))
        if any(file.stat().st_mtime < edited for file in cached):
            for file in cached:
                file.unlink()
