"""CASES O08 to O11: whose statement it is, what it ends, and what stays forgotten; by rules, at the memory's own door."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Scope, Status
from tests.clock import NOON, FakeClock
from tests.memory.opening import open_memory

THREAD, ANOTHER = Scope(user_id="u1", session_id="t1"), Scope(user_id="u1", session_id="t2")


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def tell(memory: HindsightMemory, *said: str | tuple[str, str]) -> list[dict[str, str]]:
    """Tell the memory turn by turn, a minute each. Returns the transcript."""
    turns = [("user", turn) if isinstance(turn, str) else turn for turn in said]
    transcript = [{"role": role, "content": text, "id": f"m{i}"} for i, (role, text) in enumerate(turns)]
    for i, message in enumerate(transcript):
        memory.remember([message], scope=THREAD, at=NOON + timedelta(minutes=i - 60))
    return transcript


def facts(memory: HindsightMemory, status: Status = Status.ACTIVE) -> set[tuple[str, str, str, bool]]:
    units = memory.units(scope=THREAD, statuses=[status])
    return {(t.subject, t.attribute, t.value, t.negated) for unit in units if (t := unit.triple) is not None}


def told(memory: HindsightMemory, question: str, scope: Scope = THREAD) -> str:
    return memory.recall(question, scope=scope).text


def test_a_flatmates_dislike_is_hers_and_advice_is_nobodys(memory: HindsightMemory) -> None:
    tell(
        memory,
        "My flatmate Bo can't stand mushrooms, so her mum sends her lentil soup.",
        ("assistant", "You could freeze it in small jars; glass works best."),
        "Good idea.",
    )
    assert facts(memory) == {("Bo", "likes", "mushrooms", True)}
    assert "jars" not in told(memory, "which foods does the user avoid?")


def test_what_someone_cannot_stand_is_no_liking(memory: HindsightMemory) -> None:
    tell(memory, "I can't stand liquorice.")
    assert facts(memory) == {("user", "likes", "liquorice", True)}


@pytest.mark.parametrize(
    ("before", "after", "question", "gone"),
    [
        ("I use Vim as my editor.", "I no longer use Vim.", "Which editor do I use?", "I use Vim as my editor"),
        ("我每天喝两杯咖啡。", "我不再喝咖啡了。", "我喝咖啡吗？", "我每天喝两杯咖啡"),
    ],
)
def test_what_ended_is_history_and_no_recall_tells_it_as_present(
    memory: HindsightMemory, before: str, after: str, question: str, gone: str
) -> None:
    tell(memory, before, after)
    assert [unit.content for unit in memory.units(scope=THREAD, statuses=[Status.SUPERSEDED])] == [before]
    for scope in (THREAD, ANOTHER):
        found = told(memory, question, scope)
        assert after.rstrip("。.") in found
        assert gone not in found


def test_do_not_forget_contradicts_nothing(memory: HindsightMemory) -> None:
    tell(memory, "The shed has a lock.")
    (before,) = memory.units(scope=THREAD)
    tell(memory, "The shed has a lock.", "Don't forget to lock the shed.")
    memory.consolidate(scope="u1")
    (after,) = memory.get([before.id], scope=THREAD)
    assert (after.status, after.importance, after.confidence) == (Status.ACTIVE, before.importance, before.confidence)


def test_not_disliking_is_no_dislike(memory: HindsightMemory) -> None:
    tell(memory, "I like tea.", "I don't dislike tea.")
    assert not any(value == "tea" and negated for _, _, value, negated in facts(memory))
    assert ("user", "likes", "tea", False) in facts(memory)


def test_a_second_instrument_stays_and_a_second_home_replaces_the_first(memory: HindsightMemory) -> None:
    tell(
        memory,
        "I live in Tartu.",
        "I play the oboe.",
        "I also play the viola.",
        "My brother lives in Narva.",
        "I moved to Riga last week.",
    )
    memory.consolidate(scope="u1")
    assert facts(memory) == {
        ("user", "lives_in", "Riga", False),
        ("user", "plays", "oboe", False),
        ("user", "plays", "viola", False),
        ("brother", "lives_in", "Narva", False),
    }
    (history,) = memory.units(scope=THREAD, statuses=[Status.SUPERSEDED])
    assert (history.content, history.valid_to is not None) == ("I live in Tartu.", True)
    for scope in (THREAD, ANOTHER):
        for question in ("where does the user live?", "Where do I live?"):
            found = told(memory, question, scope)
            assert "Riga" in found
            assert "Tartu" not in found


def test_a_question_is_answered_by_the_statement_of_whom_and_what_it_asks(memory: HindsightMemory) -> None:
    tell(
        memory,
        "My brother lives in Narva.",
        "I have lived in Tartu all my life.",
        "I moved to Riga last week.",
        "Narva is a town.",
    )
    brother = memory.recall("Where does my brother live?", scope=ANOTHER)
    assert "Narva" in brother.units[0].content
    assert [item.terms["asked"] for item in brother.items if "Riga" in item.unit.content] in ([], [0.0])
    own = memory.recall("Where do I live?", scope=ANOTHER)
    assert [item.terms["asked"] for item in own.items if "Riga" in item.unit.content] == [1.0]


def test_what_was_forgotten_stays_so_and_its_neighbours_stay(memory: HindsightMemory) -> None:
    transcript = tell(
        memory, "I swim every Tuesday.", "I love to skate on the canal.", "I'm allergic to penicillin.", "My phone number ends in 4417."
    )  # fmt: skip
    phone = next(unit for unit in memory.units(scope=THREAD) if "4417" in unit.content)
    neighbours = {unit.content for unit in memory.units(scope=THREAD)} - {phone.content, "I love to skate on the canal."}
    assert memory.forget_that("Forget what I told you about my phone.", scope=THREAD) == 1
    assert memory.forget_that("The skating thing was a joke, drop it.", scope=THREAD) == 1
    assert memory.forget_that("Forget what I told you about my yacht.", scope=THREAD) == 0
    memory.remember(transcript, scope=THREAD, at=NOON)
    memory.consolidate(scope="u1", everything=True)
    assert memory.get([phone.id], scope=THREAD) == memory.archived(scope=THREAD) == []
    assert {unit.content for unit in memory.units(scope=THREAD)} == neighbours
    assert not any(word in told(memory, "What is my phone number, and do I skate?") for word in ("4417", "skate"))


def test_asked_in_conversation_the_thing_is_gone_and_so_is_the_request(memory: HindsightMemory) -> None:
    tell(
        memory,
        "My phone number ends in 4417.",
        "I love to skate on the canal.",
        "Forget what I told you about my phone.",
        "The skating thing was a joke, drop it.",
    )
    assert "phone" not in told(memory, "What is my phone number?")
    assert "love to skate" not in told(memory, "Do I skate?")
    assert "I love to skate on the canal." not in {u.content for u in memory.units(scope=THREAD, statuses=[Status.ACTIVE])}
