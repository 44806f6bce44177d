"""What is forgotten is in no store any more, also where others quote it (SPEC F7; CASES O11)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight_langgraph import keys
from hindsight_langgraph.consolidation.quoting import quotes
from hindsight_langgraph.errors import ModelUnavailable, StoreUnavailable
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.ops import AppendLog, FetchUnits, ListKeys, LogEntry, ReadFields, ReadLog, Where
from hindsight_langgraph.records import Kind, Role, Scope
from tests.clock import NOON, FakeClock
from tests.consolidation.scene import id_of, store, unit
from tests.memory.opening import open_memory

ANN = Scope(user_id="u1", session_id="s1", task_id="t1")
LOGS = {
    KeyKind.SESSION,
    KeyKind.PENDING,
    KeyKind.RECALL_LOG,
    KeyKind.TRAJECTORY,
    KeyKind.HELD,
    KeyKind.HISTORY,
    KeyKind.ANNOTATION,
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=FakeClock(NOON)) as opened:
        yield opened


def turn(name: str, role: str, text: str) -> dict[str, str]:
    return {"id": name, "role": role, "content": text}


def everything(memory: HindsightMemory) -> str:
    """All that the stores hold of the user, as text."""
    units = [one.model_dump_json() for one in (*memory.units(scope="u1"), *memory.archived(scope="u1"))]
    held: list[str] = []
    for key in memory._runtime.answer(ListKeys(owner=ANN.owner)):
        held += _content(memory, key)
    return "\n".join([*units, *held])


def _content(memory: HindsightMemory, key: Key) -> list[str]:
    if key.kind in LOGS:
        return [entry.body.decode() for entry in memory._runtime.answer(ReadLog(key=key))]
    return [f"{name} {value.decode()}" for name, value in memory._runtime.answer(ReadFields(key=key)).items()]


def test_an_answer_that_repeated_it_and_the_memory_said_after_it_are_cleaned_too(memory: HindsightMemory):
    said = [
        turn("a1", "user", "My phone number ends in 4417"),
        turn("a2", "assistant", "Noted: your phone ends in 4417."),
        turn("a3", "user", "I swim every Monday"),
    ]
    memory.annotate(said, scope=ANN)
    memory.settle()
    memory.recall("what does my phone number end in?", scope=ANN)
    assert "4417" in everything(memory)
    assert memory.forget_that("Forget what I told you about my phone number.", scope=ANN) == 1
    assert "4417" not in everything(memory)
    assert "4417" not in memory.recall("what does my phone number end in?", scope=ANN).text
    assert "swim" in everything(memory)
    memory.remember(said, scope=ANN, at=NOON + timedelta(minutes=9))
    memory.consolidate(scope="u1", everything=True)
    assert "4417" not in everything(memory)


def test_an_echo_that_was_remembered_and_an_episode_that_tells_it_go_with_it(memory: HindsightMemory):
    store(
        memory,
        unit("The safe code is 991144", id="code", session_id="s1"),
        unit("Your safe code 991144 is noted", id="echo", session_id="s1", speaker=Role.ASSISTANT),
        unit(
            "Opened the safe with code 991144 → success", id="episode", session_id="s1", kind=Kind.EPISODE, speaker=Role.ASSISTANT
        ),
        unit("The safe is green", id="green", session_id="s1", preceding="The safe code is 991144"),
    )
    assert memory.forget([id_of("code")], scope="u1") == 1
    assert [one.content for one in memory.units(scope="u1")] == ["The safe is green"]
    assert "991144" not in everything(memory)


def test_a_turn_that_waits_to_be_written_does_not_bring_it_back(tmp_path: Path):
    chat = ScriptedChat([ModelUnavailable("down")] * 9)
    with open_memory(tmp_path, clock=FakeClock(NOON), chat_model=chat) as memory:
        store(memory, unit("My phone number ends in 4417", id="phone", session_id="s1"))
        memory.remember([turn("b1", "user", "My phone number ends in 4417, did you know?")], scope=ANN, at=NOON)
        memory.forget([id_of("phone")], scope=ANN)
        assert memory._runtime.answer(ReadLog(key=keys.pending(ANN))) == []
        assert "4417" not in everything(memory)


def test_a_memory_that_waits_for_approval_can_be_forgotten(tmp_path: Path):
    with open_memory(tmp_path, clock=FakeClock(NOON), write={"policies": {Kind.FACT: "ask", Kind.PREFERENCE: "ask"}}) as memory:
        memory.remember([turn("c1", "user", "My phone number ends in 4417")], scope=ANN, at=NOON)
        assert memory.units(scope="u1") == []
        assert memory.forget_that("Forget what I told you about my phone number.", scope=ANN) == 1
        assert "4417" not in everything(memory)


def test_of_a_turn_that_said_two_things_the_other_one_stays(memory: HindsightMemory):
    said = [turn("f1", "user", "I skate on Fridays with my daughter. My phone number ends in 4417.")]
    memory.remember(said, scope=ANN, at=NOON)
    assert memory.forget_that("Forget what I told you about my phone number.", scope=ANN) == 1
    assert "4417" not in everything(memory)
    assert "I skate on Fridays with my daughter." in [one.content for one in memory.units(scope="u1")]
    memory.remember(said, scope=ANN, at=NOON + timedelta(minutes=3))
    assert "4417" not in everything(memory)


def test_what_hindsight_noted_of_it_is_blanked_and_its_history_goes(memory: HindsightMemory):
    store(memory, unit("The safe code is 991144", id="code", session_id="s1"))
    report = LogEntry(id="t1", at=NOON, body=b'{"case": "t1", "reason": "the code 991144 was used", "judgements": []}')
    event = LogEntry(id="e1", at=NOON, body=b'{"reason": "told the user 991144"}')
    memory._runtime.answer(AppendLog(key=keys.judged(ANN), entries=(report,)))
    memory._runtime.answer(AppendLog(key=keys.history(ANN.owner, id_of("code")), entries=(event,)))
    memory.forget([id_of("code")], scope=ANN)
    [kept] = memory._runtime.answer(ReadLog(key=keys.judged(ANN)))
    assert kept.body == b'{"case": "t1", "reason": "(forgotten)", "judgements": []}'
    assert "991144" not in everything(memory)


def test_other_names_that_it_taught_are_unlearnt(memory: HindsightMemory):
    memory.remember([turn("d1", "user", "My colleague Barnaby Quill is also known as Quillfeather.")], scope=ANN, at=NOON)
    assert memory._runtime.answer(ReadFields(key=keys.aliases(ANN)))
    memory.forget([one.id for one in memory.units(scope="u1")], scope=ANN)
    assert memory._runtime.answer(ReadFields(key=keys.aliases(ANN))) == {}


def test_forgetting_that_was_cut_short_can_be_done_again(memory: HindsightMemory):
    store(memory, unit("The safe code is 991144", id="code", session_id="s1"))
    long_term = memory._runtime.long_term
    answer = long_term.run

    def failing(op: object) -> object:
        if type(op).__name__ == "DeleteUnits":
            raise StoreUnavailable("cut short")
        return answer(op)  # type: ignore[arg-type]  # any op

    long_term.run = failing  # type: ignore[method-assign,assignment]
    with pytest.raises(StoreUnavailable):
        memory.forget([id_of("code")], scope=ANN)
    long_term.run = answer  # type: ignore[method-assign]
    memory.clock.advance(minutes=1)  # type: ignore[attr-defined]  # the clock of a test
    assert memory.forget([id_of("code")], scope=ANN) == 1
    assert memory._runtime.answer(FetchUnits(where=Where(owners=(ANN.owner,), ids=(id_of("code"),)))) == []


def test_users_keep_what_others_forget(memory: HindsightMemory):
    store(memory, unit("The safe code is 991144", id="mine", session_id="s1"))
    store(memory, unit("Your safe code 991144 is noted", id="theirs", user="u2", session_id="s1", speaker=Role.ASSISTANT))
    memory.forget([id_of("mine")], scope="u1")
    assert len(memory.units(scope="u2")) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Noted: your phone ends in 4417.", "My phone number ends in 4417"),
        ("OK, 4417 it is!", "My phone number ends in 4417"),
        ("好的，您的密码是蓝鲸。", "我的密码是蓝鲸"),
        ("I will write to ilse@example.com", "My address is ilse@example.com"),
    ],
)
def test_an_echo_is_told_by_its_words_or_its_number(text: str, said: str):
    assert quotes(text, [unit(said)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Swimming on Monday again?", "My phone number ends in 4417"),
        ("Your order 4471 is late", "My phone number ends in 4417"),
        ("We met in 2025", "The fair is on 8 November 2025"),
        ("I like green tea", "I like black coffee"),
        ("我的邮箱换了", "我的密码是蓝鲸"),
    ],
)
def test_what_merely_has_a_word_in_common_is_no_echo(text: str, said: str):
    assert not quotes(text, [unit(said)])
