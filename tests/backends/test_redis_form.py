"""What the working store leaves in Redis: names, slots, lives, stored bytes; how every error of redis-py is read."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
import redis.exceptions
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.backends.redis_errors import KINDS, as_ours
from hindsight_langgraph.backends.redis_keys import KeyNames, key_of_member, member
from hindsight_langgraph.backends.redis_store import RedisWorkingStore
from hindsight_langgraph.errors import ConfigError, HindsightError, StoreAuthError, StoreCorrupt, StoreRejected, StoreUnavailable
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import (
    AddCount,
    AppendLog,
    ClaimDue,
    DeleteKeys,
    DropFields,
    FoldFields,
    ListKeys,
    LogEntry,
    PeekDue,
    ReadFields,
    ReadLog,
    SetDue,
    SettleDue,
    WriteFields,
)
from tests.clock import NOON
from tests.servers import Server

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TASK = Key(owner="u1", kind=KeyKind.WORKING, name="t1")
LOG = Key(owner="u1", kind=KeyKind.SESSION, name="s1")
MICROS = b"1741608000000000"
"""NOON in microseconds since 1970."""


@pytest.fixture
def prefix() -> str:
    return f"form-{uuid4().hex}"


@pytest.fixture
def store(valkey: Server, prefix: str) -> Iterator[RedisWorkingStore]:
    opened = RedisWorkingStore(valkey.url, prefix=prefix, timeout_s=60)
    yield opened
    opened.close()


@pytest.fixture
def raw(valkey: Server) -> Iterator[redis.Redis]:
    with valkey.client() as client:
        yield client


def lives(raw: redis.Redis, prefix: str) -> dict[str, int]:
    """Every key under the prefix with its remaining milliseconds, -1 for ever."""
    return {key.decode().removeprefix(f"{prefix}:"): raw.pttl(key) for key in raw.scan_iter(f"{prefix}:*")}


# --- names ---


@given(owner=TEXT, name=TEXT, kind=st.sampled_from(KeyKind))
def test_a_key_is_read_back_from_the_index_as_it_was(owner: str, name: str, kind: KeyKind):
    key = Key(owner=owner, kind=kind, name=name)
    assert key_of_member(owner, member(key)) == key


@given(owner=TEXT, name=TEXT)
def test_all_keys_of_one_owner_have_the_owner_as_their_hash_tag(owner: str, name: str):
    names = KeyNames(prefix="p").of(Key(owner=owner, kind=KeyKind.SESSION, name=name))
    tags = {each[each.index("{") + 1 : each.index("}")] for each in names}
    assert len(tags) == 1
    assert "" not in tags


@given(first=st.tuples(TEXT, TEXT), second=st.tuples(TEXT, TEXT))
def test_two_keys_never_share_a_name(first: tuple[str, str], second: tuple[str, str]):
    names = [set(KeyNames(prefix="p").of(Key(owner=o, kind=KeyKind.SESSION, name=n))[1:]) for o, n in (first, second)]
    queues = [set(KeyNames(prefix="p").queue(o)) for o, _ in (first, second)]
    assert names[0].isdisjoint(names[1]) or first == second
    assert queues[0].isdisjoint(queues[1]) or first[0] == second[0]
    assert not (names[0] | names[1]) & (queues[0] | queues[1])


def test_plain_names_stay_readable():
    assert KeyNames(prefix="hindsight").of(Key(owner="用户一", kind=KeyKind.SESSION, name="team-7:a#1"))[1] == (
        "hindsight:{用户一}:session:team-7%3Aa#1"
    )


# --- lives ---


def test_whatever_is_written_with_a_time_to_live_expires_with_all_that_belongs_to_it(
    store: RedisWorkingStore, raw: redis.Redis, prefix: str
):
    store.run(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=100))
    store.run(AddCount(key=TASK, name="n", ttl_s=100))
    store.run(FoldFields(key=TASK, put={"s": b""}, drop={"a": b"1"}, ttl_s=100))
    store.run(AppendLog(key=LOG, entries=(LogEntry(id="e", at=NOON, body=b""),), ttl_s=200))
    found = lives(raw, prefix)
    assert set(found) == {"{u1}:index", "{u1}:wm:t1", "{u1}:session:s1:order", "{u1}:session:s1:bodies"}
    assert 90_000 < found["{u1}:wm:t1"] <= 100_000
    assert 190_000 < min(found[name] for name in found if name != "{u1}:wm:t1") <= 200_000


def test_the_index_stays_as_long_as_one_key_stays(store: RedisWorkingStore, raw: redis.Redis, prefix: str):
    store.run(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=100))
    store.run(WriteFields(key=LOG, fields={"a": b"1"}))
    assert lives(raw, prefix)["{u1}:index"] == -1
    store.run(DeleteKeys(owner="u1", keys=(LOG,)))
    assert 0 < lives(raw, prefix)["{u1}:index"] <= 100_000


def test_nothing_is_left_once_all_is_expired_deleted_or_settled(store: RedisWorkingStore, raw: redis.Redis, prefix: str):
    store.run(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=0.05))
    time.sleep(0.08)
    assert lives(raw, prefix) == {}
    store.run(AppendLog(key=LOG, entries=(LogEntry(id="e", at=NOON, body=b""),)))
    store.run(DeleteKeys(owner="u1"))
    store.run(WriteFields(key=TASK, fields={"a": b"1"}))
    store.run(DropFields(key=TASK, names=("a",)))
    store.run(SetDue(queue="q", item="i", due=NOON))
    (claim,) = store.run(ClaimDue(queue="q", now=NOON, lease_s=1))
    store.run(SettleDue(queue="q", item="i", token=claim.token))
    assert lives(raw, prefix) == {}


def test_an_index_forgets_expired_keys_at_the_next_write(store: RedisWorkingStore, raw: redis.Redis, prefix: str):
    store.run(WriteFields(key=LOG, fields={"a": b"1"}))
    store.run(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=0.03))
    time.sleep(0.05)
    store.run(WriteFields(key=LOG, fields={"b": b"2"}))
    assert raw.zrange(f"{prefix}:{{u1}}:index", 0, -1) == [b"session:s1"]


# --- stored bytes ---


def test_what_version_1_wrote_is_read(store: RedisWorkingStore, raw: redis.Redis, prefix: str):
    raw.hset(f"{prefix}:{{u1}}:wm:t1", mapping={"#": "12", "flate": "12:2:b", "fearly": "3:1"})
    raw.zadd(f"{prefix}:{{u1}}:session:s1:order", {"e": float(MICROS)})
    raw.hset(f"{prefix}:{{u1}}:session:s1:bodies", mapping={"e": MICROS + b":said"})
    raw.zadd(f"{prefix}:{{u1}}:index", {"wm:t1": float("inf"), "session:s1": float("inf")})
    raw.zadd(f"{prefix}:{{q}}:due", {"i": float(MICROS)})
    raw.hset(f"{prefix}:{{q}}:items", mapping={"di": MICROS, "bi": b"why", "ai": "2"})
    assert list(store.run(ReadFields(key=TASK)).items()) == [("early", b"1"), ("late", b"2:b")]
    assert store.run(ReadLog(key=LOG)) == [LogEntry(id="e", at=NOON, body=b"said")]
    assert store.run(ListKeys(owner="u1")) == [LOG, TASK]
    assert store.run(PeekDue(queue="q")) == [("i", NOON)]
    assert [(claim.body, claim.attempts) for claim in store.run(ClaimDue(queue="q", now=NOON, lease_s=1))] == [(b"why", 3)]


def test_a_key_of_a_kind_that_only_a_newer_library_knows_is_said_to_be_so(
    store: RedisWorkingStore, raw: redis.Redis, prefix: str
):
    raw.hset(f"{prefix}:{{u1}}:dreams:t1", mapping={"#": "1", "fa": "1:x"})
    raw.zadd(f"{prefix}:{{u1}}:index", {"dreams:t1": float("inf")})
    with pytest.raises(StoreCorrupt, match=r"dreams.*upgrade"):
        store.run(ListKeys(owner="u1"))
    assert store.run(DeleteKeys(owner="u1")) == 1
    assert lives(raw, prefix) == {}


# --- errors ---


def _error_classes() -> list[type[Exception]]:
    found = [value for _, value in inspect.getmembers(redis.exceptions, inspect.isclass)]
    return [each for each in found if issubclass(each, Exception) and each.__module__ == "redis.exceptions"]


@pytest.mark.parametrize("error", _error_classes(), ids=lambda error: error.__name__)
def test_every_error_of_redis_py_is_mapped_by_name(error: type[Exception]):
    assert error.__name__ in KINDS
    assert isinstance(as_ours(error.__new__(error), "Redis"), HindsightError)


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (redis.exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots"), StoreUnavailable),
        (redis.exceptions.ResponseError("BUSY Redis is busy running a script"), StoreUnavailable),
        (redis.exceptions.ResponseError("Error running script: @user_script:3: -READONLY no writes"), StoreUnavailable),
        (redis.exceptions.ResponseError("NOPERM this user has no permissions"), StoreAuthError),
        (
            redis.exceptions.ResponseError("@user_script: 41: The user executing the script can't run this command"),
            StoreAuthError,
        ),
        (redis.exceptions.ResponseError("ACL failure in script: User app has no permissions"), StoreAuthError),
        (redis.exceptions.ResponseError("Protocol error: unauthenticated multibulk length"), StoreAuthError),
        (redis.exceptions.ResponseError("WRONGTYPE Operation against a key"), StoreRejected),
        (redis.exceptions.BusyLoadingError("LOADING Redis is loading the dataset"), StoreUnavailable),
        (redis.exceptions.ClusterDownError("CLUSTERDOWN The cluster is down"), StoreUnavailable),
        (redis.exceptions.MovedError("3999 127.0.0.1:6381"), ConfigError),
        (ConnectionResetError("gone"), StoreUnavailable),
        (TimeoutError(), StoreUnavailable),
    ],
    ids=str,
)
def test_an_error_says_what_the_caller_can_do(error: Exception, ours: type[HindsightError]):
    mapped = as_ours(error, "Redis at host:1")
    assert type(mapped) is ours
    assert "Redis at host:1" in str(mapped)


def test_an_error_that_is_none_of_redis_is_left_alone():
    assert as_ours(KeyError("ours"), "Redis") is None
