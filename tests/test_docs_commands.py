"""Every command that a page shows is run, page by page, in a folder with the files the pages speak of."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import toprank

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ROWS = 150


def commands(page):
    """The lines of a page's blocks that a shell would take, but for what makes or installs the program."""
    for language, block in re.findall(
        r"^```(.*?)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S
    ):
        for line in block.splitlines() if language == "sh" else []:
            if re.match(r"(toprank|zcat|head) ", line) and "--example" not in line and "..." not in line:
                yield line


def write_items(folder, visits, rng):
    """Labels of every kind, and answers to which of two is the better one."""
    worth = visits["age_years"].fillna(10) + 3 * rng.normal(size=ROWS)
    stars = pd.qcut(worth, 5, labels=False) + 1
    items = pd.DataFrame(
        {"lead": visits["pump"], "age": worth + rng.normal(size=ROWS), "site": visits["site"]}
    )
    items.to_csv(folder / "leads.csv", index=False)
    items.assign(
        outcome=np.where(worth > worth.quantile(0.7), "fraud", "clear"),
        stars=stars,
        grade=stars,
        revenue=worth,
    ).to_csv(folder / "items.csv", index=False)
    items.assign(query=np.arange(ROWS) // 15, relevance=stars - 1).to_csv(folder / "results.csv", index=False)
    one, other = rng.integers(0, ROWS, (2, 300))
    upper = worth[one].to_numpy() > worth[other].to_numpy()
    better, worse = items["lead"][one[upper]].to_numpy(), items["lead"][other[upper]].to_numpy()
    pd.DataFrame({"better": better, "worse": worse}).to_csv(folder / "answers.csv", index=False)


@pytest.fixture
def desk(tmp_path):
    """A folder with the files that the pages speak of, small ones."""
    visits = toprank.datasets.inspections(ROWS)
    visits.to_csv(tmp_path / "visits.csv", index=False)  # the embedded example's columns and no others
    visits.to_csv(tmp_path / "visits.csv.gz", index=False)
    notes = [f"seen by inspector {number}" for number in range(ROWS)]
    visits.assign(notes=notes).to_csv(tmp_path / "old.csv", index=False, sep="|", encoding="latin-1")
    claims = visits.rename(columns={"failed": "fraud"}).assign(
        customer=np.arange(ROWS) // 3,
        filed=pd.date_range("2023-01-13", periods=ROWS, freq="5D").strftime("%d/%m/%Y"),
    )
    claims.to_csv(tmp_path / "claims.csv", index=False)
    visits.to_excel(tmp_path / "visits.xlsx", index=False)
    with closing(sqlite3.connect(tmp_path / "visits.db")) as database:
        visits.to_sql("visits", database, index=False)
    for name in ("new.csv", "arrivals.csv"):
        visits.drop(columns="failed").to_csv(tmp_path / name, index=False)
    (tmp_path / "items").mkdir()
    for number in range(2):
        visits.drop(columns="failed").to_parquet(tmp_path / "items" / f"{number}.parquet")
    visits.drop(columns="failed").to_csv(tmp_path / "extra.csv.gz", index=False)
    write_items(tmp_path, visits, np.random.default_rng(0))
    first_steps = (ROOT / "docs" / "first-steps.md").read_text(encoding="utf-8")
    rules = re.search(r"^```toml\n(.*?)^```", first_steps, re.M | re.S)
    (tmp_path / "rules.toml").write_text(rules[1], encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the lines are for a shell")
@pytest.mark.parametrize("page", [page for page in PAGES if [*commands(page)]], ids=lambda page: page.name)
def test_the_commands_of_a_page_work(page, desk):
    program = f'toprank() {{ "{sys.executable}" -m toprank "$@"; }}; '
    for line in commands(page):
        done = subprocess.run(
            ["bash", "-c", program + line],
            cwd=desk,
            capture_output=True,
            text=True,
            env={**os.environ, "TOPRANK_DATABASE": "sqlite:///visits.db"},
        )
        assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"


@pytest.mark.skipif(os.name == "nt", reason="cron and sh")
def test_the_line_of_cron_scores_and_sends_a_mail_where_that_fails(tmp_path):
    page = (ROOT / "docs" / "production.md").read_text(encoding="utf-8")
    script, line = re.search(
        r"`nightly.sh`.*?```sh\n(.*?)```.*?```text\n[-*/0-9 ]+  (.*?)\n```", page, re.S
    ).groups()
    (tmp_path / "nightly.sh").write_text(script, encoding="utf-8")
    line = line.replace("/srv/pumps", str(tmp_path))
    visits = toprank.datasets.inspections(60)
    roles = toprank.datasets.Roles("failed", id="pump")
    model = toprank.model.RankingModel.learned(toprank.RankSVM(), visits, roles)
    toprank.model.save_model(model, tmp_path / "model.skops")
    for name, does in {
        ".venv/bin/toprank": f'exec {sys.executable} -m toprank "$@"',
        "bin/mail": f'cat > {tmp_path}/sent; echo "$@" >> {tmp_path}/sent',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    def at_night():
        path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["sh", "-c", line], env={**os.environ, "PATH": path}, check=True, timeout=120)

    at_night()
    assert (tmp_path / "sent").read_text(encoding="utf-8").startswith("scoring failed")
    (tmp_path / "sent").unlink()
    visits.drop(columns="failed").to_csv(tmp_path / "new.csv", index=False)
    at_night()
    assert not (tmp_path / "sent").exists()
    assert len(pd.read_csv(tmp_path / "ranked.csv")) == 60
