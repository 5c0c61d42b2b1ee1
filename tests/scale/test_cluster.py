"""Cells and splits on a Dask cluster of two processes: the same figures; a lost worker costs time only."""

import json
import os
import signal

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import cross_val_score

from toprank import RankSVM
from toprank.errors import InputError
from toprank.reproduce.cells import arm_cells
from toprank.reproduce.experiment import Arm, Experiment, Measure, RandomSplits, Source
from toprank.reproduce.runner import run_cells
from toprank.reproduce.store import Store
from toprank.scale import extras
from toprank.scale.cluster import connected, spread, threads_of
from toprank.workflow import compare
from toprank.workflow.compare import CompareOptions, compare_rankers
from toprank.workflow.reading.source import Columns, open_source

pytest.importorskip("distributed", reason="dask.distributed is not installed")

QUICK = Experiment(
    name="quick",
    source=Source(title="Gaussians", maker="gaussians", options={"n": 60}),
    splits=RandomSplits(count=3),
    measures=(Measure("auc", "AUC", "auc"),),
    arms=(Arm("lr", "LR", "LogisticRegression"),),
)


def test_pieces_come_back_with_their_numbers(cluster):
    assert threads_of(cluster) == 2
    assert sorted(spread(lambda piece: piece.sum(), [np.full(1000, k) for k in range(5)], cluster)) == [
        (k, 1000 * k) for k in range(5)
    ]


def test_a_worker_killed_costs_its_piece_only(cluster, tmp_path):
    mark = str(tmp_path / "killed")

    def deadly(piece):
        from pathlib import Path

        if piece[0] == 2:
            try:
                Path(mark).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return piece.sum()

    pieces = [np.full(1000, k) for k in range(6)]
    assert dict(spread(deadly, pieces, cluster)) == {k: 1000 * k for k in range(6)}
    assert os.path.exists(mark)  # noqa: PTH110


def test_an_error_in_a_piece_is_its_own(cluster):
    def fails(piece):
        raise ArithmeticError(f"piece {piece}")

    with pytest.raises(ArithmeticError, match="piece 0"):
        list(spread(fails, [0], cluster))


def test_a_scheduler_that_is_gone_is_named(fragile):
    here, client = fragile
    found = spread(lambda piece: piece, range(100), client)
    assert next(found)[0] >= 0
    here.sync(here.scheduler.close)
    with pytest.raises(InputError, match=r"scheduler at tcp://.* is gone; what was finished is kept"):
        list(found)


@pytest.mark.slow
def test_a_cluster_reproduces_what_one_process_does(cluster, tmp_path):
    cells = arm_cells("someone-2020", QUICK, QUICK.arms[0], 1.0)
    found = []
    for name, where in (("here", None), ("there", cluster)):
        store = Store(tmp_path / name, "someone-2020")
        assert run_cells(cells, store, jobs=1, cluster=where).computed == 3
        records = [json.loads(line) for line in store.file.read_text().splitlines()]
        found.append({record["key"]: [point["test"] for point in record["points"]] for record in records})
    assert found[0] == found[1]
    with pytest.raises(InputError, match="No Dask scheduler answers at `cluster='nowhere'`"):
        run_cells(cells, Store(tmp_path / "third", "someone-2020"), cluster="nowhere")


def test_a_cluster_compares_what_one_process_does(cluster, monkeypatch):
    everybody = compare.lineup
    monkeypatch.setattr(compare, "lineup", lambda *args, **options: everybody(*args, **options)[:2])
    source = open_source(None, Columns())
    here, there = (
        compare_rankers(source, CompareOptions(splits=2, time_limit=None, cluster=where))
        for where in (None, cluster)
    )
    assert [one.name for one in here.figures] == [one.name for one in there.figures]
    for ours, theirs in zip(here.figures, there.figures, strict=True):
        assert ours.test == theirs.test
        assert ours.train == theirs.train
    assert here.advice == there.advice


def test_cross_validation_is_spread_by_joblib(cluster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0.5).astype(int)
    with parallel_config(backend="dask", client=cluster):
        there = cross_val_score(RankSVM(), X, y, scoring="roc_auc", n_jobs=-1)
    assert there.tolist() == cross_val_score(RankSVM(), X, y, scoring="roc_auc").tolist()


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(extras.importlib, "import_module", missing)
    with (
        pytest.raises(InputError, match=r"Clusters need distributed: .*pip install 'toprank\[cluster\]'"),
        connected("local"),
    ):
        pass
