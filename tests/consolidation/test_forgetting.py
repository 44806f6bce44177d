"""Forgetting by age, forgetting on request, bringing back (SPEC F7; CASES O11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.forget_request import read_forget_request
from hindsight_langgraph.consolidation.forgetting import find_forgettable
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Precision, Status, Tier, TimeAnchor
from tests.clock import FakeClock
from tests.consolidation.scene import id_of, later, store, unit
from tests.memory.opening import open_memory

PHONE = "Forget what I told you about my phone."


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def contents(memory: HindsightMemory, user: str = "u1") -> set[str]:
    return {one.content for one in memory.units(scope=user)}


def forgotten(*units: MemoryUnit, day: float = 0) -> list[tuple[str, str]]:
    found = find_forgettable(units, now=later(day), config=ConsolidationConfig())
    return [(change.verb, change.text) for change in found]


def test_old_units_that_nobody_recalled_are_archived_and_recalled_or_younger_ones_are_not():
    units = [unit("old", day=-91), unit("old, recalled", day=-91, references=3), unit("young", day=-80)]
    assert forgotten(*units) == [("archive", "old")]


def test_an_unimportant_unit_weighs_less_after_a_month_and_only_once():
    weak = unit("weak", day=-40, importance=0.2, base_importance=0.2)
    assert forgotten(weak) == [("adjust", "weak")]
    assert forgotten(weak.model_copy(update={"tier": Tier.ARCHIVE})) == []


@pytest.mark.parametrize(
    "exempt",
    [
        {"tier": Tier.CORE},
        {"importance": 0.85},
        {"role": CausalRole.DIRECT_CAUSE},
        {"anchor": TimeAnchor(start=later(3), end=later(4), precision=Precision.DAY)},
    ],
)
def test_core_important_decisive_and_coming_units_are_never_forgotten(exempt: dict[str, Any]):
    assert forgotten(unit("kept", day=-400, **exempt)) == []


def test_what_was_archived_is_not_recalled_but_can_be_brought_back(memory: HindsightMemory):
    store(memory, unit("The spare key hangs behind the boiler", id="key", day=-100))
    assert memory.consolidate(scope="u1").archived == 1
    assert memory.recall("where does the spare key hang?", scope="u1").units == ()
    assert [one.content for one in memory.archived(scope="u1")] == ["The spare key hangs behind the boiler"]
    assert memory.bring_back([id_of("key")], scope="u1") == 1
    assert [one.status for one in memory.units(scope="u1")] == [Status.ACTIVE]
    assert memory.archived(scope="u1") == []
    assert memory.consolidate(scope="u1", everything=True).archived == 0


def test_forgetting_in_words_takes_the_thing_and_not_its_neighbours(memory: HindsightMemory, clock: FakeClock):
    for text in ("I swim every Monday", "I am allergic to penicillin", "My phone number ends in 4417"):
        memory.remember([("user", text)], scope="u1", at=clock.advance(minutes=1))
    before = contents(memory)
    assert memory.forget_that(PHONE, scope="u1") == 1
    assert len(before - contents(memory)) == 1
    assert "4417" not in str(contents(memory))
    assert "4417" not in memory.recall("what does my phone number end in?", scope="u1").text
    assert memory.forget_that("Forget what I told you about my submarine", scope="u1") == 0


def test_a_user_who_says_so_in_conversation_is_obeyed(memory: HindsightMemory, clock: FakeClock):
    memory.remember([("user", "I swim every Monday"), ("user", "My phone number ends in 4417")], scope="u1", at=clock.now())
    memory.remember([("user", PHONE)], scope="u1", at=clock.advance(minutes=1))
    assert "phone" not in str(contents(memory)).lower()
    assert any("swim" in text for text in contents(memory))


def test_what_was_forgotten_is_not_written_again_by_a_replay_or_a_consolidation(memory: HindsightMemory, clock: FakeClock):
    turns = [{"role": "user", "content": "My phone number ends in 4417", "id": "m1"}]
    memory.remember(turns, scope="u1", at=clock.now())
    memory.forget_that(PHONE, scope="u1")
    memory.remember(turns, scope="u1", at=clock.now())
    memory.consolidate(scope="u1", everything=True)
    assert contents(memory) == set()


def test_forgetting_reaches_twins_cold_copies_and_summaries_which_are_built_anew(memory: HindsightMemory):
    story = [
        unit(f"Ledger step {i} done by {name}", id=f"s{i}", day=i, kind=Kind.TASK_STATE, entities=("ledger",), session_id=f"t{i}")
        for i, name in enumerate(("Ann", "Bo", "Cy", "Dee", "Eve"))
    ]
    store(memory, *story)
    memory.consolidate(scope="u1", passes=("summaries",))
    assert "Bo" in str([one.content for one in memory.units(scope="u1") if "summary" in one.tags])
    assert memory.forget([id_of("s1")], scope="u1") == 1
    summaries = [one for one in memory.units(scope="u1") if "summary" in one.tags]
    assert len(summaries) == 1
    assert "Bo" not in summaries[0].content
    assert "Ann" in summaries[0].content
    memory.forget([id_of("s2"), id_of("s3")], scope="u1")
    assert not [one for one in memory.units(scope="u1") if "summary" in one.tags]


def test_a_merged_twin_goes_with_the_unit_that_took_it_over(memory: HindsightMemory):
    store(
        memory,
        unit("The safe code is 9911", id="a"),
        unit("The safe code is 9911", id="b", day=1),
        unit("The safe is green", id="c", sources=("turn-x",)),
    )
    assert memory.consolidate(scope="u1").merged == 1
    assert memory.forget([id_of("a")], scope="u1") == 1
    assert contents(memory) == {"The safe is green"}


def test_another_users_units_are_never_forgotten(memory: HindsightMemory):
    store(memory, unit("My phone is red", user="u2"))
    assert memory.forget_that(PHONE, scope="u1") == 0
    assert contents(memory, "u2") == {"My phone is red"}


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        (PHONE, ("phone",)),
        ("Please delete everything you know about my salary", ("salari",)),
        ("请忘掉我说过的密码", ("密码",)),
        ("把我的电话忘掉", ("电话",)),
        ("Forget that.", ()),
    ],
)
def test_a_request_to_forget_is_read_in_both_languages(words: str, topic: tuple[str, ...]):
    request = read_forget_request(words)
    assert request is not None
    assert request.topic == topic


@pytest.mark.parametrize(
    "words", ["Don't forget to call Ann", "I forgot my keys", "忘了带伞", "别忘了关灯", "What did I forget?", "Buy milk"]
)
def test_other_talk_of_forgetting_is_no_request(memory: HindsightMemory, words: str):
    assert read_forget_request(words) is None
    with pytest.raises(CallError):
        memory.forget_that(words, scope="u1")


def test_figures_of_speech_delete_nothing(memory: HindsightMemory, clock: FakeClock):
    memory.remember([("user", "My deadline is 3 April 2025")], scope="u1", at=clock.now())
    memory.remember([("user", "Forget the deadline for a moment, how are you?")], scope="u1", at=clock.advance(minutes=1))
    assert any("deadline" in text for text in contents(memory))
