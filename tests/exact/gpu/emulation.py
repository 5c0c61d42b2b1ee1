"""What stands for a graphics card in the tests: the kernel's source, compiled for the CPU."""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from toprank.exact.gpu.device import KERNEL, WORDS

HERE = Path(__file__).parent
COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="there is no g++ to compile the kernel for the CPU with"
)


@cache
def library(size):
    folder = tempfile.mkdtemp(prefix="toprank-kernel-")
    made = Path(folder) / f"emulated-{size}.so"
    subprocess.run(
        [COMPILER, "-O2", "-std=c++17", "-shared", "-fPIC", "-w", f"-DDIM={size}", f"-DWORDS={WORDS}",
         f'-DSOURCE="{KERNEL}"', str(HERE / "emulated.cpp"), "-o", str(made)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    loaded = ctypes.CDLL(str(made))
    loaded.sizes.restype = ctypes.c_longlong
    return loaded


class EmulatedCard:
    """As `toprank.exact.gpu.device.Card`, a few warps one after the other."""

    free = 1 << 28

    def __init__(self, size, warps=3):
        self._library, self._warps = library(size), warps
        self.launches = 0

    def warps(self, shared):
        return self._warps

    def put(self, array):
        return np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8).copy()

    def empty(self, count):
        return np.full(count, 0xA5, dtype=np.uint8)

    def get(self, handle, count=None):
        return handle[: len(handle) if count is None else count].copy()

    def fill(self, handle, array):
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8)
        handle[: len(data)] = data

    def move(self, to, at, source, begin, end):
        to[at : at + end - begin] = source[begin:end]

    def address(self, handle):
        return handle.ctypes.data

    def launch(self, parameters, shared):
        self.launches += 1
        self._library.emulate(parameters, self._warps)
