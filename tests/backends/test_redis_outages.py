"""What a caller sees when Redis is down, slow, restarted, protected or of the wrong sort (CASES O20)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.backends.redis_store import RedisWorkingStore
from hindsight_langgraph.errors import ConfigError, HindsightError, StoreAuthError, StoreError, StoreRejected, StoreUnavailable
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import (
    AddCount,
    AppendLog,
    ClaimDue,
    DeleteKeys,
    ListKeys,
    LogEntry,
    ReadFields,
    SetDue,
    WorkingOp,
    WriteFields,
)
from tests.clock import NOON
from tests.servers import Cluster, Server, comes_true, redis_binary, reserved_port, running, running_cluster

TASK = Key(owner="u1", kind=KeyKind.WORKING, name="t1")
COUNT = AddCount(key=TASK, name="n")

Ask = Callable[[RedisWorkingStore, WorkingOp[Any]], Any]
Open = Callable[..., RedisWorkingStore]


@pytest.fixture
def open_store() -> Iterator[Open]:
    opened: list[RedisWorkingStore] = []

    def open_one(url: str, *, timeout_s: float = 60.0, cluster: bool = False) -> RedisWorkingStore:
        opened.append(RedisWorkingStore(url, prefix="test", timeout_s=timeout_s, cluster=cluster))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture(params=("sync", "async"))
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    if request.param == "sync":
        yield lambda store, op: store.run(op)
        return
    with asyncio.Runner() as runner:
        yield lambda store, op: runner.run(store.arun(op))


def test_a_server_that_is_not_there_is_unavailable(open_store: Open, ask: Ask):
    with reserved_port() as port:
        store = open_store(f"redis://:hush@127.0.0.1:{port}")
        with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}.*later") as caught:
            ask(store, COUNT)
    assert "hush" not in str(caught.value)


def test_a_server_that_accepts_and_never_answers_is_unavailable(stoppable_redis: Server, open_store: Open, ask: Ask):
    store = open_store(stoppable_redis.url, timeout_s=0.2)
    stoppable_redis.pause()
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            ask(store, COUNT)


def test_a_server_that_freezes_between_two_calls_is_unavailable_until_it_goes_on(
    stoppable_redis: Server, open_store: Open, ask: Ask
):
    store = open_store(stoppable_redis.url, timeout_s=0.5)
    assert patiently(ask, store, WriteFields(key=TASK, fields={"a": b"1"})) is None
    stoppable_redis.pause()
    with pytest.raises(StoreUnavailable):
        ask(store, ReadFields(key=TASK))
    stoppable_redis.resume()
    # Not the late reply of the call that gave up.
    assert patiently(ask, store, ListKeys(owner="u1")) == [TASK]
    assert patiently(ask, store, ReadFields(key=TASK)) == {"a": b"1"}


@pytest.mark.parametrize("end", [Server.stop, Server.kill])
def test_a_server_that_comes_back_is_used_again_with_all_it_acknowledged(
    stoppable_redis: Server, open_store: Open, ask: Ask, end: Callable[[Server], None]
):
    store = open_store(stoppable_redis.url)
    assert [ask(store, COUNT) for _ in range(3)] == [1, 2, 3]
    end(stoppable_redis)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            ask(store, COUNT)
    stoppable_redis.start()
    assert ask(store, COUNT) == 4


def test_a_restart_between_two_calls_is_not_noticed(stoppable_redis: Server, open_store: Open, ask: Ask):
    store = open_store(stoppable_redis.url)
    assert ask(store, COUNT) == 1
    stoppable_redis.stop()
    stoppable_redis.start()
    assert ask(store, COUNT) == 2


def test_a_dropped_connection_is_not_noticed(stoppable_redis: Server, open_store: Open, ask: Ask):
    store = open_store(stoppable_redis.url)
    assert ask(store, COUNT) == 1
    with stoppable_redis.client() as client:
        client.client_kill_filter(_type="normal", skipme=True)
    assert ask(store, COUNT) == 2


def test_scripts_that_the_server_forgot_are_sent_again(stoppable_redis: Server, open_store: Open, ask: Ask):
    store = open_store(stoppable_redis.url)
    assert ask(store, COUNT) == 1
    with stoppable_redis.client() as client:
        client.script_flush()
    assert ask(store, COUNT) == 2


def test_more_calls_at_once_than_connections_all_succeed(valkey: Server):
    store = RedisWorkingStore(valkey.url, prefix="test-many", timeout_s=60)

    async def main() -> list[int]:
        try:
            return await asyncio.gather(*(store.arun(COUNT) for _ in range(300)))
        finally:
            await store.aclose()

    assert sorted(asyncio.run(main())) == list(range(1, 301))


# --- refusals ---


def test_a_read_only_replica_is_unavailable(stoppable_redis: Server, open_store: Open, ask: Ask):
    with reserved_port() as port, stoppable_redis.client() as client:
        client.replicaof("127.0.0.1", str(port))
        with pytest.raises(StoreUnavailable):
            ask(open_store(stoppable_redis.url), COUNT)


def test_a_full_server_is_unavailable_and_still_deletes(stoppable_redis: Server, open_store: Open, ask: Ask):
    store = open_store(stoppable_redis.url)
    ask(store, WriteFields(key=TASK, fields={"a": b"1"}))
    with stoppable_redis.client() as client:
        client.config_set("maxmemory", 1)
    with pytest.raises(StoreUnavailable):
        ask(store, COUNT)
    assert ask(store, ReadFields(key=TASK)) == {"a": b"1"}


def test_a_server_that_may_not_write_without_its_replicas_is_unavailable(stoppable_redis: Server, open_store: Open, ask: Ask):
    store = open_store(stoppable_redis.url)
    ask(store, COUNT)
    with stoppable_redis.client() as client:
        client.config_set("min-replicas-to-write", 1)
    with pytest.raises(StoreUnavailable):
        ask(store, COUNT)


def test_a_missing_or_wrong_password_is_an_auth_error(stoppable_redis: Server, open_store: Open, ask: Ask):
    with stoppable_redis.client() as client:
        client.config_set("requirepass", "right")
    port = stoppable_redis.port
    for url in (stoppable_redis.url, f"redis://:wrong-one@127.0.0.1:{port}", f"redis://nobody:wrong-one@127.0.0.1:{port}"):
        with pytest.raises(StoreAuthError, match="password") as caught:
            ask(open_store(url), COUNT)
        assert "wrong-one" not in str(caught.value)
    assert ask(open_store(f"redis://:right@127.0.0.1:{port}"), COUNT) == 1


@pytest.mark.parametrize("denied", ["-evalsha", "-hincrby"])
def test_a_user_without_permission_is_an_auth_error(stoppable_redis: Server, open_store: Open, ask: Ask, denied: str):
    with stoppable_redis.client() as client:
        client.acl_setuser("app", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@all", denied])
    with pytest.raises(StoreAuthError):
        ask(open_store(f"redis://app:pw@127.0.0.1:{stoppable_redis.port}"), COUNT)


def test_a_key_that_someone_else_wrote_in_another_form_is_rejected(stoppable_redis: Server, open_store: Open, ask: Ask):
    with stoppable_redis.client() as client:
        client.set("test:{u1}:wm:t1", "mine")
    with pytest.raises(StoreRejected, match="WRONGTYPE"):
        ask(open_store(stoppable_redis.url), ReadFields(key=TASK))


def test_a_server_that_refuses_modules_and_scans_is_enough(tmp_path: Path, open_store: Open, ask: Ask):
    refused = [
        part for name in ("MODULE", "SCAN", "KEYS", "CONFIG", "INFO", "COMMAND") for part in ("--rename-command", name, "")
    ]
    with running(redis_binary(), tmp_path, *refused) as server:
        store = open_store(server.url)
        assert ask(store, COUNT) == 1
        assert ask(store, AppendLog(key=TASK, entries=(LogEntry(id="e", at=NOON, body=b""),))) == 1
        ask(store, SetDue(queue="q", item="i", due=NOON))
        assert len(ask(store, ClaimDue(queue="q", now=NOON, lease_s=1))) == 1
        assert ask(store, ListKeys(owner="u1")) == [TASK]
        assert ask(store, DeleteKeys(owner="u1")) == 1


# --- settings ---


@pytest.mark.parametrize("url", ["", "localhost:6379", "http://localhost", "redis://localhost:port", "redis//:secret@localhost"])
def test_an_address_that_is_none_is_a_config_error(url: str):
    with pytest.raises(ConfigError, match="redis://") as caught:
        RedisWorkingStore(url, prefix="test", timeout_s=1)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("prefix", ["", "  ", "a{b}", "{", "}"])
def test_a_prefix_that_would_break_the_keys_is_a_config_error(prefix: str):
    with pytest.raises(ConfigError, match="prefix"):
        RedisWorkingStore("redis://localhost", prefix=prefix, timeout_s=1)


def test_a_cluster_has_only_database_0():
    with pytest.raises(ConfigError, match="database 3"):
        RedisWorkingStore("redis://localhost/3", prefix="test", timeout_s=1, cluster=True)


def test_one_server_used_as_a_cluster_is_a_config_error(redis8: Server, open_store: Open, ask: Ask):
    with pytest.raises(ConfigError, match="redis_cluster"):
        ask(open_store(redis8.url, cluster=True), COUNT)


def test_a_cluster_used_as_one_server_is_a_config_error(redis_cluster: Cluster, open_store: Open, ask: Ask):
    store = open_store(redis_cluster.url)
    counts = [AddCount(key=Key(owner=f"u{number}", kind=KeyKind.WORKING, name="t"), name="n") for number in range(30)]
    errors = [reply for count in counts if isinstance(reply := _outcome(ask, store, count), Exception)]
    assert {type(error) for error in errors} == {ConfigError}
    assert all("redis_cluster" in str(error) for error in errors)


# --- clusters ---


def test_a_cluster_that_is_not_there_is_unavailable(open_store: Open, ask: Ask):
    with reserved_port() as port, pytest.raises(StoreUnavailable, match="the Redis cluster at"):
        ask(open_store(f"redis://127.0.0.1:{port}", cluster=True), COUNT)


def test_a_cluster_that_freezes_is_unavailable_until_it_goes_on(tmp_path: Path, open_store: Open, ask: Ask):
    with running_cluster(tmp_path) as cluster:
        store = open_store(cluster.url, timeout_s=0.5, cluster=True)
        assert patiently(ask, store, WriteFields(key=TASK, fields={"n": b"1"})) is None
        for node in cluster.nodes:
            node.pause()
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                ask(store, ReadFields(key=TASK))
        for node in cluster.nodes:
            node.resume()
        assert patiently(ask, store, ReadFields(key=TASK)) == {"n": b"1"}


def test_a_cluster_with_a_password_is_an_auth_error(tmp_path: Path, open_store: Open, ask: Ask):
    with running_cluster(tmp_path, masters=1) as cluster:
        with cluster.nodes[0].client() as client:
            client.config_set("requirepass", "right")
        with pytest.raises(StoreAuthError):
            ask(open_store(f"redis://:wrong@127.0.0.1:{cluster.port}", cluster=True), COUNT)


def test_a_node_that_stops_costs_its_owners_only_until_it_is_back(tmp_path: Path, open_store: Open, ask: Ask):
    keys = [Key(owner=f"u{number}", kind=KeyKind.WORKING, name="t") for number in range(24)]
    with running_cluster(tmp_path) as cluster:
        store = open_store(cluster.url, cluster=True)
        for key in keys:
            assert ask(store, AddCount(key=key, name="n")) == 1
        cluster.nodes[1].stop()
        replies = [_outcome(ask, store, ReadFields(key=key)) for key in keys]
        assert {type(reply) for reply in replies} == {dict, StoreUnavailable}
        cluster.nodes[1].start()
        for key in keys:
            assert not isinstance(patiently(ask, store, AddCount(key=key, name="n")), StoreError)


def patiently(ask: Ask, store: RedisWorkingStore, op: WorkingOp[Any]) -> Any:
    """The first reply that is no outage: a server that has just come back may be slow, and so may a busy machine."""
    replies: list[Any] = []

    def answered() -> bool:
        replies.append(_outcome(ask, store, op))
        return not isinstance(replies[-1], StoreUnavailable)

    comes_true(answered)
    return replies[-1]


def _outcome(ask: Ask, store: RedisWorkingStore, op: WorkingOp[Any]) -> Any:
    try:
        return ask(store, op)
    except HindsightError as error:
        return error


def test_calls_on_the_loop_do_not_wait_for_each_other_while_a_server_is_frozen(stoppable_redis: Server, valkey: Server):
    """A frozen server holds up its own callers; the loop goes on."""
    frozen = RedisWorkingStore(stoppable_redis.url, prefix="test", timeout_s=60)
    alive = RedisWorkingStore(valkey.url, prefix="test-alive", timeout_s=60)
    stoppable_redis.pause()

    async def main() -> None:
        waiting = asyncio.create_task(frozen.arun(COUNT))
        assert await alive.arun(COUNT) == 1
        assert not waiting.done()
        stoppable_redis.resume()
        assert await waiting == 1
        await frozen.aclose()
        await alive.aclose()

    asyncio.run(main())
