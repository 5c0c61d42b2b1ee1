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
    packs.base[: len(values.base)] = values.base
    packs.value[0] = frame.value
    axes = np.array([1, 2, 3])
    every = np.inf  # all pairs are packed, decided or not
    packing.start_pack(frame.problem, packs, 0, 0, 0, every, every, values.order, mid, spread, axes)
    return frame, values, packs, mid, spread, axes, rng


def measured(packs, pack, lead, steps, scratch):
    """Pairs of a pack and their leads after some steps from where they were kept.

    A step is the place of an axis, how far the middle moves along it, how much less the half width becomes.
    """
    at, n, filled = packs.span[pack]
    rows, after = packs.rows, (scratch.centre, scratch.radius)
    for number, (place, move, less) in enumerate(steps):
        row, change = at * 4 + place * filled, (np.float32(move), packing.downward(less))
        if number == 0:
            slices.step_from(filled, lead, packs.centre, packs.reach, rows, row, *change, *after)
        else:
            slices.step_on(filled, rows, row, *change, *after)
    return packs.ids[at : at + n], scratch.centre[:n].astype(float), scratch.radius[:n].astype(float)


def in_slices(packs, place, width, scratch):
    """Which of the pairs of the first pack are lost in which slices along an axis: (slices, pairs)."""
    n, filled = packs.span[0, 1:]
    leads = scratch.centre, scratch.radius
    slices.limits(filled, *leads, ZERO, packs.rows, place * filled, np.float32(width), scratch.code)
    return slices.LOST.reshape(-1, 32)[scratch.code[:n]].T.astype(bool)


@pytest.mark.parametrize("half", [0.3, 1e-3, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_leads_in_float32_cover_those_in_float64(seed, half):
    frame, values, packs, mid, spread, axes, rng = packed(seed, half)
    scratch = slices.fresh_slices(2000, packs.width, values.rivals)
    lead = 0
    for pack in (0, 1):  # as packed, and thinned out over a part of the box
        part = spread * rng.uniform(0.05, 0.3, 4)
        inner = mid + (spread - part) * rng.uniform(-1, 1, 4)
        steps = [(place, inner[j] - mid[j], spread[j] - part[j]) for place, j in enumerate(axes)]
        ids, centre, radius = measured(packs, pack, lead, steps, scratch)
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
            packs.base[packs.width : 2 * packs.width] = packs.base[: packs.width]
            chosen = np.zeros(2000, np.uint32)
            lead = 7 * filled
            packing.thin_out(frame.problem.gain, packs, 0, lead, ZERO, len(axes), scratch, chosen)
            mid, spread = inner, part


@pytest.mark.parametrize("half", [0.3, 1e-3, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_no_point_wins_what_its_slice_has_lost(seed, half):
    frame, values, packs, mid, spread, axes, rng = packed(seed, half)
    scratch = slices.fresh_slices(2000, packs.width, values.rivals)
    ids, _, _ = measured(packs, 0, 0, [(0, 0.0, 0.0)], scratch)
    for place, axis in enumerate(axes):
        table = in_slices(packs, place, 2 * spread[axis] / slices.SLICES, scratch)
        for number, lost in enumerate(table):
            points = mid + spread * rng.uniform(-1, 1, (50, 4))
            ends = mid[axis] - spread[axis] + 2 * spread[axis] * (number + np.array([0.0, 1.0])) / 32
            points[:, axis] = rng.uniform(*ends, 50)
            won = (points @ frame.problem.E[ids].T > frame.problem.error[ids]).any(axis=0)
            assert not (lost & won).any()


@pytest.mark.parametrize("seed", range(4))
def test_the_range_of_slices_is_that_of_plain_counting(seed):
    frame, values, packs, *_ = packed(seed, 0.2)
    scratch = slices.fresh_slices(2000, packs.width, values.rivals)
    measured(packs, 0, 0, [(0, 0.0, 0.0)], scratch)
    n = packs.span[0, 1]
    table = in_slices(packs, 1, 0.4 / slices.SLICES, scratch)
    worths = []
    positives = len(frame.problem.shift)
    for lost in table:
        counts = values.base.astype(int)
        np.add.at(counts, packs.owner[:n][lost], 1)
        ranked = np.sort(counts[:positives])
        worths.append(int(frame.problem.weight[ranked + np.arange(positives)].sum()))
    lists = values.lists
    slices.count_slices(
        n, scratch.code, packs.owner, 0, packs.base, 0, positives, scratch.lost, scratch.counts
    )
    slices.count_positives(lists.query, scratch.counts, scratch.single, scratch.group)
    for target in [*sorted(set(worths)), max(worths) + 1]:
        alive = [number for number, worth in enumerate(worths) if worth >= target]
        expected = (alive[0], alive[-1]) if alive else (slices.SLICES, -1)
        room = lists.most - target
        found = slices.range_of_slices(lists.query, lists.loss, room, scratch.single, scratch.group)
        assert found == expected


@pytest.mark.parametrize("seed", range(3))
def test_slices_of_pairs_that_count_by_themselves(seed):
    rng = np.random.default_rng(seed)
    n = 50
    code, gain = rng.integers(0, 66, n).astype(np.uint8), rng.integers(1, 9, n)
    lost = slices.LOST.reshape(-1, 32)[code].astype(int)
    worths = 100 - gain @ lost
    cost = np.zeros(33, np.int64)
    for target in np.unique(worths):
        alive = np.flatnonzero(worths >= target)
        found = slices.range_of_pairs(n, np.arange(n), 0, gain, code, cost, 100, target)
        assert found == (alive[0], alive[-1])


@pytest.mark.parametrize(("positives", "rivals"), [(1, 1), (5, 3), (40, 30), (255, 255)])
def test_counting_in_all_slices_at_once(positives, rivals):
    rng = np.random.default_rng(positives)
    counts = rng.integers(0, rivals + 1, (positives, 32)).astype(np.uint8)
    single, group = (np.zeros((rivals + 4) * 32, np.uint8) for _ in range(2))
    query = np.array([[0, positives, rivals, 0, 1]])
    slices.count_positives(query, counts.ravel(), single, group)
    expected = (counts[None] <= np.arange(rivals)[:, None, None]).sum(axis=1)
    np.testing.assert_array_equal(single.reshape(-1, 32)[:rivals], expected)
    largest = expected.reshape(rivals, 8, 4).max(axis=2).repeat(4, axis=1)
    np.testing.assert_array_equal(group.reshape(-1, 32)[:rivals], largest)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86 instructions")
def test_the_loops_over_pairs_and_positives_use_vector_registers():
    floats, byte_row, table = types.float32[::1], types.uint8[::1], types.int64[:, ::1]
    whole, single, short = types.int64, types.float32, types.uint16[::1]
    kernels = [
        (slices.limits, (whole, floats, floats, single, floats, whole, single, byte_row), "v?divps"),
        (slices.change, (whole, floats, floats, whole), "v?mulps"),
        (slices.step_on, (whole, floats, whole, single, single, floats, floats), "v?(mul|fmadd...)ps"),
        (
            slices.count_slices,
            (whole, byte_row, short, whole, byte_row, whole, whole, byte_row, byte_row),
            "v?paddb",
        ),
        (slices.count_positives, (table, byte_row, byte_row, byte_row), "v?psubusb"),
    ]
    for kernel, signature, instruction in kernels:
        options = {**kernel.targetoptions, "cache": False}
        fresh = njit(signature, nogil=True, error_model="numpy", fastmath=options.get("fastmath", False))
        (text,) = fresh(kernel.py_func).inspect_asm().values()
        assert re.search(rf"\s{instruction}\s", text), kernel.py_func.__name__
