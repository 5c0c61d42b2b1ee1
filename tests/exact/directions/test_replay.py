"""The head of every replay: all faces of the cube, and a complaint for whatever is not in the log."""

from __future__ import annotations

import numpy as np
import pytest

from toprank.exact.directions.judge import LogError
from toprank.exact.directions.replay import faces, subtrees


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_every_direction_meets_a_face(dimension):
    every = np.random.default_rng(0).normal(size=(200, dimension))
    cube = every / np.abs(every).max(axis=1, keepdims=True)
    for direction in cube:
        assert any(
            (low <= direction).all() and (direction <= high).all() for low, high in faces(np.eye(dimension))
        )


def test_a_column_without_entries_has_no_face():
    assert len(faces(np.diag([1.0, 0.0, 1.0]))) == 4


def test_a_box_that_is_not_in_the_log_is_a_complaint():
    waiting = faces(np.eye(2))
    log = {np.concatenate(box).tobytes(): b"\x00" for box in waiting[1:]}
    with pytest.raises(LogError, match="missing"):
        list(subtrees(waiting, log))


def test_boxes_put_with_the_waiting_ones_come_too():
    waiting = faces(np.eye(1))
    log = {np.concatenate(box).tobytes(): bytes([n]) for n, box in enumerate(waiting)}
    again = waiting[0]
    seen = []
    for _, codes in subtrees(waiting, log):
        seen.append(codes)
        if len(seen) == 1:
            waiting.append(again)
    assert seen == [b"\x01", b"\x00", b"\x00"]
