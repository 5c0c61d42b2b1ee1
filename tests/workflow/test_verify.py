"""`toprank verify`: a sound model passes, other data and models without a certificate do not."""

import pytest

from toprank import datasets
from toprank.cli import main


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verify")
    table = datasets.inspections(400)
    table.to_csv(folder / "data.csv", index=False)
    table.assign(vibration_mm_s=table["vibration_mm_s"] + 0.5 * table["failed"]).to_csv(
        folder / "other.csv", index=False
    )
    arguments = [
        "rank",
        str(folder / "data.csv"),
        "-t",
        "failed",
        "--id",
        "pump",
        "-k",
        "30",
        "--splits",
        "0",
    ]
    assert main([*arguments, "-q", "--model", str(folder / "model.json")]) == 0
    return folder


def test_a_model_holds_on_its_own_data(made, capsys):
    assert main(["verify", str(made / "model.json"), str(made / "data.csv")]) == 0
    assert "Sound" in capsys.readouterr().out


def test_other_data_are_noticed(made, capsys):
    assert main(["verify", str(made / "model.json"), str(made / "other.csv")]) == 3
    assert "not sound" in capsys.readouterr().out
