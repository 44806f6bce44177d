"""The same failure again strengthens the episode that tells of it; a new way to fail is a new one (SPEC B8, E)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Kind, MemoryUnit, Scope
from tests.clock import FakeClock
from tests.memory.opening import open_memory

GOAL = "Upload the nightly backup to the archive."
FULL = "disk quota of the archive exceeded at 02:14:07"
FULL_AGAIN = "disk quota of the archive exceeded at 02:15:31"
REFUSED = "certificate of the host is not trusted"


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def attempt(
    memory: HindsightMemory,
    clock: FakeClock,
    number: int,
    error: str,
    *,
    success: bool = False,
    feedback: str = "",
    goal: str = GOAL,
) -> None:
    """One task; it fails with `error`, and with `success` something else works."""
    clock.advance(days=1)
    scope = Scope(user_id="u1", session_id=f"t{number}")
    call = {"name": "archive.put", "args": {"file": "backup.tar"}, "id": f"c{number}"}
    messages: list[AnyMessage] = [
        HumanMessage(goal, id=f"ask{number}"),
        AIMessage("", id=f"plan{number}", tool_calls=[call]),
        ToolMessage(error, tool_call_id=f"c{number}", id=f"tool{number}", status="error"),
    ]
    if success:
        call = {"name": "archive.put_parts", "args": {"file": "backup.tar", "parts": 4}, "id": f"d{number}"}
        messages += [
            AIMessage("In parts, then.", id=f"other{number}", tool_calls=[call]),
            ToolMessage("stored", tool_call_id=f"d{number}", id=f"stored{number}"),
        ]
    memory.annotate([*messages, AIMessage("That is how it went.", id=f"said{number}")], scope=scope)
    memory.outcome(scope=scope, success=success, feedback=feedback, error="" if success else error)
    memory.settle(scope=scope)


def episodes(memory: HindsightMemory) -> list[MemoryUnit]:
    return [unit for unit in memory.units(scope="u1") if unit.kind is Kind.EPISODE and not unit.raw]


def test_the_same_failure_again_is_counted_on_the_episode_that_tells_of_it(memory: HindsightMemory, clock: FakeClock):
    attempt(memory, clock, 1, FULL)
    (first,) = episodes(memory)
    for number in (2, 3):
        attempt(memory, clock, number, FULL_AGAIN)
    (again,) = episodes(memory)
    assert (again.id, again.confirmations, again.content) == (first.id, first.confirmations + 2, first.content)
    assert again.importance > first.importance
    assert (again.moment - first.moment).days == 2
    assert {"tool1", "tool2", "tool3"} <= set(again.sources)


def test_the_report_of_a_repeated_failure_names_that_episode(memory: HindsightMemory, clock: FakeClock):
    for number in (1, 2):
        attempt(memory, clock, number, FULL)
    assert len({report.episode_id for report in memory.annotations(scope="u1")}) == 1


def test_a_new_way_to_fail_is_a_new_episode(memory: HindsightMemory, clock: FakeClock):
    attempt(memory, clock, 1, FULL)
    attempt(memory, clock, 2, REFUSED)
    assert sorted(unit.episode.error for unit in episodes(memory) if unit.episode) == sorted([FULL, REFUSED])


def test_the_same_error_with_another_correction_is_a_new_episode(memory: HindsightMemory, clock: FakeClock):
    attempt(memory, clock, 1, FULL, feedback="No, delete the backups of 2023 first!")
    attempt(memory, clock, 2, FULL, feedback="No, use the second archive on port 8022!")
    assert len(episodes(memory)) == 2


def test_a_failure_that_was_put_right_this_time_is_a_new_episode(memory: HindsightMemory, clock: FakeClock):
    attempt(memory, clock, 1, FULL)
    attempt(memory, clock, 2, FULL, success=True)
    assert sorted(str(unit.episode.success) for unit in episodes(memory) if unit.episode) == ["False", "True"]


def test_a_step_that_fails_in_a_new_way_is_an_episode_though_the_goal_is_known_and_reached(
    memory: HindsightMemory, clock: FakeClock
):
    attempt(memory, clock, 1, FULL, success=True)
    attempt(memory, clock, 2, REFUSED, success=True)
    assert len(episodes(memory)) == 2


def test_another_goal_is_another_episode(memory: HindsightMemory, clock: FakeClock):
    attempt(memory, clock, 1, FULL)
    attempt(memory, clock, 2, FULL, goal="Print twelve name tags for the guests.")
    assert len(episodes(memory)) == 2


def test_telling_the_outcome_of_one_task_twice_counts_it_once(memory: HindsightMemory, clock: FakeClock):
    attempt(memory, clock, 1, FULL)
    attempt(memory, clock, 2, FULL)
    before = episodes(memory)
    scope = Scope(user_id="u1", session_id="t2")
    memory.outcome(scope=scope, success=False, error=FULL_AGAIN)
    memory.settle(scope=scope)
    assert len(memory.annotations(scope="u1")) == 2
    assert [unit.confirmations for unit in episodes(memory)] == [unit.confirmations for unit in before]
