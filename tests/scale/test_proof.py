"""Proofs on a Dask cluster of two processes: the same certificate, whoever is killed on the way."""

import os
import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone

from toprank import ExactRanker, RankThenRerank
from toprank.control import Status
from toprank.errors import InputError
from toprank.exact import sharing, verify
from toprank.exact.sharing import CrewLost

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

from toprank.scale import proof  # noqa: E402


def rows(n=40, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 2.0 * rng.normal(size=n) > 0.8


@pytest.fixture(autouse=True)
def _short_errands(monkeypatch):
    monkeypatch.setattr(sharing, "SHORTEST_ERRAND", 0.01)
    monkeypatch.setattr(sharing, "LONGEST_ERRAND", 0.01)
    monkeypatch.setattr(sharing, "SECONDS_PER_HAND", 0.0)


@pytest.fixture(scope="module")
def alone():
    return ExactRanker(method="boxes", random_state=0, time_limit=None).fit(*rows())


def on(client, **options):
    return ExactRanker(method="boxes", random_state=0, time_limit=None, cluster=client, **options)


def the_same(ranker, alone):
    ours, theirs = ranker.certificate_, alone.certificate_
    assert (ours.value, ours.bound, ours.status) == (theirs.value, theirs.bound, theirs.status)
    assert (ours.coef, ours.method, ours.fingerprint) == (theirs.coef, theirs.method, theirs.fingerprint)


def counted(monkeypatch, errand):
    """Have workers run another function, and count what is sent."""
    sent = []
    send = proof.DaskCrew.send

    def counting(self, one):
        sent.append(one.serial)
        send(self, one)

    monkeypatch.setattr(proof.DaskCrew, "send", counting)
    if errand is not None:
        monkeypatch.setattr(proof, "_errand", errand)
    return sent


def test_two_processes_prove_the_same(cluster, alone, monkeypatch):
    sent = counted(monkeypatch, None)
    ranker = on(cluster, keep_proof=True).fit(*rows())
    the_same(ranker, alone)
    assert len(sent) >= 3
    assert verify(ranker.problem(*rows()), ranker.certificate_, seconds=0).complete


def test_a_worker_killed_on_the_way_costs_time_only(cluster, alone, monkeypatch, tmp_path):
    mark = str(tmp_path / "killed")

    def deadly(version, assignment, errand):
        """The worker that gets the second errand dies of it, once."""
        from pathlib import Path

        from toprank.exact.search.errands import run_errand

        if errand.serial == 2:
            try:
                Path(mark).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return run_errand(assignment, errand)

    counted(monkeypatch, deadly)
    ranker = on(cluster, keep_proof=True).fit(*rows())
    assert os.path.exists(mark)  # noqa: PTH110
    the_same(ranker, alone)
    assert verify(ranker.problem(*rows()), ranker.certificate_, seconds=0).complete


def test_an_error_of_a_worker_is_told(cluster, monkeypatch):
    def broken(version, assignment, errand):
        raise ArithmeticError("a kernel that fails")

    counted(monkeypatch, broken)
    with pytest.raises(ArithmeticError, match="a kernel that fails"):
        on(cluster).fit(*rows())


def test_workers_with_another_version_are_told(cluster, monkeypatch):
    monkeypatch.setattr(proof, "__version__", "0.0.0")
    with pytest.raises(RuntimeError, match=r"the search is by 0\.0\.0"):
        on(cluster).fit(*rows())


def test_a_scheduler_that_is_gone_is_an_error_and_the_best_is_kept(fragile, alone, monkeypatch, tmp_path):
    here, client = fragile
    send = proof.DaskCrew.send

    def last(self, errand):
        if errand.serial == 3:
            here.sync(here.scheduler.close)
        send(self, errand)

    monkeypatch.setattr(proof.DaskCrew, "send", last)
    file = tmp_path / "proof.checkpoint"
    ranker = on(client, checkpoint=file)
    with pytest.raises(CrewLost, match=r"scheduler at tcp://.* is gone; the best answer so far was kept"):
        ranker.fit(*rows())
    kept = ranker.certificate_
    assert kept.status is Status.LOST
    assert kept.value <= alone.certificate_.value <= kept.bound
    assert ranker.decision_function(rows()[0]).shape == (40,)
    again = ExactRanker(method="boxes", random_state=0, time_limit=None, checkpoint=file).fit(*rows())
    assert again.certificate_.bound == alone.certificate_.bound
    assert again.certificate_.value == alone.certificate_.value


def test_a_client_is_shared_by_copies_and_travels_as_its_address(cluster):
    ranker = on(cluster)
    assert clone(ranker).cluster is cluster
    assert clone(RankThenRerank(reranker=ranker)).reranker.cluster is cluster
    assert pickle.loads(pickle.dumps(ranker)).cluster == cluster.scheduler.address
    assert ranker.cluster is cluster


def test_an_address_opens_a_client_of_its_own(cluster, alone):
    the_same(on(cluster.scheduler.address).fit(*rows()), alone)
    assert cluster.status == "running"


def test_what_is_no_cluster_is_named():
    for wrong in (3, object()):
        with pytest.raises(InputError, match="must be the address of a Dask scheduler"):
            on(wrong).fit(*rows())
    with pytest.raises(InputError, match="No Dask scheduler answers at `cluster='nowhere'`"):
        on("nowhere").fit(*rows())
    with pytest.raises(ValueError, match="cluster is for solver='search' only"):
        ExactRanker(solver="mip", cluster="local").fit(*rows())
