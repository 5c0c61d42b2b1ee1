"""The sweep in slices against plain arrays: what it excludes no point of the box contradicts."""

import platform
import re

import numpy as np
import pytest
from numba import njit, types

from box_problems import medium_problem
from toprank.exact.directions.frame import build_frame
from toprank.exact.slices import _pack_kernels as packing
from toprank.exact.slices import _slice_kernels as slices
from toprank.exact.slices.worker import WholeValues

ZERO = np.float32(0)


def packed(seed, half):
    """A problem, its whole-number values, and a pack of its pairs over a small box on the first face."""
    problem = medium_problem(seed, n=40, d=4)
    arrays = problem.arrays()
    frame = build_frame(arrays, np.ones(4), plane=False)
    values = WholeValues(arrays, frame)
    rng = np.random.default_rng(seed)
    mid, spread = rng.uniform(-0.5, 0.5, 4), np.full(4, half)
    mid[0], spread[0] = 1.0, 0.0
    packs = packing.fresh_packs(3, 20_000, 4, len(values.base))
    packs.base[0] = values.base
    packs.value[0] = frame.value
    axes = np.array([1, 2, 3])
    every = np.inf  # all pairs are packed, decided or not
    packing.start_pack(frame.problem, packs, 0, 0, every, every, values.order, mid, spread, axes)
    return frame, values, packs, mid, spread, axes, rng


def measured(packs, pack, mid, half, axes, scratch):
    at, n, filled = packs.span[pack]
    move, reach = np.zeros(4, np.float32), np.zeros(4, np.float32)
    packing.relative(mid, half, packs.mid[pack], axes, move, reach)
    start, doubt = packs.centre[at : at + filled], packs.doubt[at : at + filled]
    slices.measure(packs.rows, at * 4, filled, start, doubt, move, reach, scratch.centre, scratch.radius)
    return packs.ids[at : at + n], scratch.centre[:n].astype(float), scratch.radius[:n].astype(float)


def row(packs, place):
    filled = packs.span[0, 2]
    return packs.rows[place * filled : (place + 1) * filled]


@pytest.mark.parametrize("half", [0.3, 1e-3, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_leads_in_float32_cover_those_in_float64(seed, half):
    frame, _, packs, mid, spread, axes, rng = packed(seed, half)
    scratch = slices.fresh_slices(2000, packs.base.shape[1])
    for pack in (0, 1):  # as packed, and thinned out over a part of the box
        part = spread * rng.uniform(0.05, 0.3, 4)
        inner = mid + (spread - part) * rng.uniform(-1, 1, 4)
        ids, centre, radius = measured(packs, pack, inner, part, axes, scratch)
        E = frame.problem.E[ids]
        exact, most = E @ inner, np.abs(E) @ part
        assert len(ids) > 10
        assert (centre + radius >= exact + most).all()
        assert (centre - radius <= exact - most).all()
        slack = 1e-4 * (np.abs(E) @ spread + np.abs(exact)) + 4 * frame.problem.error[ids]
        assert (radius <= most + slack).all()
        if pack == 0:
            filled = packs.span[0, 2]
            slices.open_pairs(filled, scratch.centre, scratch.radius, ZERO, ZERO, scratch.undecided)
            scratch.undecided[:20] = 1.0
            packs.base[1] = packs.base[0]
            chosen = np.zeros(2000, np.uint32)
            packing.thin_out(frame.problem, packs, 0, ZERO, inner, axes, scratch, chosen)
            mid, spread = inner, part


@pytest.mark.parametrize("half", [0.3, 1e-3, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_no_point_wins_what_its_slice_has_lost(seed, half):
    frame, _, packs, mid, spread, axes, rng = packed(seed, half)
    scratch = slices.fresh_slices(2000, packs.base.shape[1])
    ids, _, _ = measured(packs, 0, mid, spread, axes, scratch)
    n, filled = packs.span[0, 1:]
    begin, end = scratch.begin, scratch.end
    for place, axis in enumerate(axes):
        width = np.float32(2 * spread[axis] / slices.SLICES)
        slices.limits(filled, scratch.centre, scratch.radius, ZERO, row(packs, place), width, begin, end)
        for number in range(slices.SLICES):
            lost = (begin[:n] <= number) & (number < end[:n])
            points = mid + spread * rng.uniform(-1, 1, (50, 4))
            ends = mid[axis] - spread[axis] + 2 * spread[axis] * (number + np.array([0.0, 1.0])) / 32
            points[:, axis] = rng.uniform(*ends, 50)
            won = (points @ frame.problem.E[ids].T > frame.problem.error[ids]).any(axis=0)
            assert not (lost & won).any()


@pytest.mark.parametrize("seed", range(4))
def test_the_range_of_slices_is_that_of_plain_counting(seed):
    frame, values, packs, mid, spread, axes, _ = packed(seed, 0.2)
    scratch = slices.fresh_slices(2000, packs.base.shape[1])
    measured(packs, 0, mid, spread, axes, scratch)
    n, filled = packs.span[0, 1:]
    owner, begin, end = packs.owner[:n], scratch.begin, scratch.end
    width = np.float32(0.4 / slices.SLICES)
    slices.limits(filled, scratch.centre, scratch.radius, ZERO, row(packs, 1), width, begin, end)
    worths = []
    positives = len(frame.problem.shift)
    for number in range(slices.SLICES):
        counts = packs.base[0].astype(int)
        lost = (begin[:n] <= number) & (number < end[:n])
        np.add.at(counts, owner[lost], 1)
        ranked = np.sort(counts[:positives])
        worths.append(int(frame.problem.weight[ranked + np.arange(positives)].sum()))
    for target in [*sorted(set(worths)), max(worths) + 1]:
        alive = [number for number, worth in enumerate(worths) if worth >= target]
        expected = (alive[0], alive[-1]) if alive else (slices.SLICES, -1)
        assert range_of(n, owner, packs.words[0], values.lists, scratch, target) == expected


def range_of(n, owner, base, lists, scratch, target):
    """The steps of `range_of_lists`, which is compiled into its caller only."""
    slices.clear(scratch.words)
    slices.mark(n, scratch.begin, scratch.end, owner, scratch.words)
    slices.add_up(scratch.words, base)
    slices.least_of(scratch.table, scratch.least)
    slices.groups_reach(scratch.least, scratch.numbers, scratch.before, scratch.value, lists, target)
    return slices.range_of_slices(scratch.table, scratch.value, scratch.number, lists, target)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 instructions")
def test_the_loops_over_pairs_and_positives_use_vector_registers():
    floats, byte_row, table = types.float32[::1], types.uint8[::1], types.uint8[:, ::1]
    whole, single = types.int64, types.float32
    kernels = [
        (slices.limits, (whole, floats, floats, single, floats, single, byte_row, byte_row), "v?divps"),
        (slices.open_pairs, (whole, floats, floats, single, single, floats), "v?cmp\\w*ps"),
        (slices.least_of, (table, table), "v?pminub"),
    ]
    for kernel, signature, instruction in kernels:
        fresh = njit(signature, nogil=True, error_model="numpy")(kernel.py_func)
        (text,) = fresh.inspect_asm().values()
        assert re.search(rf"\s{instruction}\s", text), kernel.py_func.__name__
