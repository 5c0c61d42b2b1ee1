"""Every file the library reads, when it is empty, cut short, damaged, of another kind or not there."""

import gzip
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from toprank import AccuracyAtTop, ExactRanker
from toprank.control import Run, SearchStoppedWarning, Status
from toprank.datasets import InputError, Labelled, Roles, Table, learn_encoder, read_table
from toprank.exact import Certificate, CertificateError, CheckpointError, RankingProblem
from toprank.exact.search.driver import search
from toprank.model import RankingModel, load_model, save_model
from toprank.reproduce.store import Store

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0.5).astype(int)
HARD = RankingProblem.from_labels(RNG.normal(size=(150, 8)), np.arange(150) % 3 == 0, "dcg")
FRAME = pd.DataFrame(X, columns=list("abc")).assign(y=Y)


def _stop_after_some(progress):
    return not progress.iterations


def write_search_checkpoint(path):
    with Run(rng=0, time_limit=0.5) as run:
        assert not search(HARD, run, checkpoint=path, method="boxes").proved


def read_search_checkpoint(path):
    with Run(rng=0, time_limit=0.1) as run:
        search(HARD, run, checkpoint=path, method="boxes")


def pins(path):
    return AccuracyAtTop(0.2, checkpoint=path)


def write_pins(path):
    pins(path).fit(X, Y)


def write_certificate(path):
    ExactRanker(time_limit=5).fit(X[:20, :2], Y[:20]).certificate_.save(path)


def write_model(path):
    data = Labelled.of(Table(FRAME, source="items"), Roles("y"))
    encoder, _ = learn_encoder(data.features)
    ranker = LogisticRegression().fit(encoder.encode(data.features)[0], data.y)
    save_model(RankingModel(encoder, ranker, Roles("y"), data.positive, "auc"), path)


def write_store(path):
    with Store(path.parent, path.stem).writing() as writer:
        for key in "abc":
            writer.write({"key": key, "value": 1.0})


WRITE = {
    "search.npz": write_search_checkpoint,
    "pins.npz": write_pins,
    "certificate.json": write_certificate,
    "model.json": write_model,
    "model.skops": write_model,
    "store.jsonl": write_store,
    "items.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode())),
    "items.parquet": lambda path: FRAME.to_parquet(path),
}
READ = {
    "search.npz": read_search_checkpoint,
    "pins.npz": lambda path: pins(path).fit(X, Y),
    "certificate.json": Certificate.load,
    "model.json": load_model,
    "model.skops": load_model,
    "store.jsonl": lambda path: Store(path.parent, path.stem).read(),
    "items.csv.gz": read_table,
    "items.parquet": read_table,
}
ERRORS = (InputError, CertificateError, CheckpointError, ValueError)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """One good file of every kind, which reads back."""
    folder, contents = tmp_path_factory.mktemp("files"), {}
    for name, write in WRITE.items():
        path = folder / name
        write(path)
        READ[name](path)
        contents[name] = path.read_bytes()
    return contents


def refused(path, name):
    with pytest.raises(ERRORS) as caught:
        READ[name](path)
    message = str(caught.value)
    assert path.name in message, "the message does not name the file"
    assert "\n" not in message
    return message


BINARY = [name for name in WRITE if not name.endswith("jsonl")]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_empty_or_cut_short(originals, tmp_path, name, share):
    content = originals[name]
    (tmp_path / name).write_bytes(content[: int(share * len(content))])
    message = refused(tmp_path / name, name)
    if name.endswith("npz"):
        assert "Delete it to begin anew, or name another file" in message


def _zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("hello.txt", "hello")
    return stream.getvalue()


def _archive():
    stream = io.BytesIO()
    np.savez(stream, numbers=np.arange(3))
    return stream.getvalue()


def _pickled():
    stream = io.BytesIO()
    np.savez(stream, facts=np.array([{"a": 1}], dtype=object), fingerprint=np.array([None]))
    return stream.getvalue()


FOREIGN = {
    "words": b"These are words.\nAnd more of them.\n",
    "JSON": json.dumps({"format": "something else", "key": 1}).encode(),
    "zip": _zip(),
    "archive": _archive(),
    "pickled arrays": _pickled(),
    "pickle": pickle.dumps({"facts": 1}),
    "noise": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("kind", sorted(FOREIGN))
def test_of_another_kind(tmp_path, name, kind):
    (tmp_path / name).write_bytes(FOREIGN[kind])
    refused(tmp_path / name, name)


@pytest.mark.parametrize("name", ["search.npz", "pins.npz"])
def test_a_byte_changed_in_a_checkpoint_is_noticed_or_harmless(originals, tmp_path, name):
    """Wherever the byte is: a clear error, or the same arrays."""
    content, path = originals[name], tmp_path / name
    noticed = 0
    for place in np.linspace(0, len(content) - 1, 40).astype(int).tolist():
        changed = bytearray(content)
        changed[place] ^= 0x55
        path.write_bytes(bytes(changed))
        said = ""
        try:
            READ[name](path)
        except ERRORS as error:
            said = str(error)
        assert str(path) in said or not said
        noticed += bool(said)
    assert noticed > 20


@pytest.mark.parametrize("name", [name for name in WRITE if not name.endswith("jsonl")])
def test_a_folder_instead(tmp_path, name):
    (tmp_path / name).mkdir()
    refused(tmp_path / name, name)


@pytest.mark.parametrize("name", [name for name in WRITE if not name.endswith(("jsonl", "npz"))])
def test_not_there(tmp_path, name):
    refused(tmp_path / name, name)


def test_a_checkpoint_that_is_not_there_yet_is_made(tmp_path):
    write_search_checkpoint(tmp_path / "search.npz")
    write_pins(tmp_path / "pins.npz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pins.npz", "search.npz"]


def test_checkpoints_of_other_data_are_refused(originals, tmp_path):
    for name in ("search.npz", "pins.npz"):
        (tmp_path / name).write_bytes(originals[name])
    with pytest.raises(ValueError, match=r"pins\.npz' belongs to other data .* Delete it"):
        pins(tmp_path / "pins.npz").fit(X[:-1], Y[:-1])
    other = RankingProblem.from_labels(X, Y, "dcg")
    with Run(rng=0) as run, pytest.raises(CheckpointError, match=r"belongs to another problem .* Delete it"):
        search(other, run, checkpoint=tmp_path / "search.npz")


@pytest.mark.parametrize("name", ["search.npz", "pins.npz", "certificate.json", "model.json", "model.skops"])
def test_a_full_disk_keeps_what_was_there_and_leaves_no_crumbs(originals, tmp_path, monkeypatch, name):
    path = tmp_path / name
    if not name.endswith("npz"):
        path.write_bytes(originals[name])

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        WRITE[name](path)
    assert [one.name for one in tmp_path.iterdir()] == ([] if name.endswith("npz") else [name])
    if path.exists():
        assert path.read_bytes() == originals[name]


@pytest.mark.parametrize("name", ["search.npz", "pins.npz", "certificate.json", "model.json"])
def test_file_and_folder_are_on_the_disk(tmp_path, monkeypatch, name):
    synced = []
    sync = os.fsync

    def watch(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve())
        sync(descriptor)

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc to see what is synced")
    monkeypatch.setattr(os, "fsync", watch)
    WRITE[name](tmp_path / name)
    assert synced[-1] == tmp_path.resolve(), "the folder last"
    assert synced[-2].parent == tmp_path.resolve(), "the file before"


def test_only_one_module_writes_files():
    """Whoever writes otherwise loses atomicity; the log of `reproduce` is appended to, line by line."""
    import toprank

    package = Path(toprank.__file__).parent
    suspects = ("write_text(", "write_bytes(", "mkstemp(", "NamedTemporaryFile(", '.open("w', 'open(path, "w')
    found = {
        str(file.relative_to(package)): [
            word for word in suspects if word in file.read_text(encoding="utf-8")
        ]
        for file in package.rglob("*.py")
    }
    assert {name for name, words in found.items() if words} == {"output.py"}


def test_an_interrupted_fit_leaves_its_pins_behind(tmp_path):
    path = tmp_path / "pins.npz"
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 8))  # enough pins that a report comes before the last one
    Y = (X[:, 0] + rng.normal(size=300) > 0.5).astype(int)
    stopped = AccuracyAtTop(0.2, checkpoint=path, callback=_stop_after_some)
    with pytest.warns(SearchStoppedWarning):
        stopped.fit(X, Y)
    assert stopped.outcome_.status is Status.STOPPED
    assert [one.name for one in tmp_path.iterdir()] == ["pins.npz"]
    assert pins(path).fit(X, Y).outcome_.status is Status.FINISHED
