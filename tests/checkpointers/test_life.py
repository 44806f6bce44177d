"""How long threads live, who sees them, and what happens when the store does not answer."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import redis
from langchain_core.messages import HumanMessage

from hindsight_langgraph.backends.sqlite_checkpoints import SqliteCheckpoints
from hindsight_langgraph.checkpoint_ops import ReadThread
from hindsight_langgraph.checkpointers import HindsightSaver
from hindsight_langgraph.errors import (
    ConfigError,
    StoreAuthError,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreRejected,
    StoreUnavailable,
)
from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.made import META, chat_graph, checkpoint, config, put, read, say
from tests.servers import PATIENCE_S, Server, comes_true

CONFIG = config(ns=None)


@pytest.fixture(params=["valkey", "redis8"])
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def client(server: Server) -> Iterator[redis.Redis]:
    with server.client() as client:
        client.flushall()
        yield client


def lives(client: redis.Redis) -> dict[str, Any]:
    """Key to the moment at which it ends; -1 for one that never does."""
    return {key.decode().rpartition(":")[2]: client.pexpiretime(key) for key in client.scan_iter()}


class TestTimeToLive:
    def test_every_key_of_a_thread_ends_at_the_same_moment(self, server: Server, client: redis.Redis) -> None:
        with HindsightSaver.from_url(server.url, ttl_s=100) as saver:
            say(chat_graph(saver), "hello", config(ns=None, run_id="r"))
            found = lives(client)
            assert set(found) == {"rows", "writes", "objects", "revision", "runs"}
            assert len(set(found.values())) == 1
            assert min(found.values()) > 0

    def test_writes_before_their_checkpoint_end_as_well(self, server: Server, client: redis.Redis) -> None:
        with HindsightSaver.from_url(server.url, ttl_s=100) as saver:
            saver.put_writes(config(checkpoint_id="1"), [("c", "long " * 30)], "task")
            assert lives(client)
            assert min(lives(client).values()) > 0

    def test_a_copy_and_a_pruned_thread_end_too(self, server: Server, client: redis.Redis) -> None:
        with HindsightSaver.from_url(server.url, ttl_s=100) as saver:
            graph = chat_graph(saver)
            for n in range(6):
                say(graph, f"question {n}", config(ns=None, run_id=f"r{n}"))
            saver.copy_thread("t", "copy")
            saver.prune(["t"])
            saver.delete_for_runs(["r1"])
            assert min(client.pttl(key) for key in client.scan_iter()) > 0

    @pytest.mark.parametrize("broken", ["rows", "writes", "objects", "revision", "runs"])
    def test_no_key_lives_for_ever_when_a_request_fails_half_way(self, server: Server, client: redis.Redis, broken: str) -> None:
        with HindsightSaver.from_url(server.url, ttl_s=100, prefix="p") as saver:
            key = f"p:checkpoints:{{t}}:{broken}"
            wrong = client.set if broken != "revision" else client.lpush
            wrong(key, "of another type")
            for write in (
                lambda: put(saver, {"c": "long " * 30}, metadata={"run_id": "r"}),
                lambda: saver.put_writes(config(checkpoint_id="1"), [("c", "long " * 30)], "task"),
            ):
                try:
                    write()
                except StoreRejected as error:
                    assert "WRONGTYPE" in str(error)  # noqa: PT017 — some writes do not touch the broken key
            assert -1 not in lives(client).values()

    @pytest.mark.parametrize("refresh", [True, False])
    def test_a_read_restarts_the_life_of_a_thread_when_asked(self, server: Server, client: redis.Redis, refresh: bool) -> None:
        with HindsightSaver.from_url(server.url, ttl_s=1000, refresh_on_read=refresh) as saver:
            say(chat_graph(saver), "hello")
            for key in client.scan_iter():
                client.pexpire(key, 400_000)
            read(saver)
            assert all((client.pttl(key) > 500_000) is refresh for key in client.scan_iter())

    def test_without_it_keys_stay(self, server: Server, client: redis.Redis) -> None:
        with HindsightSaver.from_url(server.url) as saver:
            say(chat_graph(saver), "hello")
            assert set(lives(client).values()) == {-1}

    def test_in_sqlite_a_thread_ends_with_all_its_data(self, tmp_path: Path) -> None:
        clock = [1000.0]
        store = SqliteCheckpoints(tmp_path / "ttl.db", now=lambda: clock[0])
        with HindsightSaver(store, ttl_s=100) as saver:
            say(chat_graph(saver), "hello")
            clock[0] += 90
            put(saver, at=config("other"))
            assert saver.get_tuple(CONFIG) is not None
            clock[0] += 20
            assert saver.get_tuple(CONFIG) is None
            assert [found.config["configurable"]["thread_id"] for found in saver.list(None)] == ["other"]
            put(saver, at=config("other"))
            counts = [
                store._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # type: ignore[union-attr]
                for table in ("threads", "writes", "objects")
            ]
            assert counts == [1, 0, 0]

    def test_in_sqlite_a_thread_that_ended_begins_anew(self, tmp_path: Path) -> None:
        clock = [1000.0]
        with HindsightSaver(SqliteCheckpoints(tmp_path / "ttl.db", now=lambda: clock[0]), ttl_s=100) as saver:
            graph = chat_graph(saver)
            say(graph, "before")
            clock[0] += 200
            say(graph, "after")
            assert [message.content for message in graph.get_state(CONFIG).values["messages"]] == ["after", "answer 1"]

    @pytest.mark.parametrize("refresh", [True, False])
    def test_in_sqlite_a_read_restarts_it_when_asked(self, tmp_path: Path, refresh: bool) -> None:
        clock = [1000.0]
        store = SqliteCheckpoints(tmp_path / "ttl.db", now=lambda: clock[0])
        with HindsightSaver(store, ttl_s=100, refresh_on_read=refresh) as saver:
            put(saver)
            clock[0] += 90
            read(saver)
            clock[0] += 90
            assert (saver.get_tuple(config()) is not None) is refresh

    def test_a_time_to_live_that_is_none_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="ttl_s is 0"):
            HindsightSaver.from_url(f"sqlite:///{tmp_path}/x.db", ttl_s=0)


class TestPrefix:
    @pytest.mark.parametrize("kind", ["redis8", "redis_cluster"])
    def test_deployments_do_not_see_each_other(self, request: pytest.FixtureRequest, kind: str) -> None:
        url = request.getfixturevalue(kind).url
        url = url.replace("redis://", "redis+cluster://") if kind == "redis_cluster" else url
        with HindsightSaver.from_url(url, prefix="o*") as ours, HindsightSaver.from_url(url, prefix="o*:checkpoints") as theirs:
            put(ours, {"c": "ours"}, metadata={"run_id": "r"})
            assert list(theirs.list(None)) == []
            put(theirs, {"c": "theirs"}, metadata={"run_id": "r"})
            assert [found.checkpoint["channel_values"]["c"] for found in ours.list(None)] == ["ours"]
            ours.delete_for_runs(["r"])
            assert [found.checkpoint["channel_values"]["c"] for found in theirs.list(None)] == ["theirs"]

    @pytest.mark.parametrize("prefix", ["", "a{b}", "a}"])
    def test_a_prefix_that_would_move_threads_to_other_slots_is_refused(self, prefix: str) -> None:
        with pytest.raises(ConfigError, match="prefix"):
            HindsightSaver.from_url("redis://localhost", prefix=prefix)


class TestSetup:
    def test_it_may_be_called_again_and_again_and_keeps_what_is_there(self, make_saver: MakeSaver) -> None:
        saver = make_saver()
        saver.setup()
        put(saver, {"c": 1})
        saver.setup()
        make_saver().setup()
        assert read(saver).checkpoint["channel_values"] == {"c": 1}

    def test_an_unprivileged_user_can_do_everything(self, server: Server, client: redis.Redis) -> None:
        rights = ("~hindsight:*", "+@all", "-@admin", "-@dangerous", "-module")
        _acl(client, "SETUSER", "app", "on", ">secret", *rights)
        try:
            url = server.url.replace("redis://", "redis://app:secret@")
            with HindsightSaver.from_url(url) as saver:
                saver.setup()
                say(chat_graph(saver), "hello", config(ns=None, run_id="r"))
                saver.copy_thread("t", "copy")
                saver.prune(["t"])
                saver.delete_for_runs(["r"])
                saver.delete_thread("copy")
                assert list(saver.list(None)) == []
        finally:
            _acl(client, "DELUSER", "app")


class TestErrors:
    @pytest.mark.parametrize(
        "url", ["", "x", "http://localhost", "postgres://x", "sqlite://", "sqlite:///", "sqlite://file.db", "redis-cluster://x"]
    )
    def test_a_wrong_url_is_refused_at_once(self, url: str) -> None:
        with pytest.raises(ConfigError, match=r"redis://|file"):
            HindsightSaver.from_url(url)

    def test_a_password_is_never_shown(self) -> None:
        with HindsightSaver.from_url("redis://user:hunter2@127.0.0.1:1/0") as saver:
            with pytest.raises(StoreUnavailable) as caught:
                saver.setup()
            assert "hunter2" not in str(caught.value)
            assert "127.0.0.1:1" in str(caught.value)

    def test_a_wrong_password_is_an_error_of_its_own(self, server: Server) -> None:
        url = server.url.replace("redis://", "redis://nobody:wrong@")
        with HindsightSaver.from_url(url) as saver, pytest.raises(StoreAuthError, match="password"):
            saver.setup()

    def test_a_closed_saver_says_so(self, make_saver: MakeSaver) -> None:
        saver = make_saver()
        put(saver)
        saver.close()
        saver.close()
        with pytest.raises(StoreClosed, match="close"):
            read(saver)
        with pytest.raises(StoreClosed, match="close"):
            asyncio.run(saver.aget_tuple(config()))

    async def test_leaving_the_context_closes(self, make_saver: MakeSaver) -> None:
        async with make_saver() as saver:
            await saver.aput(config(), checkpoint(), META, {})
        with pytest.raises(StoreClosed):
            await saver.aget_tuple(config())
        with make_saver() as saver:
            put(saver)
        with pytest.raises(StoreClosed):
            put(saver)

    def test_no_server_is_store_unavailable(self) -> None:
        with HindsightSaver.from_url("redis://127.0.0.1:1", timeout_s=0.5) as saver:
            with pytest.raises(StoreUnavailable, match="server up"):
                saver.setup()
            with pytest.raises(StoreUnavailable, match="server up"):
                asyncio.run(saver.asetup())

    def test_no_cluster_is_store_unavailable(self) -> None:
        with HindsightSaver.from_url("redis+cluster://127.0.0.1:1", timeout_s=0.5) as saver:
            with pytest.raises(StoreUnavailable):
                saver.setup()
            with pytest.raises(StoreUnavailable):
                asyncio.run(saver.asetup())

    def test_a_server_that_never_answers_is_store_unavailable(self, stoppable_redis: Server) -> None:
        with HindsightSaver.from_url(stoppable_redis.url, timeout_s=0.2) as saver:
            assert comes_true(lambda: answers(saver.setup))  # on a busy machine a server that is up may take longer, too
            stoppable_redis.pause()
            try:
                with pytest.raises(StoreUnavailable):
                    read(saver)
                with pytest.raises(StoreUnavailable):
                    asyncio.run(saver.aget_tuple(config()))
            finally:
                stoppable_redis.resume()
            assert comes_true(lambda: answers(lambda: put(saver)))

    def test_a_server_of_full_memory_is_store_unavailable_and_keeps_what_it_has(self, stoppable_redis: Server) -> None:
        with HindsightSaver.from_url(stoppable_redis.url) as saver, stoppable_redis.client() as client:
            put(saver, {"c": "kept"})
            client.config_set("maxmemory", 1)
            with pytest.raises(StoreUnavailable, match="memory"):
                put(saver, {"c": "too much"})
            client.config_set("maxmemory", 0)
            assert read(saver).checkpoint["channel_values"] == {"c": "kept"}

    def test_a_locked_file_is_store_locked(self, tmp_path: Path) -> None:
        with HindsightSaver.from_url(f"sqlite:///{tmp_path}/x.db", timeout_s=0.05) as saver:
            put(saver, {"c": "kept"})
            other = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
            try:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StoreLocked, match="another process"):
                    put(saver)
                assert read(saver).checkpoint["channel_values"] == {"c": "kept"}
            finally:
                other.close()
            put(saver, {"c": "after"})
            assert read(saver).checkpoint["channel_values"] == {"c": "after"}

    def test_a_file_that_another_process_is_just_making_is_waited_for(self, tmp_path: Path) -> None:
        with (
            HindsightSaver.from_url(f"sqlite:///{tmp_path}/x.db", timeout_s=PATIENCE_S) as saver,
            closing(sqlite3.connect(tmp_path / "x.db", isolation_level=None)) as other,
            ThreadPoolExecutor(1) as pool,
        ):
            other.execute("BEGIN IMMEDIATE")
            opening = pool.submit(saver.setup)
            with pytest.raises(TimeoutError):
                opening.result(0.2)
            other.execute("COMMIT")
            opening.result()

    def test_a_file_of_another_kind_is_store_corrupt(self, tmp_path: Path) -> None:
        (tmp_path / "x.db").write_bytes(b"no database at all" * 100)
        with HindsightSaver.from_url(f"sqlite:///{tmp_path}/x.db") as saver, pytest.raises(StoreCorrupt, match="backup"):
            saver.setup()

    def test_a_directory_that_cannot_be_made_is_store_unavailable(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with (
            HindsightSaver.from_url(f"sqlite:///{tmp_path}/file/x.db") as saver,
            pytest.raises(StoreUnavailable, match="directory"),
        ):
            saver.setup()

    def test_a_value_that_was_lost_is_store_corrupt(self, make_saver: MakeSaver) -> None:
        saver = make_saver()
        put(saver, {"c": "long " * 50, "messages": [HumanMessage(f"m{n}" * 10, id=str(n)) for n in range(20)]})
        stored = saver._store.run(ReadThread(thread="t"))
        from hindsight_langgraph.checkpoint_ops import Sweep

        saver._store.run(Sweep(thread="t", revision=stored.revision, drop_objects=tuple(stored.keys)))
        with pytest.raises(StoreCorrupt, match="gone"):
            read(make_saver())

    def test_every_sqlite_error_has_an_error_of_ours(self, tmp_path: Path) -> None:
        from hindsight_langgraph.backends.sqlite_checkpoint_schema import mapped_errors

        for kind in (sqlite3.Error, sqlite3.OperationalError, sqlite3.DatabaseError, sqlite3.DataError, sqlite3.IntegrityError):
            with pytest.raises(StoreError), mapped_errors(tmp_path):
                raise kind("something")

    def test_every_redis_error_has_an_error_of_ours(self) -> None:
        from hindsight_langgraph.backends.redis_link import RedisLink

        link = RedisLink("redis://localhost")
        kinds = [
            kind for kind in vars(redis.exceptions).values() if isinstance(kind, type) and issubclass(kind, redis.RedisError)
        ]
        assert len(kinds) > 20
        for kind in kinds:
            assert isinstance(link._error_of(_made(kind)), StoreError), kind
        for said in ("NOAUTH Authentication required.", "Protocol error: unauthenticated multibulk length"):
            assert isinstance(link._error_of(redis.ResponseError(said)), StoreAuthError)
        assert isinstance(link._error_of(redis.exceptions.TimeoutError()), StoreUnavailable)
        assert not isinstance(link._error_of(KeyError("a bug of ours")), StoreError)


def answers(ask: Callable[[], object]) -> bool:
    """Whether the store answers in time."""
    try:
        ask()
    except StoreUnavailable:
        return False
    return True


def _acl(client: redis.Redis, *parts: str) -> None:
    client.execute_command("ACL", *parts)  # type: ignore[no-untyped-call]  # redis-py declares no types here


def _made(kind: type[Exception]) -> Exception:
    try:
        return kind("something")
    except (TypeError, ValueError, AttributeError):
        return kind.__new__(kind)


class TestRestart:
    @pytest.mark.parametrize("how", ["stop", "kill"])
    def test_what_was_acknowledged_is_there_after_a_restart(self, stoppable_redis: Server, how: str) -> None:
        with HindsightSaver.from_url(stoppable_redis.url, timeout_s=60) as saver:
            graph = chat_graph(saver)
            for n in range(5):
                say(graph, f"before {n}")
            getattr(stoppable_redis, how)()
            with pytest.raises(StoreUnavailable):
                say(graph, "meanwhile")
            stoppable_redis.start()
            say(graph, "after")
            said = [message.content for message in graph.get_state(CONFIG).values["messages"]][::2]
            assert said == [*(f"before {n}" for n in range(5)), "after"]

    async def test_an_awaiting_caller_reconnects_as_well(self, stoppable_redis: Server) -> None:
        async with HindsightSaver.from_url(stoppable_redis.url, timeout_s=60) as saver:
            await saver.aput(config(), checkpoint({"c": "before"}, id="1"), META, {"c": 1})
            await asyncio.to_thread(stoppable_redis.kill)
            with pytest.raises(StoreUnavailable):
                await saver.aget_tuple(config())
            await asyncio.to_thread(stoppable_redis.start)
            await saver.aput(config(), checkpoint({"c": "after"}, id="2"), META, {"c": 1})
            assert [found.checkpoint["channel_values"]["c"] async for found in saver.alist(config())] == ["after", "before"]
