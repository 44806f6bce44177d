"""The tables of the embedded working store, with the steps that bring an older file up to date."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from hindsight_langgraph.errors import StoreCorrupt

_STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE keys (
            id INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, expires_us INTEGER,
            UNIQUE (owner, kind, name))""",
        "CREATE INDEX keys_by_expiry ON keys (expires_us) WHERE expires_us IS NOT NULL",
        """CREATE TABLE fields (
            key_id INTEGER NOT NULL REFERENCES keys ON DELETE CASCADE,
            name TEXT NOT NULL, written INTEGER NOT NULL, value BLOB NOT NULL,
            PRIMARY KEY (key_id, name)) WITHOUT ROWID""",
        """CREATE TABLE entries (
            key_id INTEGER NOT NULL REFERENCES keys ON DELETE CASCADE,
            id TEXT NOT NULL, at_us INTEGER NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (key_id, id)) WITHOUT ROWID""",
        "CREATE INDEX entries_by_time ON entries (key_id, at_us, id)",
        """CREATE TABLE due (
            queue TEXT NOT NULL, item TEXT NOT NULL, due_us INTEGER NOT NULL, body BLOB NOT NULL, token TEXT,
            attempts INTEGER NOT NULL,
            PRIMARY KEY (queue, item)) WITHOUT ROWID""",
        "CREATE INDEX due_by_time ON due (queue, due_us, item)",
    ),
)
"""Step n turns version n into n + 1; `PRAGMA user_version` holds the version. Add a step, never change one that was released."""

VERSION = len(_STEPS)
_WAL_POLL_S = 0.01


def connect(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Open the file, made when absent, at the newest version.

    Raises:
        StoreCorrupt: a newer library wrote the file.
        sqlite3.Error: it cannot be opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Threads take turns under the store's lock, so that sqlite3's own check of the thread is not needed.
    connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
    try:
        use_wal(connection, timeout_s=timeout_s)
        # Safe against a killed process; a power cut may cost the last writes, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        # What was erased is overwritten in the file (SPEC G8).
        connection.execute("PRAGMA secure_delete = ON")
        _upgrade(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def use_wal(connection: sqlite3.Connection, *, timeout_s: float) -> None:
    """Switch to the write-ahead log; SQLite does not wait by itself when another process is switching too."""
    end = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_WAL_POLL_S)
        else:
            return


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    if _known_version(connection, path) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked once more: another process may have upgraded meanwhile.
        for step in _STEPS[_known_version(connection, path) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _known_version(connection: sqlite3.Connection, path: Path) -> int:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > VERSION:
        raise StoreCorrupt(f"{path} has schema version {found}, this library reads up to {VERSION}; upgrade langgraph-hindsight")
    return found
