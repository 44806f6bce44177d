"""Random requests to SQLite and Redis side by side: each gets the same reply from both."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from hindsight_langgraph.backends.redis_store import RedisWorkingStore
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.errors import StoreError
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import (
    AddCount,
    AppendLog,
    Claim,
    ClaimDue,
    DeleteKeys,
    DropEntries,
    DropFields,
    ExtendLease,
    FoldFields,
    ListKeys,
    LogEntry,
    PeekDue,
    ReadFields,
    ReadLog,
    ReplaceEntry,
    SetDue,
    SettleDue,
    WorkingOp,
    WriteFields,
)
from tests.clock import NOON, FakeClock
from tests.servers import Server

OWNERS = st.sampled_from(["u1", "é{x}:"])
KEYS = st.builds(
    Key, owner=OWNERS, kind=st.sampled_from([KeyKind.WORKING, KeyKind.SESSION]), name=st.sampled_from(["t", "t:order"])
)
NAMES = st.sampled_from(["a", "b", "ü:"])
VALUES = st.sampled_from([b"", b"1", b"-7", b"x:y"])
FIELDS = st.dictionaries(NAMES, VALUES, max_size=3)
TTLS = st.sampled_from([None, 3600.0])
MOMENTS = st.integers(-3, 9).map(lambda seconds: NOON + timedelta(seconds=seconds))
IDS = st.sampled_from(["1", "10", "2", "é"])
ENTRIES = st.lists(st.builds(LogEntry, id=IDS, at=MOMENTS, body=VALUES), max_size=3).map(tuple)
SEVERAL = st.lists(NAMES, max_size=3, unique=True).map(tuple)
ITEMS = st.sampled_from(["i", "j"])
AMOUNTS = st.integers(0, 3)
LEASES = st.sampled_from([0.0, 1.0, 5.0])

REQUESTS: st.SearchStrategy[WorkingOp[Any]] = st.one_of(
    st.builds(ReadFields, key=KEYS),
    st.builds(WriteFields, key=KEYS, fields=FIELDS, ttl_s=TTLS),
    st.builds(FoldFields, key=KEYS, put=FIELDS, drop=FIELDS, ttl_s=TTLS),
    st.builds(DropFields, key=KEYS, names=SEVERAL),
    st.builds(AddCount, key=KEYS, name=NAMES, by=st.integers(-5, 5), ttl_s=TTLS),
    st.builds(AppendLog, key=KEYS, entries=ENTRIES, ttl_s=TTLS, keep=st.none() | AMOUNTS),
    st.builds(ReadLog, key=KEYS, limit=st.none() | AMOUNTS, oldest_first=st.booleans()),
    st.builds(ReplaceEntry, key=KEYS, id=IDS, body=VALUES),
    st.builds(DropEntries, key=KEYS, ids=st.lists(IDS, max_size=3, unique=True).map(tuple)),
    st.builds(ListKeys, owner=OWNERS, kind=st.none() | st.sampled_from(KeyKind)),
    st.builds(DeleteKeys, owner=OWNERS),
)
DUE = st.builds(SetDue, queue=st.just("q"), item=ITEMS, due=MOMENTS, body=VALUES, only_earlier=st.booleans())


class SideBySide(RuleBasedStateMachine):
    """Both stores hold the same; `claims` pairs the claims that each gave, whose tokens differ."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.sqlite = SqliteWorkingStore(Path(self.folder.name) / "w", timeout_s=60, clock=FakeClock())
        self.redis = RedisWorkingStore(self.url, prefix=f"side-{uuid4().hex}", timeout_s=60)
        self.claims: list[tuple[Claim, Claim]] = []

    @rule(op=DUE)
    def both_set_due_alike(self, op: SetDue) -> None:
        assert _reply(self.sqlite, op) == _reply(self.redis, op)

    @rule(op=REQUESTS)
    def both_reply_alike(self, op: WorkingOp[Any]) -> None:
        replies = [_reply(store, op) for store in (self.sqlite, self.redis)]
        assert replies[0] == replies[1]
        if isinstance(op, ReadFields):
            assert list(replies[0]) == list(replies[1])

    @rule(now=MOMENTS, lease_s=LEASES, limit=AMOUNTS)
    def both_give_the_same_claims(self, now: datetime, lease_s: float, limit: int) -> None:
        op = ClaimDue(queue="q", now=now, lease_s=lease_s, limit=limit)
        ours, theirs = self.sqlite.run(op), self.redis.run(op)
        assert [(held.item, held.body, held.attempts) for held in ours] == [
            (held.item, held.body, held.attempts) for held in theirs
        ]
        self.claims += zip(ours, theirs, strict=True)

    @rule(which=st.integers(0, 9), moment=st.none() | MOMENTS, extend=st.booleans())
    def both_answer_alike_about_a_claim(self, which: int, moment: datetime | None, extend: bool) -> None:
        if extend:
            until = moment or NOON
            self.ask_about_a_claim(which, lambda held: ExtendLease(queue="q", item=held.item, token=held.token, until=until))
        else:
            self.ask_about_a_claim(which, lambda held: SettleDue(queue="q", item=held.item, token=held.token, retry_at=moment))

    @rule(op=DUE, lease_s=LEASES, retry_at=st.none() | MOMENTS)
    def both_treat_alike_what_comes_while_a_claim_is_worked_on(
        self, op: SetDue, lease_s: float, retry_at: datetime | None
    ) -> None:
        self.both_set_due_alike(op)
        self.both_give_the_same_claims(NOON + timedelta(seconds=20), lease_s, 1)
        self.both_set_due_alike(op)
        self.both_answer_alike_about_a_claim(-1, retry_at, False)

    def ask_about_a_claim(self, which: int, build: Callable[[Claim], WorkingOp[bool]]) -> None:
        if self.claims:
            ours, theirs = self.claims[which % len(self.claims)]
            assert self.sqlite.run(build(ours)) == self.redis.run(build(theirs))

    def teardown(self) -> None:
        assert self.sqlite.run(PeekDue(queue="q")) == self.redis.run(PeekDue(queue="q"))
        for owner in ("u1", "é{x}:"):
            keys = self.sqlite.run(ListKeys(owner=owner))
            assert keys == self.redis.run(ListKeys(owner=owner))
            for key in keys:
                assert self.sqlite.run(ReadLog(key=key)) == self.redis.run(ReadLog(key=key))
                ours, theirs = self.sqlite.run(ReadFields(key=key)), self.redis.run(ReadFields(key=key))
                assert list(ours.items()) == list(theirs.items())
        self.sqlite.close()
        self.redis.close()
        self.folder.cleanup()


def _reply(store: SqliteWorkingStore | RedisWorkingStore, op: WorkingOp[Any]) -> Any:
    try:
        return store.run(op)
    except StoreError as error:
        return type(error)


@pytest.mark.parametrize("server", ["valkey", "redis8"])
def test_sqlite_and_redis_reply_alike(server: str, request: pytest.FixtureRequest):
    found: Server = request.getfixturevalue(server)
    machine = type("SideBySideThere", (SideBySide,), {"url": found.url})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=60, stateful_step_count=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        ),
    )
