"""Checkpoints: whole, of this problem, of a method that is known, or refused with a remedy."""

import json

import numpy as np
import pytest

import exact_oracles as oracles
from toprank.control import Run
from toprank.exact import RankingProblem
from toprank.exact.search.checkpoint import Checkpoint, CheckpointError
from toprank.exact.search.driver import search
from toprank.output import archive_bytes, read_archive


def hard_problem():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 7))
    y = (X[:, 0] + 2 * rng.normal(size=120) > 0.5).astype(int)
    return RankingProblem.from_labels(X, y, "dcg")


def test_a_checkpoint_of_another_problem_or_a_damaged_one_is_refused(tmp_path):
    problem = hard_problem()
    file = tmp_path / "state.npz"
    with Run(rng=0, time_limit=0.7) as run:
        assert not search(problem, run, checkpoint=file, method="boxes").proved
    labels, _ = oracles.labels_and_lists(problem.queries, len(problem.X))
    other = RankingProblem.from_labels(problem.X, labels, "auc")
    with Run(rng=0) as run, pytest.raises(CheckpointError, match="another problem"):
        search(other, run, checkpoint=file)
    file.write_bytes(file.read_bytes()[:200])
    with Run(rng=0) as run, pytest.raises(CheckpointError, match="not a checkpoint"):
        search(problem, run, checkpoint=file)
    file.write_text("hello")
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Checkpoint.load(file, problem.fingerprint())


def test_facts_and_arrays_survive_the_file(tmp_path):
    file = tmp_path / "state.npz"
    arrays = {"boxes": np.array([[0.1, -0.0], [np.inf, 5e-324]]), "target": np.int64(2**60 + 1)}
    Checkpoint("abc", {"bound": 0.1 + 0.2, "notes": ["thin"]}, arrays).save(file)
    again = Checkpoint.load(file, "abc")
    assert again.facts == {"bound": 0.1 + 0.2, "notes": ["thin"]}
    assert again.arrays["boxes"].tobytes() == arrays["boxes"].tobytes()
    assert int(again.arrays["target"]) == 2**60 + 1


def rewritten(file, change):
    arrays = read_archive(file)
    facts = json.loads(str(arrays.pop("facts")))
    change(facts, arrays)
    file.write_bytes(archive_bytes({"facts": np.array(json.dumps(facts)), **arrays}))


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda facts, arrays: facts.pop("format"), "something else"),
        (lambda facts, arrays: arrays.pop("one"), "other arrays"),
        (lambda facts, arrays: facts.update(fingerprint="other"), "another problem"),
    ],
)
def test_a_file_with_something_missing_or_changed_is_refused(tmp_path, change, words):
    file = tmp_path / "state.npz"
    Checkpoint("abc", {"bound": 1.0}, {"one": np.arange(3)}).save(file)
    rewritten(file, change)
    with pytest.raises(CheckpointError, match=words) as error:
        Checkpoint.load(file, "abc")
    assert "Delete it" in str(error.value)


def test_a_checkpoint_of_a_method_that_is_not_known_is_refused(tmp_path):
    problem, file = hard_problem(), tmp_path / "state.npz"
    with Run(rng=0, time_limit=0.7) as run:
        assert not search(problem, run, checkpoint=file, method="boxes").proved
    rewritten(file, lambda facts, arrays: facts.update(method="sweep"))
    with Run(rng=0) as run, pytest.raises(CheckpointError, match="'sweep', which is not known"):
        search(problem, run, checkpoint=file)
