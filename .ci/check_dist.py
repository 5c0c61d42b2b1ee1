"""What a stranger gets: the built files in an environment of their own, as `pip install` would leave them.

    python .ci/check_dist.py dist

Installs the wheel into a fresh environment, ranks the embedded example, runs README's Python, and runs some
of the tests that the source distribution carries against what was installed. Prints what each took.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from pathlib import Path

FROM_THE_SDIST = ["tests/statistics/test_ranks.py", "tests/test_public_api.py", "tests/test_house.py"]


def timed(what: str, command: list[str], folder: Path) -> None:
    """Run a command; its output only when it fails."""
    began = time.perf_counter()
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    print(f"{time.perf_counter() - began:6.1f} s  {what}", flush=True)
    if done.returncode != 0:
        sys.exit(f"{what} failed:\n{done.stdout}\n{done.stderr}")


def main(built: Path) -> None:
    (wheel,), (source,) = built.glob("toprank-*.whl"), built.glob("toprank-*.tar.gz")
    # A process that still compiles kernels there, for the next time, may write while the folder goes.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        bin_ = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        python = str(bin_ / "python")
        timed(
            f"pip install {wheel.name}", [python, "-m", "pip", "install", "-q", str(wheel.resolve())], folder
        )
        timed("toprank --version", [str(bin_ / "toprank"), "--version"], folder)
        timed(
            "toprank rank --budget 50, the first", [str(bin_ / "toprank"), "rank", "--budget", "50"], folder
        )
        timed("toprank rank --budget 50, again", [str(bin_ / "toprank"), "rank", "--budget", "50"], folder)
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        unpacked = folder / source.name.removesuffix(".tar.gz")
        readme = (unpacked / "README.md").read_text(encoding="utf-8")
        (code,) = re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S)
        timed("README's Python", [python, "-c", code], folder)
        timed(
            "pip install the tests' packages",
            [python, "-m", "pip", "install", "-q", f"{unpacked}[test]"],
            folder,
        )
        tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *FROM_THE_SDIST]
        timed("tests from the source distribution", tests, unpacked)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
