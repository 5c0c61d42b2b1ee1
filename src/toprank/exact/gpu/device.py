"""A graphics card as the search sees it: arrays, one kernel, its parameters. CuPy is imported here only."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KERNEL", "WORDS", "Card", "box_type", "parameters_of", "why_no_card"]

KERNEL = Path(__file__).with_name("sliced_boxes.cu")
WORDS = 64
"""Bytes of counts come four in a word: 256 positives, of which 255 are used."""
WARPS = 20
"""Of a block, and one block on each multiprocessor: 96 registers a thread. With 16 and 12 the sweeps a second
on an H200 are a twentieth and a fifth fewer, with 24 as many."""
NUMBERS = (
    "pairs", "positives", "rivals", "words", "norms", "stride", "most", "target", "n_in", "out_room",
    "aside_room", "found_room", "list_room", "levels", "hunger", "rounds", "few", "log_room", "probe_up_to",
    "nanoseconds",
)  # fmt: skip
REALS = ("margin", "smallest")
ADDRESSES = (
    "E", "error", "owner", "loss", "norm", "norm_error", "base", "change", "into", "out", "aside", "found",
    "worth", "lists", "stack", "log", "log_length", "control", "highest", "counters",
)  # fmt: skip
"""The fields of `Params` in the kernel's source, in their order."""


def parameters_of(given: dict[str, Any]) -> bytes:
    """`Params` as the kernel reads them: eight bytes each."""
    numbers = np.array([given[name] for name in NUMBERS], dtype="<i8")
    reals = np.array([given[name] for name in REALS], dtype="<f8")
    addresses = np.array([given[name] for name in ADDRESSES], dtype="<u8")
    return numbers.tobytes() + reals.tobytes() + addresses.tobytes()


def box_type(size: int) -> np.dtype[Any]:
    """An open box of so many coordinates."""
    return np.dtype([("low", "<f8", size), ("high", "<f8", size), ("bound", "<i8")])


def pending_bytes(size: int) -> int:
    """Of one entry of a warp's stack."""
    return 16 * size + 8 + (4 * size + 4 * WORDS + 8 + 7) // 8 * 8


def shared_bytes(size: int, words: int, rivals: int) -> int:
    """Of one warp's part of the shared memory."""
    fixed = (32 * size + (4 * size + 4 * WORDS + 7) // 8 * 8 + 8 * 6 + 16 + 15) // 16 * 16
    return int(fixed + (words * 33 * 4 + 15) // 16 * 16 + (rivals + 1) * 32)


@cache
def why_no_card() -> str | None:
    """What keeps the search from running on a graphics card here; None if nothing does."""
    if find_spec("cupy") is None:
        return "CuPy is not installed: pip install toprank[gpu]"
    import cupy

    try:
        found = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy finds no graphics card ({error})"
    return None if found else "there is no graphics card"


@cache
def _size_of(card: int) -> tuple[int, int]:
    """Multiprocessors of a card and bytes a block can share; the driver takes its time to tell."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(card)
    return int(properties["multiProcessorCount"]), int(properties["sharedMemPerBlockOptin"])


class Card:
    """The current graphics card, by CuPy.

    Parameters
    ----------
    size : int
        Coordinates of a box; the kernel is compiled for it once, and CuPy keeps it on disk.
    """

    def __init__(self, size: int) -> None:
        import cupy

        self._cupy = cupy
        options = (f"-DDIM={size}", f"-DWARPS={WARPS}", f"-DWORDS={WORDS}", "-std=c++17")
        self._module = cupy.RawModule(code=KERNEL.read_text(encoding="utf-8"), options=options)
        self._kernel = self._module.get_function("search")
        self._blocks, self._most_shared = _size_of(int(cupy.cuda.Device().id))

    def warps(self, shared: int) -> int:
        """How many warps run at a time with so much shared memory each."""
        return self._blocks * self._in_a_block(shared)

    def _in_a_block(self, shared: int) -> int:
        return max(1, min(WARPS, self._most_shared // shared))

    @property
    def free(self) -> int:
        """Bytes of memory that are free."""
        return int(self._cupy.cuda.runtime.memGetInfo()[0])

    def put(self, array: NDArray[Any]) -> Any:
        """A copy on the card, as bytes."""
        return self._cupy.asarray(np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8))

    def empty(self, count: int) -> Any:
        """So many bytes on the card, whatever they hold."""
        return self._cupy.empty(count, dtype=np.uint8)

    def get(self, handle: Any, count: int | None = None) -> NDArray[np.uint8]:
        """The first bytes of an array on the card."""
        return np.asarray(self._cupy.asnumpy(handle if count is None else handle[:count]))

    def fill(self, handle: Any, array: NDArray[Any]) -> None:
        """Overwrite the first bytes."""
        data = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8)
        handle[: len(data)] = self._cupy.asarray(data)

    def move(self, to: Any, at: int, source: Any, begin: int, end: int) -> None:
        """Copy bytes from one array on the card to another."""
        to[at : at + end - begin] = source[begin:end]

    def address(self, handle: Any) -> int:
        """Where the kernel finds an array."""
        return int(handle.data.ptr)

    def launch(self, parameters: bytes, shared: int) -> None:
        """Run the kernel to its end."""
        in_a_block = self._in_a_block(shared)
        self._kernel.max_dynamic_shared_size_bytes = in_a_block * shared
        constant = self._module.get_global("q")
        buffer = ctypes.create_string_buffer(parameters, len(parameters))
        constant.copy_from_host(ctypes.addressof(buffer), len(parameters))
        self._kernel((self._blocks,), (32 * in_a_block,), (), shared_mem=in_a_block * shared)
        self._cupy.cuda.get_current_stream().synchronize()
