"""Items from a database: what one SELECT gives, and nothing is ever written.

The database is named by an environment variable, since command lines are seen by others and kept by shells;
what stands in it appears in no message. Each engine is asked to see to it that nothing is written: SQLite and
DuckDB open the file for reading, PostgreSQL a transaction for reading, and each takes one statement.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from toprank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DATABASE", "read_query"]

DATABASE = "TOPRANK_DATABASE"
"""The environment variable."""
ADDRESSES = "postgresql://USER:PASSWORD@HOST/NAME, sqlite:///FILE or duckdb:///FILE"
ONE_SELECT = "`sql` takes one statement that reads, such as a select"
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def read_query(sql: str) -> tuple[pd.DataFrame, str]:
    """Rows that a SELECT gives on the database named by TOPRANK_DATABASE, and their fingerprint.

    Raises
    ------
    InputError
        With one line, in which what the variable says does not stand.
    """
    import pandas as pd

    address = os.environ.get(DATABASE, "").strip()
    if not address:
        raise InputError(f"`sql` needs the environment variable {DATABASE}: {ADDRESSES}.")
    scheme = address.partition("://")[0] if "://" in address else ""
    read = _READERS.get(scheme)
    if read is None:
        raise InputError(f"{DATABASE} names no database that can be read: it should be {ADDRESSES}.")
    columns, rows = read(address, sql)
    _check_names(columns)
    if not rows:
        raise InputError("`sql` gives no rows.")
    frame = pd.DataFrame.from_records(rows, columns=columns).infer_objects()
    for name in frame.columns:
        if frame[name].dtype == object and frame[name].map(lambda cell: isinstance(cell, Decimal)).any():
            frame[name] = frame[name].astype(float)
    return frame, hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def _check_names(columns: list[str]) -> None:
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(f"`sql` gives several columns with the name {name!r}; rename them with `as`.")


_Rows = tuple[list[str], list[tuple[Any, ...]]]


def _from_sqlite(address: str, sql: str) -> _Rows:
    path = _file(address)
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise _unopened(error) from None
    with closing(connection):
        connection.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
        )
        try:
            cursor = connection.execute(sql)
            return _all(cursor.description, cursor.fetchall())
        except (sqlite3.Error, sqlite3.Warning) as error:
            if "not authorized" in str(error) or "one statement" in str(error):
                raise InputError(f"{ONE_SELECT}.") from None
            raise _refused(str(error), address) from None


def _from_duckdb(address: str, sql: str) -> _Rows:
    duckdb = _package("duckdb")
    path = _file(address)
    try:
        # No other files either: they could be read from within a SELECT.
        connection = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
    except duckdb.Error as error:
        raise _unopened(error) from None
    with connection:
        try:
            statements = duckdb.extract_statements(sql)
            if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
                raise InputError(f"{ONE_SELECT}.")
            cursor = connection.execute(statements[0])
            return _all(cursor.description, cursor.fetchall())
        except duckdb.Error as error:
            raise _refused(str(error), address) from None


def _from_postgresql(address: str, sql: str) -> _Rows:
    psycopg = _package("psycopg")
    try:
        connection = psycopg.connect(address)
    except psycopg.Error as error:
        raise _unopened(error) from None
    with connection:
        connection.read_only = True
        try:
            # A cursor with a name is declared for a query: the server takes one SELECT and nothing else.
            with connection.cursor("toprank") as cursor:
                cursor.execute(sql)
                return _all(cursor.description, cursor.fetchall())
        except (psycopg.errors.SyntaxError, psycopg.errors.ReadOnlySqlTransaction) as error:
            raise InputError(f"{ONE_SELECT}. {_shown(error.diag.message_primary or '', address)}") from None
        except psycopg.Error as error:
            raise _refused(error.diag.message_primary or type(error).__name__, address) from None


_READERS: dict[str, Callable[[str, str], _Rows]] = {
    "sqlite": _from_sqlite,
    "duckdb": _from_duckdb,
    "postgresql": _from_postgresql,
    "postgres": _from_postgresql,
}


# -- small helpers --------------------------------------------------------------------------------------


def _all(description: Iterable[Any] | None, rows: list[tuple[Any, ...]]) -> _Rows:
    if description is None:
        raise InputError(f"{ONE_SELECT}.")
    return [str(column[0]) for column in description], rows


def _file(address: str) -> Path:
    """The file of ``scheme:///FILE``: an absolute path has four slashes, as elsewhere."""
    path = Path(unquote(address.partition("://")[2].partition("?")[0].removeprefix("/")))
    if not path.is_file():
        raise InputError(f"There is no such file as {DATABASE} names.")
    return path


def _package(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(
            f"The database that {DATABASE} names needs {name}: install it with `pip install 'toprank[sql]'`."
        ) from None


def _unopened(error: Exception) -> InputError:
    # Drivers say where they tried to connect, and as whom.
    return InputError(f"The database that {DATABASE} names cannot be opened ({type(error).__name__}).")


def _refused(said: str, address: str) -> InputError:
    return InputError(f"The database does not take `sql`: {_shown(said, address)}")


def _shown(said: str, address: str) -> str:
    """A message's first line, without anything that the address says."""
    line = said.strip().partition("\n")[0]
    parts = urlsplit(address)
    file = Path(unquote(parts.path))
    secrets = [address, parts.password, parts.username, parts.hostname, parts.path, parts.path.strip("/")]
    for secret in [*secrets, file.name, file.stem]:  # DuckDB calls a database by the name of its file
        if secret:
            either = "|".join(map(re.escape, (secret, unquote(secret))))
            line = re.sub(rf"(?<!\w)({either})(?!\w)", "...", line)
    return line
