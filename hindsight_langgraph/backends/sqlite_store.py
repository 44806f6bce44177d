"""The working store in one SQLite file, for embedded use (SPEC A3, A4).

One connection serves all threads in turn, under a lock. Connections of their own would let readers pass a writer, which gains
nothing at some 10 µs a read, and would leave one open in each worker thread that ends. Several processes may share the file.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from os import getpid
from pathlib import Path
from typing import TypeVar, cast

from hindsight_langgraph.backends.sqlite_ops import READS, Transaction
from hindsight_langgraph.backends.sqlite_schema import connect
from hindsight_langgraph.backends.working_values import to_micros
from hindsight_langgraph.errors import HindsightError, StoreClosed, StoreCorrupt, StoreRejected, StoreUnavailable
from hindsight_langgraph.ops import DeleteKeys, WorkingOp
from hindsight_langgraph.ports import Clock

Reply = TypeVar("Reply")

_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_AUTH,
}  # fmt: skip


class SqliteWorkingStore:
    """Answers every `WorkingOp` from the file at `path`, which is made at the first request.

    `timeout_s` bounds how long a request waits for other threads and processes. `clock` decides what is expired.
    """

    def __init__(self, path: Path | str, *, timeout_s: float, clock: Clock) -> None:
        self._path = Path(path)
        self._timeout_s = timeout_s
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._of_parents: list[sqlite3.Connection] = []
        self._pid = getpid()
        self._closed = False

    def run(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request, blocking for at most the timeout."""
        with self._turn() as left_s, mapped(self._path):
            connection = self._connected(left_s)
            with _transaction(connection, writes=not isinstance(op, READS)):
                transaction = Transaction(connection, now_us=to_micros(self._clock.now()))
                if not isinstance(op, READS):
                    transaction.purge()
                reply = transaction.answer(op)
            if isinstance(op, DeleteKeys):
                # The log still holds what was erased until it is written back; when another process reads, a later one does it.
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return cast("Reply", reply)

    async def arun(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request in a worker thread, so that a locked file never holds up the loop.

        A cancelled call is done whole or not at all: its thread finishes the transaction that it began.
        """
        return await asyncio.to_thread(self.run, op)

    def close(self) -> None:
        """Close the file when the request that is running is done; later requests raise `StoreClosed`."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
            if connection is not None and self._pid == getpid():
                connection.close()

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    @contextmanager
    def _turn(self) -> Generator[float, None, None]:
        """Wait for this thread's turn; gives the seconds that are left of the timeout."""
        end = time.monotonic() + self._timeout_s
        self._notice_fork()
        if not self._lock.acquire(timeout=self._timeout_s):
            raise StoreUnavailable(f"{self._path} was busy with other threads for {self._timeout_s} s; try again")
        try:
            if self._closed:
                raise StoreClosed(f"the working store {self._path} is closed; open a new one")
            yield max(end - time.monotonic(), 0.0)
        finally:
            self._lock.release()

    def _connected(self, left_s: float) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._path, timeout_s=left_s)
        self._connection.execute(f"PRAGMA busy_timeout = {round(left_s * 1000)}")
        return self._connection

    def _notice_fork(self) -> None:
        """Start anew in a forked child, where the connection must not be used, nor even closed, and the lock may be held."""
        if self._pid == getpid():
            return
        self._pid, self._lock = getpid(), threading.Lock()
        if self._connection is not None:
            self._of_parents.append(self._connection)
            self._connection = None


@contextmanager
def mapped(path: Path) -> Generator[None, None, None]:
    """Raise what SQLite raises as errors of this library."""
    try:
        yield
    except HindsightError:
        raise
    except sqlite3.Error as error:
        raise _as_ours(error, path) from error
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be opened: {error}; check the path and its permissions") from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise StoreRejected(f"{path} cannot keep a value of this request: {error}") from error


def _as_ours(error: sqlite3.Error, path: Path) -> HindsightError:
    # Errors that Python's binding raises itself carry no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
    if code in _CORRUPT:
        return StoreCorrupt(f"{path} cannot be read: {error}; restore it from a copy, or move it away to start empty")
    if code in _UNAVAILABLE:
        return StoreUnavailable(f"{path}: {error}; try again, and check the disk and its permissions")
    return StoreRejected(f"{path} refused the request: {error}")


@contextmanager
def _transaction(connection: sqlite3.Connection, *, writes: bool) -> Generator[None, None, None]:
    # A write takes the write lock at once: one that starts as a read fails without waiting when another process wrote meanwhile.
    connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
