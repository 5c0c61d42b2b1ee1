"""Counting in all slices at once: 32 bytes are one vector, which LLVM turns into the machine's registers.

A loop over arrays would not do: the compiler cannot know that they do not overlap, and so would write each
sum back to memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES, ROWS = 32, 4
"""Bytes of a vector: one a slice. Limits that are looked at together."""
BYTE, WORD = ir.IntType(8), ir.IntType(64)
VECTOR = ir.VectorType(BYTE, LANES)


def _vector_at(builder: Any, data: Any, place: Any) -> Any:
    """Pointer to the 32 bytes from a place of an array on."""
    return builder.bitcast(builder.gep(data, [place]), VECTOR.as_pointer())


def _splat(builder: Any, byte: Any) -> Any:
    """The same byte 32 times."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, byte, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, nothing, zeros)


def _larger_within(builder: Any, vector: Any, distance: int) -> Any:
    """Of each byte and the one so far away (1 or 2) in its group the larger."""
    order = [s ^ distance for s in range(LANES)]
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), order)
    other = builder.shuffle_vector(vector, vector, places)
    return builder.select(builder.icmp_unsigned(">", vector, other), vector, other)


def _count_rows(builder: Any, data: Any, first: Any, last: Any, limit: Any) -> list[Any]:
    """How many rows, from one to another, are no more than each of four limits: four vectors.

    A row is no more than a limit if the next number is further above it, or above zero, by one. Sums of how
    far rows are below numbers may not fit in a byte, but their differences do, and bytes that overflow leave
    those alone. That takes fewer steps than comparing does.
    """
    nothing = ir.Constant(VECTOR, [0] * LANES)
    sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(ROWS + 1)]
    each = [builder.add(limit, ir.Constant(WORD, row)) for row in range(ROWS + 1)]
    numbers = [_splat(builder, builder.trunc(value, BYTE)) for value in each]
    kind = ir.FunctionType(VECTOR, [VECTOR, VECTOR])
    less = cgutils.get_or_insert_function(builder.module, kind, f"llvm.usub.sat.v{LANES}i8")
    with cgutils.for_range_slice(builder, first, last, ir.Constant(WORD, 1), intp=WORD) as (i, _):
        place = builder.mul(i, ir.Constant(WORD, LANES))
        counts = builder.load(_vector_at(builder, data, place), align=1)
        for total, number in zip(sums, numbers, strict=True):
            below = builder.call(less, [number, counts])
            builder.store(builder.add(builder.load(total), below), total)
    totals = [builder.load(total) for total in sums]
    return [builder.sub(after, before) for before, after in pairwise(totals)]


@intrinsic
def add_bytes(typing_context, goal, place, source, begin):
    """Add 32 bytes of an array, from `begin` on, to those of another from `place` on."""
    signature = types.void(goal, types.uint64, source, types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        goals, sources = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 2)
        )
        at = _vector_at(builder, goals, arguments[1])
        more = builder.load(_vector_at(builder, sources, arguments[3]), align=1)
        builder.store(builder.add(builder.load(at, align=1), more), at, align=1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def fill_bytes(typing_context, goal, place, byte):
    """Set 32 bytes of an array, from `place` on, to the same one."""
    signature = types.void(goal, types.uint64, types.uint8)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        at = _vector_at(builder, data, arguments[1])
        builder.store(_splat(builder, arguments[2]), at, align=1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_up_to(typing_context, counts, first, last, limit, slices, groups, place):
    """How many positives have lost at most `limit` pairs, the same for the next three limits, by slices.

    `counts` are 32 bytes for each positive, those from `first` to `last` are looked at. The 4 times 32
    numbers go to `slices` from `place` on; `groups` gets the largest of each four slices, four times over.
    """
    if not isinstance(counts, types.Array):
        return None
    signature = types.void(counts, types.intp, types.intp, types.intp, slices, groups, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, each, four = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in ((signature.args[k], arguments[k]) for k in (0, 4, 5))
        )
        found = _count_rows(builder, data, arguments[1], arguments[2], arguments[3])
        for row, vector in enumerate(found):
            at = builder.add(arguments[6], ir.Constant(WORD, row * LANES))
            builder.store(vector, _vector_at(builder, each, at), align=1)
            largest = _larger_within(builder, _larger_within(builder, vector, 1), 2)
            builder.store(largest, _vector_at(builder, four, at), align=1)
        return context.get_dummy_value()

    return signature, generate
