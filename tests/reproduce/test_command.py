"""The command line of ``toprank reproduce``."""

import re

import pytest

from toprank.cli.main import main
from toprank.reproduce import all_papers
from toprank.reproduce.cells import cells_of, select


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _told(capsys, *arguments):
    assert main(["reproduce", *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said
    return said


def test_the_list_names_every_table_with_status_and_time(capsys):
    assert main(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    for paper in all_papers().values():
        assert paper.name in said
        for shown in (*paper.tables, *paper.drawings):
            line = re.compile(
                rf"^{shown.name}\s.*(not run|data not available|from the paper).*\d", re.MULTILINE
            )
            assert line.search(said), shown.name
    assert "minutes with" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rudin-2018"], "did you mean 'rudin-wang-2018'?"),
        (["rudin-wang-2018", "--only", "tabel1"], "did you mean 'table1"),
        (["rudin-wang-2018", "--only", "table1:gausians"], "'table1:gaussians'"),
        (["rudin-wang-2018", "--only", "table1,#"], "it has theorem1, figure2, table1"),
        (["rudin-wang-2018", "--only", "table1:gaussians:lr:11"], "'table1:gaussians:lr'"),
        (["--only", "table1"], "--only needs the name of a paper"),
        (["--budget", "0"], "--budget 0.0 is not a positive number"),
        (["--budget", "nan"], "--budget nan is not a positive number"),
        (["--budget", "2", "--paper-limits"], "--budget 2 and --paper-limits contradict each other"),
        (["--jobs", "0"], "--jobs 0 is neither"),
        (["--docs", "no/such/page.md"], "--docs 'no/such/page.md': there is no folder"),
    ],
)
def test_what_is_wrong_is_one_line(capsys, arguments, words):
    assert words in _told(capsys, *arguments)


def test_a_small_run_prints_the_table_and_writes_the_pages(capsys, tmp_path):
    (tmp_path / "docs").mkdir()
    arguments = ["rudin-wang-2018", "--only", "figure2,table1:gaussians:lr", "--jobs", "1"]
    assert main(["reproduce", *arguments, "--docs", "docs/reproduction.md"]) == 0
    said = capsys.readouterr().out
    assert "Table 1" in said
    assert "69.25 ± 2.70" in said
    assert "the same" in said
    assert "UIS" not in said
    for page in ("index.md", "index.html", "rudin-wang-2018.md", "rudin-wang-2018.html"):
        assert (tmp_path / "reproduction" / page).is_file()
    overview = (tmp_path / "docs" / "reproduction.md").read_text()
    assert overview.startswith("# The papers' tables")
    # Each paper has a page of its own, and every link leads somewhere.
    for page in re.findall(r"\]\(([^)]+)\)", overview):
        assert (tmp_path / "docs" / page).read_text().startswith("# ")
    assert "reproduction/rudin-wang-2018.md" in overview
    # The pages show everything that is known, not only what was asked for now.
    assert "Table 16" in (tmp_path / "reproduction" / "rudin-wang-2018.md").read_text()


def test_a_damaged_results_file_is_one_line(capsys, tmp_path):
    (tmp_path / "reproduction").mkdir()
    (tmp_path / "reproduction" / "rudin-wang-2018.jsonl").write_text("nonsense\n")
    assert "Line 1 of" in _told(capsys, "rudin-wang-2018", "--only", "figure2")


@pytest.mark.parametrize(
    ("only", "cells"),
    [
        ("table11:gaussians:lr", {("gaussians", "lr", k) for k in range(10)}),
        ("gaussians:lr", {("gaussians", "lr", k) for k in range(10)}),
        ("table1:gaussians:lr:3", {("gaussians", "lr", 2)}),
        (
            "gaussians:lr:3,gaussians:rb:1,gaussians:lr:4",
            {("gaussians", "lr", 2), ("gaussians", "lr", 3), ("gaussians", "rb", 0)},
        ),
        ("gaussians:lr:3,gaussians:lr", {("gaussians", "lr", k) for k in range(10)}),
        ("figure4", {("uis-progress", "k100", k) for k in range(4)}),
    ],
)
def test_only_picks_tables_data_sets_rankers_and_cells(only, cells):
    paper = all_papers()["rudin-wang-2018"]
    found = cells_of(paper, select(paper, [only]))
    assert {(cell.experiment.name, cell.arm.name, cell.split) for cell in found} == cells


UIS_TABLES = ("table1", "table3", "table4", "table7", "table16", "observation2")


def test_a_data_set_alone_means_all_its_tables():
    paper = all_papers()["rudin-wang-2018"]
    everything = cells_of(paper, select(paper, ["uis"]))
    tables = cells_of(
        paper,
        select(paper, [f"{table}:uis" for table in UIS_TABLES]),
    )
    assert {cell.key for cell in everything} == {cell.key for cell in tables}
