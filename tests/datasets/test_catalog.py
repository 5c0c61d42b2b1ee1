import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from toprank.datasets import InputError, catalog, entry, load, names

needs_data = pytest.mark.skipif(
    "TOPRANK_DATA" not in os.environ, reason="TOPRANK_DATA names no folder with the data files"
)
LARGE = {"kddcup99_10pct", "census_kdd_half"}


def test_every_entry_is_complete():
    for name, known in catalog().items():
        assert known.name == name
        assert known.file.startswith(name + ".")
        assert len(known.sha256) == 64
        for field in (known.about, known.origin, known.licence, known.citation):
            assert field.strip() == field != ""
        assert known.rows > 0
        assert known.features > 0
        assert set(known.dropped).isdisjoint(known.nominal)


@needs_data
@pytest.mark.parametrize("name", [name for name in names() if name not in LARGE])
def test_files_are_what_the_catalog_says(name):
    data = load(name, all_columns=True)
    known = entry(name)
    assert data.X.shape == (known.rows, known.features) == (len(data.y), len(data.feature_names))
    assert set(known.dropped) <= set(data.feature_names)
    assert set(known.nominal) <= set(data.feature_names)
    if known.positives is not None:
        assert set(data.y) == {0, 1}
    else:
        assert data.qid is not None
        assert data.y.max() > 1


@needs_data
def test_identifiers_and_leaks_are_left_out_unless_asked_for():
    assert "id" not in load("uis").feature_names
    assert "bmi" not in load("nhanes").feature_names
    assert "bmi" in load("nhanes", all_columns=True).feature_names


@needs_data
def test_groups_of_travellers_and_subjects():
    travel, subjects = load("travelmode"), load("polypharm")
    _, counts = np.unique(travel.groups, return_counts=True)
    assert set(counts) == {4}
    assert np.bincount(travel.groups, weights=travel.y).tolist() == [1.0] * 210
    assert len(np.unique(subjects.groups)) == 500


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TOPRANK_DATA", str(tmp_path))
    Path(tmp_path, "pima.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(InputError, match="SHA-256") as caught:
        load("pima")
    assert hashlib.sha256(b"a,y\n1,0\n2,1\n").hexdigest()[:12] in str(caught.value)


def test_not_at_hand_and_not_on_openml(monkeypatch):
    monkeypatch.delenv("TOPRANK_DATA", raising=False)
    with pytest.raises(InputError, match=r"TOPRANK_DATA to a folder that holds uis\.csv"):
        load("uis")


def test_a_folder_without_the_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TOPRANK_DATA", str(tmp_path))
    with pytest.raises(InputError, match=f"holds uis.csv; '{tmp_path}', where it points to now, does not"):
        load("uis")


def test_openml_out_of_reach(monkeypatch):
    monkeypatch.delenv("TOPRANK_DATA", raising=False)

    def unreachable(**options):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(InputError, match=r"OpenML did not answer \(no network\)"):
        load("pima")


def _openml_answer(positives):
    import pandas as pd

    label = pd.Series(["2"] * positives + ["1"] * (306 - positives), dtype="category")
    features = pd.DataFrame({"age": range(306), "year": ["58"] * 306, "nodes": 1.0})
    return lambda **options: Bunch(data=features, target=label, asked=options)


def test_openml_answers(monkeypatch):
    monkeypatch.delenv("TOPRANK_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", _openml_answer(81))
    data = load("haberman")
    assert data.X.shape == (306, 3)
    assert data.X.dtype == np.float64
    assert data.y.sum() == 81
    assert data.y[0] == 1


def test_openml_answers_with_something_else(monkeypatch):
    monkeypatch.delenv("TOPRANK_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", _openml_answer(80))
    with pytest.raises(InputError, match="80 positives; the catalog says 306 and 81"):
        load("haberman")


def test_unknown_names_get_a_hint():
    with pytest.raises(InputError, match="did you mean 'ionosphere'"):
        load("ionosfere")
    with pytest.raises(InputError, match="known: pima"):
        load("zzz")
