"""Tables of the SQLite checkpoint store with the errors that SQLite raises about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from hindsight_langgraph.errors import StoreClosed, StoreCorrupt, StoreError, StoreLocked, StoreRejected, StoreUnavailable

TABLES = ("checkpoints", "writes", "objects")
"""Everything that carries a thread number."""

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS threads (
        no INTEGER PRIMARY KEY, thread TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, expires REAL)""",
    "CREATE INDEX IF NOT EXISTS expiring ON threads (expires) WHERE expires IS NOT NULL",
    """CREATE TABLE IF NOT EXISTS checkpoints (
        thread INTEGER NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, parent TEXT NOT NULL, run_id TEXT NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (thread, ns, id)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS runs ON checkpoints (run_id) WHERE run_id <> ''",
    """CREATE TABLE IF NOT EXISTS writes (
        thread INTEGER NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (thread, ns, checkpoint_id, task_id, idx)) WITHOUT ROWID""",
    # Objects are large and their keys random: a rowid table appends them, and only the small index is kept in order.
    "CREATE TABLE IF NOT EXISTS objects (no INTEGER PRIMARY KEY, thread INTEGER NOT NULL, key BLOB NOT NULL, body BLOB NOT NULL)",
    "CREATE UNIQUE INDEX IF NOT EXISTS named ON objects (thread, key)",
)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_FORMAT}
_DOWN = {
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_NOLFS,
}  # fmt: skip


@contextmanager
def mapped_errors(path: Path) -> Generator[None]:
    """Turn what SQLite or the file system raises into the errors of this library."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        if "closed" in str(error):
            raise StoreClosed(f"the checkpoints in {path} were closed; open a new saver") from error
        raise StoreRejected(f"SQLite refused a request to {path}: {error}") from error
    except sqlite3.Error as error:
        raise _error_of(error, path) from error
    except OSError as error:
        raise StoreUnavailable(f"the checkpoints in {path} cannot be opened: {error}; check its directory") from error
    except UnicodeEncodeError as error:
        raise StoreRejected(f"a thread, namespace or task id is not valid Unicode: {error}") from error


def _error_of(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # extended codes keep the primary one below
    if code in _BUSY:
        return StoreLocked(f"another process is writing to {path}: {error}; try again, or give a longer timeout_s")
    if code in _BROKEN:
        return StoreCorrupt(f"{path} is no sound SQLite database: {error}; restore it from a backup")
    if code in _DOWN:
        return StoreUnavailable(f"the checkpoints in {path} cannot be used: {error}; check the disk and the rights")
    return StoreRejected(f"SQLite refused a request to {path}: {error}")
