"""What only the embedded working store does: one file, several processes, an injected clock."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindsight_langgraph.backends.sqlite_schema import VERSION
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.errors import StoreCorrupt, StoreRejected, StoreUnavailable
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import (
    AddCount,
    AppendLog,
    ClaimDue,
    DeleteKeys,
    ListKeys,
    LogEntry,
    PeekDue,
    ReadFields,
    ReadLog,
    WriteFields,
)
from tests.clock import NOON, FakeClock

TASK = Key(owner="u1", kind=KeyKind.WORKING, name="t1")
LOG = Key(owner="u1", kind=KeyKind.SESSION, name="s1")
COUNT = AddCount(key=TASK, name="n")
VERSIONS = Path(__file__).parent.parent / "data"

# A process of its own: opens the store, says so, adds as often as told, telling each acknowledged value.
COUNTER = """
import sys
from pathlib import Path
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import AddCount
from tests.clock import FakeClock
store = SqliteWorkingStore(Path(sys.argv[1]), timeout_s=300, clock=FakeClock())
for _ in range(int(sys.argv[2])):
    print(store.run(AddCount(key=Key(owner="u1", kind=KeyKind.WORKING, name="t1"), name="n")), flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "working.sqlite"


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[SqliteWorkingStore]:
    opened = SqliteWorkingStore(path, timeout_s=60, clock=clock)
    yield opened
    opened.close()


def counting(path: Path, times: int) -> subprocess.Popen[str]:
    root = str(Path(__file__).parent.parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", COUNTER, str(path), str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


# --- expiry ---


def test_a_key_lives_to_the_microsecond_by_the_clock_that_was_given(store: SqliteWorkingStore, clock: FakeClock):
    store.run(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=60))
    store.run(AppendLog(key=LOG, entries=(LogEntry(id="e", at=NOON, body=b""),), ttl_s=60))
    clock.advance(seconds=59.999999)
    assert store.run(ReadFields(key=TASK)) == {"a": b"1"}
    assert len(store.run(ReadLog(key=LOG))) == 1
    clock.advance(seconds=0.000001)
    assert store.run(ReadFields(key=TASK)) == {}
    assert store.run(ReadLog(key=LOG)) == []


def test_expired_keys_leave_the_file_as_others_are_written(store: SqliteWorkingStore, clock: FakeClock, path: Path):
    for number in range(100):
        store.run(WriteFields(key=Key(owner=f"u{number}", kind=KeyKind.WORKING, name="t"), fields={"a": b"1"}, ttl_s=60))
    clock.advance(seconds=60)
    for _ in range(4):
        store.run(COUNT)
    with contextlib.closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT count(*) FROM keys").fetchone() == (1,)
        assert raw.execute("SELECT count(*) FROM fields").fetchone() == (1,)


# --- processes ---


def test_processes_that_open_a_new_file_at_once_lose_no_addition(store: SqliteWorkingStore, path: Path):
    workers = [counting(path, 50) for _ in range(4)]
    outputs = [worker.communicate()[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    assert sorted(int(line) for output in outputs for line in output.split()) == list(range(1, 201))
    assert store.run(COUNT) == 201


def test_a_killed_writer_loses_nothing_that_was_acknowledged(store: SqliteWorkingStore, path: Path):
    for _ in range(3):
        with counting(path, 1_000_000) as worker:
            assert worker.stdout is not None
            told = [worker.stdout.readline() for _ in range(200)][-1]
            worker.send_signal(signal.SIGKILL)
            rest = worker.stdout.read().split("\n")
        acknowledged = int(([told.strip()] + [line for line in rest[:-1] if line])[-1])
        # The one addition that was on its way may or may not be in.
        assert acknowledged <= int(store.run(ReadFields(key=TASK))["n"]) <= acknowledged + 1


def test_a_file_that_another_process_writes_is_waited_for_no_longer_than_the_timeout(path: Path, clock: FakeClock):
    store = SqliteWorkingStore(path, timeout_s=0.1, clock=clock)
    store.run(COUNT)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            store.run(COUNT)
        assert store.run(ReadFields(key=TASK)) == {"n": b"1"}
        other.execute("ROLLBACK")
    assert store.run(COUNT) == 2
    store.close()


def test_a_loop_goes_on_while_the_file_is_locked(path: Path, clock: FakeClock):
    store = SqliteWorkingStore(path, timeout_s=60, clock=clock)
    store.run(COUNT)

    async def main() -> int:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(store.arun(COUNT))
            for _ in range(20):
                await asyncio.sleep(0.001)
            assert not waiting.done()
            other.execute("ROLLBACK")
            return await waiting

    # A blocked loop could never release the lock that the call waits for.
    assert asyncio.run(main()) == 2
    store.close()


def test_other_threads_are_waited_for_no_longer_than_the_timeout(path: Path, clock: FakeClock):
    store = SqliteWorkingStore(path, timeout_s=0.05, clock=clock)
    with store._lock, pytest.raises(StoreUnavailable, match="other threads"):
        store.run(COUNT)
    assert store.run(COUNT) == 1
    store.close()


def test_a_forked_child_uses_a_connection_of_its_own(path: Path):
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore\n"
        "from hindsight_langgraph.keys import Key, KeyKind\n"
        "from hindsight_langgraph.ops import AddCount\n"
        "from tests.clock import FakeClock\n"
        "store = SqliteWorkingStore(Path(sys.argv[1]), timeout_s=60, clock=FakeClock())\n"
        "count = AddCount(key=Key(owner='u1', kind=KeyKind.WORKING, name='t1'), name='n')\n"
        "store.run(count)\n"
        "store._lock.acquire()  # another thread of the parent is at work\n"
        "child = os.fork()\n"
        "if child: store._lock.release()\n"
        "for _ in range(50): store.run(count)\n"
        "if child == 0: store.close(); os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "print(store.run(count))\n"
    )
    root = str(Path(__file__).parent.parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.stdout == "102\n"


# --- the file ---


def test_the_file_and_its_directory_are_made_at_the_first_request(tmp_path: Path, clock: FakeClock):
    path = tmp_path / "a" / "b" / "working.sqlite"
    store = SqliteWorkingStore(path, timeout_s=1, clock=clock)
    assert not path.parent.exists()
    store.run(COUNT)
    assert path.exists()
    store.close()
    assert [each.name for each in path.parent.iterdir()] == ["working.sqlite"]


def test_what_was_erased_is_in_no_file(store: SqliteWorkingStore, path: Path):
    secret = b"Pl4ce-holder-77"
    for number in range(50):
        store.run(WriteFields(key=Key(owner="u1", kind=KeyKind.WORKING, name=f"t{number}"), fields={"a": secret * 20}))
    store.run(AppendLog(key=LOG, entries=(LogEntry(id="e", at=NOON, body=secret),)))
    assert any(secret in each.read_bytes() for each in path.parent.iterdir())
    store.run(DeleteKeys(owner="u1"))
    assert not any(secret in each.read_bytes() for each in path.parent.iterdir())


def test_a_file_that_is_no_database_is_corrupt_and_left_as_it_is(store: SqliteWorkingStore, path: Path):
    path.write_bytes(b"my notes, not a database" * 100)
    for _ in range(2):
        with pytest.raises(StoreCorrupt, match=r"working\.sqlite"):
            store.run(COUNT)
    assert path.read_bytes() == b"my notes, not a database" * 100


def test_a_file_of_a_newer_library_is_refused_and_left_as_it_is(store: SqliteWorkingStore, path: Path):
    with contextlib.closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreCorrupt, match="upgrade"):
        store.run(COUNT)
    with contextlib.closing(sqlite3.connect(path)) as newer:
        assert newer.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)
        assert newer.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(store: SqliteWorkingStore, path: Path):
    with contextlib.closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TABLE entries (mine TEXT)")
    with pytest.raises(StoreRejected, match="entries"):
        store.run(COUNT)
    with contextlib.closing(sqlite3.connect(path)) as foreign:
        assert foreign.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("entries",)]


def test_a_key_of_a_kind_that_only_a_newer_library_knows_is_said_to_be_so(store: SqliteWorkingStore, path: Path):
    store.run(COUNT)
    with contextlib.closing(sqlite3.connect(path)) as newer, newer:
        newer.execute("UPDATE keys SET kind = 'dreams'")
    with pytest.raises(StoreCorrupt, match=r"dreams.*upgrade"):
        store.run(ListKeys(owner="u1"))
    assert store.run(DeleteKeys(owner="u1")) == 1


def test_a_path_that_cannot_be_opened_is_unavailable(tmp_path: Path, clock: FakeClock):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "working.sqlite"):
        with pytest.raises(StoreUnavailable, match="permissions"):
            SqliteWorkingStore(path, timeout_s=1, clock=clock).run(COUNT)


def test_a_request_that_fails_half_way_changes_nothing(store: SqliteWorkingStore):
    store.run(COUNT)
    with pytest.raises(StoreRejected):
        store.run(WriteFields(key=TASK, fields={"small": b"1", "n\ud800": b""}))
    assert store.run(ReadFields(key=TASK)) == {"n": b"1"}


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_a_file_of_every_version_is_read(store: SqliteWorkingStore, path: Path, version: int):
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.executescript((VERSIONS / f"working_v{version}.sql").read_text(encoding="utf-8"))
    assert list(store.run(ReadFields(key=TASK)).items()) == [("goal", b"ship"), ("city", "罗马".encode())]
    assert store.run(ReadLog(key=LOG)) == [LogEntry(id="e1", at=NOON, body=b"said")]
    assert store.run(ListKeys(owner="u1")) == [LOG, TASK]
    assert store.run(PeekDue(queue="q")) == [("i", NOON)]
    (claim,) = store.run(ClaimDue(queue="q", now=NOON, lease_s=1))
    assert (claim.body, claim.attempts) == (b"why", 3)
