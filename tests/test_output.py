import gzip
import os
import stat
from pathlib import Path

import pandas as pd
import pytest

from toprank.datasets import InputError, read_table
from toprank.output import check_writable, table_bytes, write_whole


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_are_written_and_replaced(tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("old")
    write_whole({first: b"new", second: b"more"})
    assert first.read_bytes() == b"new"
    assert second.read_bytes() == b"more"
    assert _names(tmp_path) == ["a.txt", "b.txt"]


def test_new_files_get_ordinary_permissions(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write_whole({tmp_path / "a": b""})
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_kept_permissions(tmp_path):
    secret = tmp_path / "a"
    secret.write_bytes(b"")
    secret.chmod(0o600)
    write_whole({secret: b"x"})
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_full_disk_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    written = []

    def full(descriptor):
        written.append(descriptor)
        if len(written) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_whole({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert _names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_an_interrupt_leaves_no_crumbs(tmp_path, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole({tmp_path / "a": b"new"})
    assert _names(tmp_path) == []


def test_places_nothing_can_be_written_to(tmp_path):
    check_writable(tmp_path / "new.csv", argument="--out")
    with pytest.raises(InputError, match="is a folder"):
        check_writable(tmp_path, argument="--out")
    with pytest.raises(InputError, match="no folder"):
        check_writable(tmp_path / "absent" / "a.csv", argument="--out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written"):
        check_writable(tmp_path / "a.csv", argument="--out")
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.TSV.GZ", "a.parquet"])
def test_tables_come_back(tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"rank": [1, 2], "score": [0.1 + 0.2, -1e-17], "word": ["é,", '"x\ty"']})
    content = table_bytes(frame, Path(name), argument="--out")
    assert content == table_bytes(frame, Path(name), argument="--out")
    (tmp_path / name).write_bytes(content)
    pd.testing.assert_frame_equal(read_table(tmp_path / name).frame, frame, check_exact=True)
    if name.lower().endswith("gz"):
        assert gzip.decompress(content).startswith(b"rank")


def test_other_endings_are_refused():
    with pytest.raises(InputError, match=r"--out 'a\.xlsx' must end in"):
        table_bytes(pd.DataFrame(), Path("a.xlsx"), argument="--out")


def test_parquet_without_pyarrow(monkeypatch):
    def missing(*arguments, **options):
        raise ImportError("pyarrow")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", missing)
    with pytest.raises(InputError, match=r"toprank\[parquet\]"):
        table_bytes(pd.DataFrame(), Path("a.parquet"), argument="--out")
