"""What only the embedded store promises: crash safety, one process, flushing off the caller's path."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_langgraph.backends.edge_shard import EdgeShard, edge_errors
from hindsight_langgraph.backends.flusher import Flusher
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.errors import StoreClosed, StoreCorrupt, StoreLocked, StoreRejected, StoreUnavailable
from hindsight_langgraph.ops import CountUnits, DeleteUnits, FetchUnits, Probe, PutUnits, ReviseUnits, ScanUnits, SearchUnits
from hindsight_langgraph.records import Region
from tests.contracts.long_term import SPACE, indexed, make_unit, of, unit_id
from tests.servers import PATIENCE_S, comes_true

WRITER = """
import sys
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.ops import PutUnits, ReviseUnits
from tests.contracts.long_term import SPACE, indexed, make_unit
store = EdgeLongTermStore(sys.argv[1], SPACE, flush_after_s=float(sys.argv[2]))
for number in range(100_000):
    store.run(PutUnits(units=(indexed(number),)))
    assert store.run(ReviseUnits(units=(make_unit(number, revision=1),))) == []
    print(number, flush=True)
"""


ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def writer(path: Path, flush_after_s: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(flush_after_s)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    )


@pytest.mark.parametrize("flush_after_s", [0.01, 3600.0], ids=["flushing", "never flushed"])
def test_nothing_acknowledged_is_lost_when_the_writing_process_is_killed(tmp_path: Path, flush_after_s: float) -> None:
    with writer(tmp_path, flush_after_s) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(60)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in process.stdout.read().split("\n")[:-1]]
    store = EdgeLongTermStore(tmp_path, SPACE)
    ids = tuple(unit_id(number) for number in acknowledged)
    found = store.run(FetchUnits(where=of(ids=ids)))
    page = store.run(ScanUnits(where=of(ids=ids), limit=len(ids), with_vectors=True))
    store.close()
    assert [(unit.id, unit.revision) for unit in found] == [(each, 1) for each in ids]
    assert all(each.dense is not None for each in page.units)


def test_another_process_is_told_who_has_the_store_and_what_to_do(tmp_path: Path) -> None:
    with writer(tmp_path, 1.0) as process:
        assert process.stdout is not None
        process.stdout.readline()
        store = EdgeLongTermStore(tmp_path, SPACE)
        with pytest.raises(StoreLocked, match=r"another process.*HINDSIGHT_QDRANT_URL"):
            store.run(CountUnits(where=of()))
        process.kill()
    assert store.run(CountUnits(where=of()))[""] >= 1
    store.close()


def test_a_second_store_of_the_same_process_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    first, second = EdgeLongTermStore(tmp_path, SPACE), EdgeLongTermStore(tmp_path, SPACE)
    first.run(PutUnits(units=(indexed(1),)))
    with pytest.raises(StoreLocked):
        second.run(CountUnits(where=of()))
    assert first.run(CountUnits(where=of())) == {"": 1}
    first.close()
    second.close()


FORKING = """
import os, sys
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.errors import StoreLocked
from hindsight_langgraph.ops import CountUnits, PutUnits
from tests.contracts.long_term import SPACE, indexed, of
store = EdgeLongTermStore(sys.argv[1], SPACE, flush_after_s=3600.0)
if sys.argv[2] == "True":
    store.run(PutUnits(units=(indexed(1),)))
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
try:
    print(store.run(CountUnits(where=of())), flush=True)
except StoreLocked as error:
    print(error, flush=True)
store.close()
os._exit(0)
"""


@pytest.mark.parametrize("opened", [True, False])
def test_a_forked_process_may_open_the_store_but_not_inherit_an_open_one(tmp_path: Path, opened: bool) -> None:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        FORKING,
        str(tmp_path),
        str(opened),
    ]  # no other thread of this process is forked
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True, env=ENVIRONMENT)
    of_child, of_parent = done.stdout.splitlines()
    assert ("after the fork" in of_child) if opened else (of_child == "{'': 0}")
    assert of_parent == str({"": int(opened)})


def test_nothing_is_opened_before_the_first_request(tmp_path: Path) -> None:
    store = EdgeLongTermStore(tmp_path / "store", SPACE)
    assert not (tmp_path / "store").exists()
    store.run(CountUnits(where=of()))
    assert (tmp_path / "store").is_dir()
    store.close()


def test_a_store_that_was_not_closed_does_not_keep_its_process_from_ending(tmp_path: Path) -> None:
    code = WRITER.replace("range(100_000)", "range(3)")
    command = [sys.executable, "-c", code, str(tmp_path), "3600"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=ENVIRONMENT)
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (0, ["0", "1", "2"], "")
    store = EdgeLongTermStore(tmp_path, SPACE)
    assert store.run(CountUnits(where=of())) == {"": 3}
    store.close()


def test_a_half_made_store_is_made_anew(tmp_path: Path) -> None:
    store = EdgeLongTermStore(tmp_path, SPACE)
    store.run(CountUnits(where=of()))
    store.close()
    [made] = list(tmp_path.iterdir())
    left = tmp_path / ".new-left-by-a-crash"
    made.rename(left)
    (left / "edge_config.json").unlink()
    store = EdgeLongTermStore(tmp_path, SPACE)
    store.run(PutUnits(units=(indexed(1),)))
    assert store.run(CountUnits(where=of())) == {"": 1}
    assert store.stale_spaces == ()
    store.close()


def test_unreadable_files_are_reported_as_such(tmp_path: Path) -> None:
    store = EdgeLongTermStore(tmp_path, SPACE)
    store.run(PutUnits(units=(indexed(1),)))
    store.close()
    for config in tmp_path.rglob("edge_config.json"):
        config.write_text("{not json")
    with pytest.raises(StoreCorrupt, match="opening"):
        EdgeLongTermStore(tmp_path, SPACE).run(CountUnits(where=of()))


def test_a_path_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="directory"):
        EdgeLongTermStore(tmp_path / "file", SPACE).run(CountUnits(where=of()))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Service runtime error: failed to open WAL: Can't init WAL: Kind(WouldBlock)", StoreLocked),
        ("Vector dimension error: expected dim: 4, got 2", StoreRejected),
        ("Service runtime error: No space left on device (os error 28)", StoreUnavailable),
        ("something nobody has seen yet", StoreUnavailable),
    ],
)
def test_what_the_engine_says_becomes_an_error_of_ours(said: str, expected: type[Exception]) -> None:
    with pytest.raises(expected), edge_errors("writing"):
        raise Exception(said)


def test_a_panic_of_the_engine_is_an_error_that_handlers_see() -> None:
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(StoreCorrupt, match="gave up"), edge_errors("reading"):
        raise panic("index out of bounds")


def test_an_interrupt_passes_unchanged() -> None:
    with pytest.raises(KeyboardInterrupt), edge_errors("reading"):
        raise KeyboardInterrupt


def test_closing_compacts_a_store_of_which_much_was_deleted_and_keeps_the_rest(tmp_path: Path) -> None:
    store = EdgeLongTermStore(tmp_path, SPACE)
    store.run(PutUnits(units=tuple(indexed(n) for n in range(2_000))))
    assert not store.compact()
    store.run(DeleteUnits(where=of(ids=tuple(unit_id(n) for n in range(1_000)))))
    assert store.compact()
    assert not store.compact()
    store.close()
    store = EdgeLongTermStore(tmp_path, SPACE)
    assert store.run(CountUnits(where=of())) == {"": 1_000}
    assert store.run(FetchUnits(where=of(ids=(unit_id(1_500),)))) == [make_unit(1_500)]
    store.close()
    with pytest.raises(StoreClosed):
        store.compact()


@pytest.fixture
def shared_store(tmp_path: Path) -> Iterator[EdgeLongTermStore]:
    store = EdgeLongTermStore(tmp_path, SPACE)
    yield store
    store.close()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["put", "revise", "delete all", "delete one"]), st.integers(0, 5), st.integers(0, 3)),
        max_size=12,
    )
)
def test_a_search_after_any_writes_finds_what_is_stored(
    shared_store: EdgeLongTermStore, steps: list[tuple[str, int, int]]
) -> None:
    """Whatever a search remembers of the ones before it, each write is seen by the next."""
    store = shared_store
    everything = SearchUnits(probes=(Probe(where=of(), limit=50, dense=indexed(0).dense),))
    store.run(DeleteUnits(where=of()))
    store.run(PutUnits(units=tuple(indexed(number) for number in range(6))))
    for action, number, revision in steps:
        if action == "put":
            store.run(PutUnits(units=(indexed(number, content=f"put at {revision}"),)))
        elif action == "revise":
            store.run(ReviseUnits(units=(make_unit(number, revision=revision, content=f"revised to {revision}"),)))
        else:
            store.run(DeleteUnits(where=of(ids=(unit_id(number),)) if action == "delete one" else of(regions=(Region.SEMANTIC,))))
        (hits,) = store.run(everything)
        stored = store.run(ScanUnits(where=of(), limit=50)).units
        assert {hit.unit.id: hit.unit for hit in hits} == {each.unit.id: each.unit for each in stored}


async def test_a_durable_store_has_flushed_what_it_acknowledges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    flush = EdgeShard.flush

    def watched(shard: EdgeShard) -> None:
        flushed.append(threading.current_thread().name)
        flush(shard)

    monkeypatch.setattr(EdgeShard, "flush", watched)
    store = EdgeLongTermStore(tmp_path, SPACE, durable=True)
    await store.arun(PutUnits(units=(indexed(1),)))
    assert len(flushed) == 1
    assert "MainThread" not in flushed
    store.run(ReviseUnits(units=(make_unit(1, revision=1),)))
    assert len(flushed) == 2
    store.run(CountUnits(where=of()))
    assert len(flushed) == 2
    await store.aclose()


def test_writes_are_flushed_after_a_while_by_a_thread_that_then_ends() -> None:
    flushed = threading.Event()
    flusher = Flusher(flushed.set, after_s=0.01, after_writes=500)
    flusher.note_write()
    assert flushed.wait(PATIENCE_S)
    assert comes_true(lambda: not any(thread.name == "hindsight-flush" for thread in threading.enumerate()))
    flushed.clear()
    flusher.note_write()
    assert flushed.wait(PATIENCE_S)
    flusher.stop()


def test_many_writes_are_flushed_without_waiting() -> None:
    flushed = threading.Event()
    flusher = Flusher(flushed.set, after_s=3600.0, after_writes=5)
    for _ in range(5):
        flusher.note_write()
    assert flushed.wait(PATIENCE_S)
    flusher.stop()
    flusher.stop()


def test_a_flush_that_fails_is_logged_and_tried_again_after_the_next_write(caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()
    failures = [StoreUnavailable("No space left")]

    def flush() -> None:
        if failures:
            raise failures.pop()
        done.set()

    flusher = Flusher(flush, after_s=0.01, after_writes=500)
    flusher.note_write()
    assert comes_true(lambda: "No space left" in caplog.text)
    flusher.note_write()
    assert done.wait(PATIENCE_S)
    flusher.stop()


def test_the_engine_is_imported_by_the_first_request_only() -> None:
    code = (
        "import sys, hindsight_langgraph.backends.qdrant_edge, hindsight_langgraph.backends.qdrant_server; "
        "print([name for name in ('qdrant_edge', 'qdrant_client') if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True, env=ENVIRONMENT)
    assert ended.stdout.strip() == "[]"


async def test_the_loop_goes_on_while_the_store_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = threading.Event()
    opened = EdgeShard.__init__

    def slow(self: EdgeShard, *args: object) -> None:
        assert opening.wait(PATIENCE_S)
        opened(self, *args)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(EdgeShard, "__init__", slow)
    store = EdgeLongTermStore(tmp_path, SPACE)
    request = asyncio.ensure_future(store.arun(CountUnits(where=of())))
    await asyncio.sleep(0.01)
    opening.set()
    assert await request == {"": 0}
    await store.aclose()
