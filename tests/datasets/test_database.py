"""Items from a database: read, never written, and nothing said of where it is."""

import importlib
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from toprank.cli.main import main
from toprank.datasets import database
from toprank.datasets.database import DATABASE, read_query
from toprank.errors import InputError

SECRET = "hunter2-secret"
HOSTILE = (
    "drop table items",
    "delete from items",
    "insert into items values (1, 2, 3, 4)",
    "update items set y = 0",
    "create table other (a int)",
    "select * from items; drop table items",
    "with gone as (delete from items returning *) select * from gone",
    "pragma journal_mode = wal",
    "attach ':memory:' as other",
    "copy items to 'stolen.csv'",
    "copy (select * from items) to 'stolen.csv'",
    "install httpfs",
    "set memory_limit = '1GB'",
    "vacuum",
    "",
)


def rows(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + rng.normal(size=n) > 0.5).astype(int)
    return [(f"item {k}", *map(float, X[k]), int(y[k])) for k in range(n)]


def made_sqlite(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table items (name text, a real, b real, y int)")
        connection.executemany("insert into items values (?, ?, ?, ?)", rows())
    return f"sqlite:///{path}"


def made_duckdb(path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table items (name text, a double, b double, y int)")
        connection.executemany("insert into items values (?, ?, ?, ?)", rows())
    return f"duckdb:///{path}"


MAKE = {"sqlite": made_sqlite, "duckdb": made_duckdb}


@pytest.fixture(params=sorted(MAKE))
def file(request, tmp_path, monkeypatch):
    path = tmp_path / f"{SECRET}.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(DATABASE, MAKE[request.param](path))
    return path


def test_a_query_gives_a_table(file):
    frame, fingerprint = read_query("select name, a, y as failed from items where b > 0 order by name")
    wanted = sorted((name, a, y) for name, a, b, y in rows() if b > 0)
    assert [tuple(row) for row in frame.itertuples(index=False)] == wanted
    assert list(frame.columns) == ["name", "a", "failed"]
    assert fingerprint == read_query("select name, a, y as failed from items where b > 0 order by name")[1]
    assert fingerprint != read_query("select name, a, y as failed from items order by name")[1]


def test_what_is_no_select_is_refused_and_changes_nothing(file):
    before, listed = file.read_bytes(), sorted(file.parent.iterdir())
    for statement in HOSTILE:
        with pytest.raises(InputError) as refused:
            read_query(statement)
        assert SECRET not in str(refused.value)
    assert file.read_bytes() == before
    assert sorted(file.parent.iterdir()) == listed
    assert len(read_query("select * from items")[0]) == 60


def test_other_files_are_not_read_from_within_a_select(tmp_path, monkeypatch):
    monkeypatch.setenv(DATABASE, made_duckdb(tmp_path / "items.db"))
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="does not take `sql`"):
        read_query(f"select * from read_csv('{other}')")


def test_mistakes_are_named_without_saying_where(file):
    with pytest.raises(InputError, match="no_such") as refused:
        read_query("select no_such from items")
    assert SECRET not in str(refused.value)
    with pytest.raises(InputError, match="several columns with the name 'a'"):
        read_query("select a, a from items")
    with pytest.raises(InputError, match="gives no rows"):
        read_query("select * from items where a > 1e9")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (None, f"environment variable {DATABASE}"),
        ("", f"environment variable {DATABASE}"),
        (f"mysql://me:{SECRET}@host/db", "names no database that can be read"),
        (f"sqlite:///{SECRET}.db", "no such file"),
        (f"duckdb:///{SECRET}.db", "no such file"),
        (f"{SECRET}.db", "names no database"),
    ],
)
def test_an_address_that_leads_nowhere_is_not_printed(monkeypatch, tmp_path, address, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DATABASE, raising=False)
    if address is not None:
        monkeypatch.setenv(DATABASE, address)
    with pytest.raises(InputError, match=said) as refused:
        read_query("select 1")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database_is_not_named(monkeypatch, tmp_path, scheme):
    path = tmp_path / f"{SECRET}.db"
    path.write_bytes(b"no database at all" * 1000)
    monkeypatch.setenv(DATABASE, f"{scheme}:///{path}")
    with pytest.raises(InputError, match=r"cannot be opened|does not take") as refused:
        read_query("select * from items")
    assert SECRET not in str(refused.value)


def test_a_server_that_does_not_answer_is_not_named(monkeypatch):
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    monkeypatch.setenv(DATABASE, f"postgresql://me:{SECRET}@127.0.0.1:1/{SECRET}?connect_timeout=2")
    with pytest.raises(InputError, match="cannot be opened") as refused:
        read_query("select 1")
    assert SECRET not in str(refused.value)
    assert "127.0.0.1" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "package"), [("duckdb:///x.db", "duckdb"), ("postgresql://x", "psycopg")]
)
def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch, address, package):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.setenv(DATABASE, address)
    with pytest.raises(InputError, match=rf"needs {package}: install it with `pip install 'toprank\[sql\]'`"):
        read_query("select 1")


def test_what_a_message_shows_has_nothing_of_the_address():
    shown = database._shown(
        'password for "me" at db.example:5432/sales wrong\nsecond line',
        f"postgresql://me:{SECRET}@db.example/sales",
    )
    assert shown == 'password for "..." at ...:5432/... wrong'


def test_the_commands_rank_compare_and_score_a_query(file, tmp_path, capsys):
    select = "select name, a, b, y from items"
    learn = ["--sql", select, "--target", "y", "--id", "name", "--ranker", "logistic", "--splits", "0"]
    model = str(tmp_path / "model.json")
    assert main(["rank", *learn, "--model", model, "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert SECRET not in said.out + said.err
    assert main(["score", model, "--sql", "select name, a, b from items where b > 0", "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert told["provenance"]["data"] == "the query"
    assert len(scored["list"]) == 10
    assert main(["rank", "items.csv", *learn]) == 2
    assert "--sql" in capsys.readouterr().err
    assert main(["score", model, "items.csv", "--sql", select]) == 2
    assert main(["rank", "--sql", select, "--pairs", "answers.csv"]) == 2
    assert "with --pairs the items come from a file" in capsys.readouterr().err
    assert main(["compare", "--sql", "drop table items", "--target", "y"]) == 2
    assert "takes one statement that reads" in capsys.readouterr().err
