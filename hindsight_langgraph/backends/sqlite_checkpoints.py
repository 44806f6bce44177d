"""Checkpoints in one SQLite file, in WAL mode."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hindsight_langgraph.backends.sqlite_checkpoint_schema import SCHEMA, TABLES, mapped_errors
from hindsight_langgraph.backends.sqlite_schema import use_wal
from hindsight_langgraph.checkpoint_lists import DIGEST_BYTES, resolve
from hindsight_langgraph.checkpoint_ops import (
    Address,
    CheckpointOp,
    CheckpointRow,
    DeleteThread,
    Found,
    ListThreads,
    Objects,
    PutCheckpoint,
    PutWrites,
    ReadChain,
    ReadCheckpoint,
    ReadObjects,
    ReadPage,
    ReadThread,
    ReadWrites,
    Sweep,
    ThreadContent,
    WriteRow,
    WriteThread,
)
from hindsight_langgraph.errors import StoreClosed

Reply = TypeVar("Reply")
_ROW = "ns, id, parent, run_id, body"
_PAGE = 500
"""Parameters of one statement; SQLite allows at least 999."""


class SqliteCheckpoints:
    """A checkpoint store in `path`; several processes may use the file at once.

    Args:
        path: The file; it and its directory are made when missing.
        durable: True waits for the disk at each commit, often several ms. False survives a killed process; a power cut may take
            the last commits, and never leaves a broken file.
        timeout_s: How long to wait for another process to finish writing.
        now: Unix time, for time to live.
    """

    def __init__(
        self, path: Path | str, *, durable: bool = False, timeout_s: float = 5.0, now: Callable[[], float] = time.time
    ) -> None:
        self._path = Path(path)
        self._durable = durable
        self._timeout_s = timeout_s
        self._now = now
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._answers: Mapping[type[CheckpointOp[Any]], Callable[[sqlite3.Connection, Any], Any]] = {
            PutCheckpoint: self._put,
            PutWrites: self._put_writes,
            ReadCheckpoint: self._read,
            ReadObjects: _read_objects,
            ReadPage: self._page,
            ReadWrites: self._writes,
            ReadChain: self._chain,
            ListThreads: self._threads,
            DeleteThread: _delete_thread,
            ReadThread: self._content,
            WriteThread: self._write_thread,
            Sweep: _sweep,
        }

    def run(self, op: CheckpointOp[Reply]) -> Reply:
        """Answer one request in one transaction."""
        answer = self._answers[type(op)]
        with self._lock, mapped_errors(self._path):
            connection = self._open()
            if isinstance(op, (ReadObjects, ReadPage, ReadWrites, ReadChain, ReadThread)):
                with _transaction(connection, "BEGIN"):
                    reply: Reply = answer(connection, op)
            elif isinstance(op, ReadCheckpoint) and op.ttl_s is None:
                with _transaction(connection, "BEGIN"):
                    reply = answer(connection, op)
            else:
                with _transaction(connection, "BEGIN IMMEDIATE"):
                    reply = answer(connection, op)
            return reply

    async def arun(self, op: CheckpointOp[Reply]) -> Reply:
        """Answer one request in a worker thread, so that the running loop never waits for the disk."""
        return await asyncio.to_thread(self.run, op)

    def close(self) -> None:
        """Close the file; later requests raise `StoreClosed`."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    async def aclose(self) -> None:
        """As `close`."""
        await asyncio.to_thread(self.close)

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreClosed(f"the checkpoints in {self._path} were used after close(); open a new saver")
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=self._timeout_s, isolation_level=None, check_same_thread=False)
            try:
                use_wal(connection, timeout_s=self._timeout_s)
                connection.execute(f"PRAGMA synchronous={'FULL' if self._durable else 'NORMAL'}")
                with _transaction(connection, "BEGIN IMMEDIATE"):
                    for statement in SCHEMA:
                        connection.execute(statement)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    # --- writing

    def _put(self, connection: sqlite3.Connection, op: PutCheckpoint) -> bool:
        thread = self._thread(connection, op.thread)
        if op.needs and (thread is None or not _has_objects(connection, thread, op.needs)):
            return False
        thread = self._written(connection, op.thread, thread, op.ttl_s)
        _add_objects(connection, thread, op.objects)
        _add_rows(connection, thread, (op.row,))
        return True

    def _put_writes(self, connection: sqlite3.Connection, op: PutWrites) -> None:
        thread = self._written(connection, op.thread, self._thread(connection, op.thread), op.ttl_s)
        _add_objects(connection, thread, op.objects)
        _add_writes(connection, thread, (op.ns, op.checkpoint_id), op.writes)

    def _write_thread(self, connection: sqlite3.Connection, op: WriteThread) -> None:
        thread = self._written(connection, op.thread, self._thread(connection, op.thread), op.ttl_s)
        _add_objects(connection, thread, {**op.content.values, **op.content.nodes})
        for address, writes in op.content.writes.items():
            _add_writes(connection, thread, address, writes)
        _add_rows(connection, thread, op.content.rows)

    def _written(self, connection: sqlite3.Connection, name: str, thread: int | None, ttl_s: float | None) -> int:
        """Note a write to a thread, made when missing; what outlived its time is removed on the way."""
        for (outlived,) in connection.execute("SELECT thread FROM threads WHERE expires <= ?", (self._now(),)).fetchall():
            _delete_thread(connection, DeleteThread(thread=outlived))
        expires = None if ttl_s is None else self._now() + ttl_s
        if thread is None:
            # Revisions start anywhere: a thread that was deleted and made again must not look unchanged to a sweep.
            made = connection.execute(
                "INSERT INTO threads (thread, revision, expires) VALUES (?, abs(random() % 1000000000000), ?)", (name, expires)
            )
            return int(made.lastrowid or 0)
        connection.execute("UPDATE threads SET revision = revision + 1, expires = ? WHERE no = ?", (expires, thread))
        return thread

    # --- reading

    def _thread(self, connection: sqlite3.Connection, name: str) -> int | None:
        found = connection.execute("SELECT no, expires FROM threads WHERE thread = ?", (name,)).fetchone()
        if found is None or (found[1] is not None and found[1] <= self._now()):
            return None
        return int(found[0])

    def _read(self, connection: sqlite3.Connection, op: ReadCheckpoint) -> Found | None:
        thread = self._thread(connection, op.thread)
        if thread is None:
            return None
        if op.ttl_s is not None:
            connection.execute("UPDATE threads SET expires = ? WHERE no = ?", (self._now() + op.ttl_s, thread))
        where, given = ("AND id = ?", (op.id,)) if op.id is not None else ("ORDER BY id DESC LIMIT 1", ())
        found = connection.execute(
            f"SELECT {_ROW} FROM checkpoints WHERE thread = ? AND ns = ? {where}",  # noqa: S608 — constants of this module
            (thread, op.ns, *given),
        ).fetchone()
        if found is None:
            return None
        row = _row(found)
        return Found(row=row, writes=_writes_of(connection, thread, (row.ns, row.id)))

    def _page(self, connection: sqlite3.Connection, op: ReadPage) -> list[CheckpointRow]:
        thread = self._thread(connection, op.thread)
        conditions, given = ["thread = ?"], [thread]
        for condition, values in (
            ("ns = ?", (op.ns,) if op.ns is not None else ()),
            ("id < ?", (op.before,) if op.before is not None else ()),
            ("(id < ? OR id = ? AND ns > ?)", (op.after[1], op.after[1], op.after[0]) if op.after else ()),
        ):
            if values:
                conditions.append(condition)
                given.extend(values)  # type: ignore[arg-type]  # parameters of any type
        found = connection.execute(
            f"SELECT {_ROW} FROM checkpoints WHERE {' AND '.join(conditions)} ORDER BY id DESC, ns LIMIT ?",  # noqa: S608 — constants
            (*given, op.limit),
        )
        return [_row(row) for row in found]

    def _writes(self, connection: sqlite3.Connection, op: ReadWrites) -> list[tuple[WriteRow, ...]]:
        thread = self._thread(connection, op.thread)
        return [_writes_of(connection, thread, address) for address in op.addresses]

    def _chain(self, connection: sqlite3.Connection, op: ReadChain) -> list[Found]:
        thread = self._thread(connection, op.thread)
        chain: list[Found] = []
        seen: set[str] = set()
        wanted = op.id
        while wanted and wanted not in seen and len(chain) < op.limit:
            seen.add(wanted)
            found = connection.execute(
                f"SELECT {_ROW} FROM checkpoints WHERE thread = ? AND ns = ? AND id = ?",  # noqa: S608 — constants
                (thread, op.ns, wanted),
            ).fetchone()
            if found is None:
                break
            row = _row(found)
            chain.append(Found(row=row, writes=_writes_of(connection, thread, (row.ns, row.id))))
            wanted = row.parent
        return chain

    def _threads(self, connection: sqlite3.Connection, op: ListThreads) -> list[str]:
        if op.run_ids is None:
            found = connection.execute(
                "SELECT thread FROM threads t WHERE (expires IS NULL OR expires > ?)"
                " AND EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread = t.no) ORDER BY thread",
                (self._now(),),
            )
            return [str(name) for (name,) in found]
        names: set[str] = set()
        for run_id in op.run_ids:
            found = connection.execute(
                "SELECT DISTINCT t.thread FROM checkpoints c JOIN threads t ON t.no = c.thread"
                " WHERE c.run_id = ? AND c.run_id <> ''",
                (run_id,),
            )
            names.update(str(name) for (name,) in found)
        return sorted(names)

    def _content(self, connection: sqlite3.Connection, op: ReadThread) -> ThreadContent:
        thread = self._thread(connection, op.thread)
        revision = connection.execute("SELECT revision FROM threads WHERE no = ?", (thread,)).fetchone()
        rows = connection.execute(f"SELECT {_ROW} FROM checkpoints WHERE thread = ? ORDER BY ns, id", (thread,))  # noqa: S608 — constants
        writes: dict[Address, list[WriteRow]] = {}
        for ns, checkpoint_id, *write in connection.execute(
            "SELECT ns, checkpoint_id, task_id, idx, body FROM writes WHERE thread = ?", (thread,)
        ):
            writes.setdefault((ns, checkpoint_id), []).append(WriteRow(task_id=write[0], idx=write[1], body=write[2]))
        keys = frozenset(key for (key,) in connection.execute("SELECT key FROM objects WHERE thread = ?", (thread,)))
        body = "SELECT key, body FROM objects WHERE thread = ? AND substr(key, 1, 1) = ?"
        return ThreadContent(
            revision=revision[0] if revision else 0,
            rows=tuple(_row(row) for row in rows),
            writes={address: tuple(rows) for address, rows in writes.items()},
            keys=keys,
            nodes=dict(connection.execute(body, (thread, b"l"))),
            values=dict(connection.execute(body, (thread, b"v"))) if op.with_values else {},
        )


def _row(found: Sequence[Any]) -> CheckpointRow:
    ns, checkpoint_id, parent, run_id, body = found
    return CheckpointRow(ns=ns, id=checkpoint_id, parent=parent, run_id=run_id, body=body)


def _writes_of(connection: sqlite3.Connection, thread: int | None, address: Address) -> tuple[WriteRow, ...]:
    found = connection.execute(
        "SELECT task_id, idx, body FROM writes WHERE thread = ? AND ns = ? AND checkpoint_id = ?", (thread, *address)
    )
    return tuple(WriteRow(task_id=task_id, idx=idx, body=body) for task_id, idx, body in found)


def _add_rows(connection: sqlite3.Connection, thread: int, rows: Iterable[CheckpointRow]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO checkpoints (thread, ns, id, parent, run_id, body) VALUES (?, ?, ?, ?, ?, ?)",
        [(thread, row.ns, row.id, row.parent, row.run_id, row.body) for row in rows],
    )


def _add_writes(connection: sqlite3.Connection, thread: int, address: Address, writes: Iterable[WriteRow]) -> None:
    for write in writes:
        insert = "INSERT OR REPLACE" if write.idx < 0 else "INSERT OR IGNORE"
        connection.execute(
            f"{insert} INTO writes VALUES (?, ?, ?, ?, ?, ?)",
            (thread, *address, write.task_id, write.idx, write.body),
        )


def _add_objects(connection: sqlite3.Connection, thread: int, objects: Mapping[bytes, bytes], how: str = "IGNORE") -> None:
    connection.executemany(
        f"INSERT OR {how} INTO objects (thread, key, body) VALUES (?, ?, ?)",  # noqa: S608 — one of two constants
        [(thread, key, body) for key, body in objects.items()],
    )


def _has_objects(connection: sqlite3.Connection, thread: int, keys: Sequence[bytes]) -> bool:
    exists = "SELECT 1 FROM objects WHERE thread = ? AND key = ?"
    return all(connection.execute(exists, (thread, key)).fetchone() for key in keys)


def _read_objects(connection: sqlite3.Connection, op: ReadObjects) -> Objects:
    found = connection.execute("SELECT no FROM threads WHERE thread = ?", (op.thread,)).fetchone()
    if found is None:
        return Objects()
    thread = found[0]

    def node(digest: bytes) -> bytes | None:
        stored = connection.execute("SELECT body FROM objects WHERE thread = ? AND key = ?", (thread, b"l" + digest)).fetchone()
        return None if stored is None else bytes(stored[0])

    lists: dict[bytes, tuple[bytes, int]] = {}
    wanted = dict.fromkeys(key for key in op.keys if key[:1] == b"v")
    for key in op.keys:
        if key[:1] == b"l" and node(key[1:]) is not None:
            lists[key] = resolve(key[1:], node)
            refs = lists[key][0]
            wanted.update(dict.fromkeys(b"v" + refs[at : at + DIGEST_BYTES] for at in range(0, len(refs), DIGEST_BYTES)))
    return Objects(values=dict(_bodies(connection, thread, list(wanted))), lists=lists)


def _bodies(connection: sqlite3.Connection, thread: int, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for at in range(0, len(keys), _PAGE):
        some = keys[at : at + _PAGE]
        marks = ",".join("?" * len(some))
        yield from connection.execute(
            f"SELECT key, body FROM objects WHERE thread = ? AND key IN ({marks})",  # noqa: S608 — question marks
            (thread, *some),
        )


def _delete_thread(connection: sqlite3.Connection, op: DeleteThread) -> None:
    found = connection.execute("SELECT no FROM threads WHERE thread = ?", (op.thread,)).fetchone()
    if found is not None:
        for table in TABLES:
            connection.execute(f"DELETE FROM {table} WHERE thread = ?", found)  # noqa: S608 — a constant
        connection.execute("DELETE FROM threads WHERE no = ?", found)


def _sweep(connection: sqlite3.Connection, op: Sweep) -> bool:
    found = connection.execute("SELECT no, revision FROM threads WHERE thread = ?", (op.thread,)).fetchone()
    if found is None or found[1] != op.revision:
        return False
    thread = found[0]
    connection.executemany(
        "DELETE FROM checkpoints WHERE thread = ? AND ns = ? AND id = ?", [(thread, *address) for address in op.drop_rows]
    )
    connection.executemany(
        "DELETE FROM writes WHERE thread = ? AND ns = ? AND checkpoint_id = ?", [(thread, *address) for address in op.drop_writes]
    )
    _add_objects(connection, thread, op.put_objects, how="REPLACE")
    connection.executemany("DELETE FROM objects WHERE thread = ? AND key = ?", [(thread, key) for key in op.drop_objects])
    connection.execute("UPDATE threads SET revision = revision + 1 WHERE no = ?", (thread,))
    return True


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Generator[None]:
    connection.execute(begin)
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
