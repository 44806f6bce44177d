"""Runs of the graph: one at a time, nothing lost, nothing doubled, what the user adds meanwhile survives (SPEC F9)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.changes import FULL
from hindsight_langgraph.consolidation.lease import release, take
from hindsight_langgraph.errors import ConfigError, StoreUnavailable
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import ReviseUnits
from hindsight_langgraph.records import Kind, Scope, Status
from tests.clock import FakeClock
from tests.consolidation.scene import busy_life, content_of, id_of, later, store, unit
from tests.memory.opening import open_memory

U1 = Scope(user_id="u1")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=FakeClock(later(20))) as opened:
        yield opened


def test_a_full_run_merges_supersedes_sums_up_promotes_and_archives(memory: HindsightMemory):
    store(memory, *busy_life())
    report = memory.consolidate(scope="u1")
    by_id = {one.id: one for one in memory.units(scope="u1")}
    assert by_id[id_of("tartu")].superseded_by == id_of("riga")
    assert by_id[id_of("tea2")].superseded_by == id_of("tea1")
    assert by_id[id_of("tea1")].references == 3
    assert {one.content for one in memory.archived(scope="u1")} == {"The old boiler rattled", "The old gate squeaked"}
    assert by_id[id_of("nuts")].status is Status.ACTIVE
    assert (report.superseded, report.archived) == (1, 2)
    assert any("summary" in one.tags and set(one.related) == {id_of(f"story{i}") for i in range(4)} for one in by_id.values())
    assert any("pattern" in one.tags and set(one.related) == {id_of(f"pattern{i}") for i in range(3)} for one in by_id.values())


def test_what_was_said_again_word_for_word_counts_towards_a_pattern(memory: HindsightMemory):
    again = unit("The build ran out of disk", kind=Kind.TASK_STATE, confirmations=2, triple=("build", "lacks", "disk"))
    store(memory, again, unit("The build ran out of time", kind=Kind.TASK_STATE, triple=("build", "lacks", "time")))
    memory.consolidate(scope="u1", passes=("promotion",))
    assert [one.related for one in memory.units(scope="u1") if "pattern" in one.tags] == [(again.id,)]


def test_what_recurs_in_several_conversations_becomes_knowledge_with_its_evidence(memory: HindsightMemory):
    life = [one for one in busy_life() if one.triple is not None and one.triple.subject == "deploy"]
    store(memory, *life)
    memory.consolidate(scope="u1", passes=("promotion",))
    made = [one for one in memory.units(scope="u1") if "pattern" in one.tags]
    assert [one.region for one in made] == ["semantic"]
    assert set(made[0].related) == {one.id for one in life}


def test_a_second_run_finds_nothing_more_to_do(memory: HindsightMemory):
    store(memory, *busy_life())
    memory.consolidate(scope="u1")
    before = content_of(memory)
    report = memory.consolidate(scope="u1", everything=True)
    assert content_of(memory) == before
    assert report.merged == report.superseded == report.archived == 0


def test_a_dry_run_says_what_a_run_would_do_and_changes_nothing(memory: HindsightMemory):
    store(memory, *busy_life())
    before = content_of(memory)
    report = memory.consolidate(scope="u1", dry_run=True)
    assert content_of(memory) == before
    assert any(line.startswith("supersede  I live in Tartu") for line in report.lines())
    assert report.lines()[0].startswith("full pass over user:u1 would make")


@pytest.mark.parametrize("off", [name for name in FULL if name in {"duplicates", "contradictions", "summaries", "forgetting"}])
def test_a_pass_that_is_switched_off_does_nothing(tmp_path: Path, off: str):
    with open_memory(tmp_path, clock=FakeClock(later(20)), consolidation=ConsolidationConfig(off=(off,))) as memory:
        store(memory, *busy_life())
        report = memory.consolidate(scope="u1")
        assert off not in report.changes
        assert len(report.changes) >= 3


def test_an_unknown_pass_is_an_error_that_names_those_there_are(memory: HindsightMemory):
    with pytest.raises(ConfigError, match="contradictions"):
        memory.consolidate(scope="u1", passes=("magic",))


def test_two_runs_of_one_user_never_work_at_once_and_a_dead_one_blocks_nobody_for_long(memory: HindsightMemory, tmp_path: Path):
    store(memory, *busy_life())
    now = memory.clock.now()
    assert memory._run(take(U1, "other", now=now, lease_s=120))
    assert memory.consolidate(scope="u1").busy
    assert not memory.consolidate(scope="u2").busy
    memory.clock.advance(minutes=3)  # type: ignore[attr-defined]  # the clock of a test
    assert memory.consolidate(scope="u1").superseded == 1


def test_a_lease_is_given_back_by_its_holder_only(memory: HindsightMemory):
    now = memory.clock.now()
    assert memory._run(take(U1, "mine", now=now, lease_s=60))
    memory._run(release(U1, "theirs"))
    assert not memory._run(take(U1, "theirs", now=now, lease_s=60))
    memory._run(release(U1, "mine"))
    assert memory._run(take(U1, "theirs", now=now, lease_s=60))


def test_a_fact_that_the_user_adds_during_a_run_survives_it(memory: HindsightMemory):
    store(memory, *busy_life())
    added = False
    for step in memory.consolidation_graph().stream({"user_id": "u1"}, {"recursion_limit": 100}, stream_mode="updates"):
        if "decide" in step and not added:
            added = True
            store(memory, unit("I moved to Oslo", id="oslo", day=20, triple=("user", "lives_in", "Oslo")))
            tartu = next(one for one in memory.units(scope="u1") if one.id == id_of("tea1"))
            again = tartu.model_copy(update={"confirmations": 7, "revision": tartu.revision + 1})
            memory._runtime.answer(ReviseUnits(units=(again,)))
    by_id = {one.id: one for one in memory.units(scope="u1")}
    assert by_id[id_of("oslo")].status is Status.ACTIVE
    assert by_id[id_of("tea1")].confirmations == 8
    memory.consolidate(scope="u1")
    by_id = {one.id: one for one in memory.units(scope="u1")}
    assert by_id[id_of("riga")].superseded_by == id_of("oslo")


def test_a_run_that_meets_an_outage_goes_on_where_it_stopped(tmp_path: Path):
    clock = FakeClock(later(20))
    with open_memory(tmp_path, clock=clock) as memory:
        store(memory, *busy_life())
        long_term = memory._runtime.long_term
        answer, left = long_term.run, [2]

        def failing(op: Any) -> Any:
            if isinstance(op, ReviseUnits):
                left[0] -= 1
                if left[0] == 0:
                    raise StoreUnavailable("the disk is gone")
            return answer(op)

        long_term.run = failing  # type: ignore[method-assign]
        with pytest.raises(StoreUnavailable):
            memory.consolidate(scope="u1")
        long_term.run = answer  # type: ignore[method-assign]
        clock.advance(minutes=1)
        memory.consolidate(scope="u1")
        by_id = {one.id: one for one in memory.units(scope="u1")}
        assert by_id[id_of("tea1")].references == 3
        assert by_id[id_of("tartu")].status is Status.SUPERSEDED


def test_the_awaiting_twin_does_the_same(tmp_path: Path):
    async def run() -> list[dict[str, object]]:
        async with open_memory(tmp_path / "async", clock=FakeClock(later(20))) as memory:
            store(memory, *busy_life())
            await memory.aconsolidate(scope="u1")
            return content_of(memory)

    with open_memory(tmp_path / "sync", clock=FakeClock(later(20))) as memory:
        store(memory, *busy_life())
        memory.consolidate(scope="u1")
        assert content_of(memory) == asyncio.run(run())


def test_users_never_touch_each_other(memory: HindsightMemory):
    store(memory, unit("I live in Tartu", user="u1", triple=("user", "lives_in", "Tartu")))
    store(memory, unit("I live in Riga", user="u2", day=1, triple=("user", "lives_in", "Riga")))
    memory.consolidate(scope="u1")
    memory.consolidate(scope="u2")
    assert {one.status for user in ("u1", "u2") for one in memory.units(scope=user)} == {Status.ACTIVE}
