"""CASES O01 to O06: a chat model answers in every shape but the right one, seen from the memory's own door."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.encoding.report import WriteReport, WriteStatus
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.ops import Answer
from hindsight_langgraph.records import MemoryUnit, Scope, Status
from hindsight_langgraph.working.pending import read_pending
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of

SAID = "I prefer to keep it that way: I live in Porto, I ride a bicycle, I have a dog and I work in team Kite."
PORTO = '{"subject":"user","attribute":"city","value":"Porto"}'


def fact(attribute: str, value: str) -> str:
    return json.dumps({"facts": [{"subject": "user", "attribute": attribute, "value": value}]})


class Written:
    """What one turn became after a scripted answer."""

    def __init__(self, path: Path, chat: Any, *, said: str = SAID) -> None:
        with open_memory(path, chat_model=chat, consolidation=ConsolidationConfig(in_process=False)) as memory:
            (report,) = memory.remember([("user", said)], scope="u1")
            self.report: WriteReport = report
            self.units: list[MemoryUnit] = memory.units(scope="u1")
            self.pending = waiting(memory)

    @property
    def values(self) -> list[str]:
        """Values of the statements that were read."""
        return [unit.triple.value for unit in self.units if unit.triple is not None]


def waiting(memory: HindsightMemory) -> list[int]:
    """How often each pending turn of u1 has failed."""
    return [waits.attempts for waits in memory._run(read_pending(Scope(user_id="u1")))]


def written(path: Path, *answers: str | Answer, said: str = SAID) -> tuple[Written, ScriptedChat]:
    chat = ScriptedChat(answers)
    return Written(path, chat, said=said), chat


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure, this is what I found:\n```json\n{fact('commute', 'bicycle')}\n```\nShall I look for more?",
        f"Sure, this is what I found:\n```\n{fact('commute', 'bicycle')}\n```\nShall I look for more?",
        f"Sure, this is what I found:\r\n```JSON\r\n{fact('commute', 'bicycle')}\r\n```\r\nShall I look for more?",
        f"<think>Maybe {fact('pet', 'cat')}? No, the bicycle.</think>{fact('commute', 'bicycle')}",
        f"...no, the bicycle.</think>\n{fact('commute', 'bicycle')}",
        f"<thought>Maybe {fact('pet', 'cat')}? No, the bicycle.</thought>{fact('commute', 'bicycle')}",
        '[{"subject":"user","attribute":"commute","value":"bicycle"}]',
        '{"facts":{"subject":"user","attribute":"commute","value":"bicycle"}}',
        '{"memory list":[{"entity":"user","attr":"commute","val":"bicycle"}]}',
    ],
)
def test_a_wrapped_fact_is_stored_once_and_needs_one_call(tmp_path: Path, answer: str) -> None:
    done, chat = written(tmp_path, answer)
    assert (done.report.status, done.values, done.pending, len(chat.asked)) == (WriteStatus.OK, ["bicycle"], [], 1)


@pytest.mark.parametrize("value", ["writes ```bash blocks", "<think>"])
def test_marks_inside_a_value_are_stored_verbatim(tmp_path: Path, value: str) -> None:
    done, _ = written(tmp_path, fact("note", value), said=f"I prefer it so, always: {value}")
    assert done.values == [value]


@pytest.mark.parametrize(
    "answer",
    [
        f"<think>They mention a pet. Draft {fact('pet', 'cat')} hmm",
        '{"facts":["user is in team Kite"]}',
        "{}\n \n \n\n",
        Answer(text="", finish_reason="stop"),
    ],
)
def test_an_unusable_answer_leaves_the_turn_whole_and_pending(tmp_path: Path, answer: str | Answer) -> None:
    done, chat = written(tmp_path, answer, answer)
    assert (done.report.status, done.pending, len(chat.asked)) == (WriteStatus.FAILED, [1], 2)
    assert [(unit.raw, unit.content) for unit in done.units] == [(True, SAID)]


def test_a_pending_turn_is_read_again_by_the_next_full_pass(tmp_path: Path) -> None:
    chat = ScriptedChat(["{}", "{}", fact("city", "Porto"), *["{}"] * 9])
    with open_memory(tmp_path, chat_model=chat, consolidation=ConsolidationConfig(in_process=False)) as memory:
        memory.remember([("user", SAID)], scope="u1")
        memory.consolidate(scope="u1")
        assert waiting(memory) == []
        active = [unit for unit in memory.units(scope="u1") if unit.status is Status.ACTIVE]
        assert [unit.triple.value for unit in active if unit.triple] == ["Porto"]


def test_good_items_are_kept_and_bad_ones_counted(tmp_path: Path) -> None:
    done, _ = written(tmp_path, f'{{"facts":[{PORTO},{{"subject":"user"}},null,7]}}')
    assert (done.report.status, done.report.rejected, done.values) == (WriteStatus.PARTIAL, 3, ["Porto"])


def test_nothing_to_remember_is_settled_at_once(tmp_path: Path) -> None:
    done, chat = written(tmp_path, '{"facts":[]}')
    assert (done.report.status, done.units, done.pending, len(chat.asked)) == (WriteStatus.OK, [], [], 1)


def test_an_answer_in_the_reasoning_field_is_stored(tmp_path: Path) -> None:
    done, _ = written(tmp_path, Answer(text="", reasoning=fact("city", "Porto")))
    assert done.values == ["Porto"]


CUT = Answer(text=f'{{"facts":[{PORTO},{{"subject":"user","attribute":"job","value":"night nur', finish_reason="length")


def test_a_cut_answer_is_asked_for_with_more_room_and_its_stump_is_stored_nowhere(tmp_path: Path) -> None:
    done, chat = written(tmp_path, CUT, CUT)
    assert chat.asked[1].max_tokens > chat.asked[0].max_tokens
    assert (done.report.status, done.values) == (WriteStatus.PARTIAL, ["Porto"])
    assert not any("night nur" in unit.model_dump_json() for unit in done.units)


def test_a_turn_whose_answer_stays_cut_is_kept_as_it_was_said_besides(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="hindsight_langgraph"):
        done, _ = written(tmp_path, CUT, CUT)
    assert [unit.content for unit in done.units if unit.raw] == [SAID]
    assert all(unit.status is Status.ACTIVE for unit in done.units)
    assert done.pending == []  # nothing waits: what is known is stored, and asking once more would be cut once more
    (fate,) = done.report.turns
    assert (fate.cut, fate.failed) == (True, False)
    assert [record.getMessage() for record in caplog.records] == [
        "the chat model's answers about 1 turns were cut short, even with twice the room; what was whole is stored, and the turns "
        "as they were said; raise write.answer_tokens (1200)"
    ]


def test_an_answer_that_is_whole_with_more_room_leaves_no_raw_turn(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    done, _ = written(tmp_path, CUT, f'{{"facts":[{PORTO}]}}')
    assert (done.report.status, done.values) == (WriteStatus.OK, ["Porto"])
    assert not any(unit.raw for unit in done.units)
    assert not caplog.records


def test_a_failed_turn_whose_next_reading_is_cut_stays_as_it_was_said(tmp_path: Path) -> None:
    chat = ScriptedChat(["{}", "{}", CUT, CUT, *["{}"] * 9])
    with open_memory(tmp_path, chat_model=chat, consolidation=ConsolidationConfig(in_process=False)) as memory:
        memory.remember([("user", SAID)], scope="u1")
        memory.consolidate(scope="u1")
        assert waiting(memory) == []
        active = [unit for unit in memory.units(scope="u1") if unit.status is Status.ACTIVE]
    assert [unit.content for unit in active if unit.raw] == [SAID]
    assert [unit.triple.value for unit in active if unit.triple] == ["Porto"]


class Silent(BaseChatModel):
    """A chat model whose structured call returns None, and whose plain one says nothing."""

    @property
    def _llm_type(self) -> str:
        return "silent"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(""))])

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        return RunnableLambda(lambda _: None)


def test_a_structured_call_that_returns_none_leaves_the_turn_pending_and_the_graph_alone(tmp_path: Path) -> None:
    with open_memory(tmp_path, chat_model=Silent(), consolidation=ConsolidationConfig(in_process=False)) as memory:
        state = build(memory).invoke({"messages": [("user", SAID)]}, run_of("u1"))
        memory.settle()
        assert state["messages"][-1].text == "ok"
        assert waiting(memory) == [1]


DEFAULT = 0.7
"""What a fact starts with when its answer says nothing usable."""


def importances(path: Path, items: Sequence[dict[str, object]]) -> list[float]:
    whole = [{"subject": "user", "attribute": f"a{i}", "value": f"v{i}", "kind": "fact"} | item for i, item in enumerate(items)]
    done, _ = written(path, json.dumps({"facts": whole}))
    by_value = {unit.triple.value: unit.importance for unit in done.units if unit.triple is not None}
    return [by_value[f"v{i}"] for i in range(len(items))]


def test_an_importance_in_any_shape_is_stored_as_what_it_means(tmp_path: Path) -> None:
    shapes = {
        0.8: 0.8, "0.8": 0.8, "8/10": 0.8, "85%": 0.85, "Rating: 8 of 10": 0.8, "I weighed 6 aspects; importance: 0.7": 0.7,
        "importance of 6 aspects: 0.3": 0.3, "Importance (0-1): 0.6": 0.6, "2.0": 1.0, "high": 0.8, None: DEFAULT, "": DEFAULT,
        math.nan: DEFAULT, math.inf: DEFAULT, -1: 0.0,
    }  # fmt: skip
    found = importances(tmp_path, [{"importance": shape} for shape in shapes])
    assert dict(zip(shapes, found, strict=True)) == pytest.approx(shapes, nan_ok=True)


def test_twenty_facts_without_an_importance_have_the_one_of_their_kind(tmp_path: Path) -> None:
    assert importances(tmp_path, [{}] * 20 + [{"importance": True}]) == [DEFAULT] * 21


def test_records_that_the_model_invents_are_neither_changed_nor_stored(tmp_path: Path) -> None:
    changes = [
        {"action": "update", "id": "12", "subject": "user", "attribute": "pet", "value": "two parrots"},
        {"event": "DELETE", "id": "R9", "text": "The other one keeps geese."},
        {"action": "keep", "id": 1, "text": "The user has a parrot."},
        {"action": "add", "id": None, "subject": "user", "attribute": "sport", "value": "rowing"},
        {"subject": "user", "attribute": "city", "value": "Nice", "source": 7},
    ]
    chat = ScriptedChat([json.dumps({"changes": changes, "links": [{"cause": 7, "effect": 0}, {"cause": 1, "effect": 1}]})])
    with open_memory(tmp_path) as memory:
        memory.remember([("user", "I live in Lyon."), ("user", "I have a parrot.")], scope="u1")
        memory.remember([("user", "I keep geese, remember that.")], scope="u2")
        before, others = memory.units(scope="u1"), memory.units(scope="u2")
    with open_memory(tmp_path, chat_model=chat) as memory:
        (report,) = memory.remember([("user", "I row every morning, I prefer that sport.")], scope="u1")
        after = memory.units(scope="u1")
        assert memory.units(scope="u2") == others
    assert (report.status, report.rejected) == (WriteStatus.PARTIAL, 3)
    assert [unit.content for unit in after if unit.id not in {old.id for old in before}] == ["user sport: rowing"]
    assert [unit.status for unit in after] == [Status.ACTIVE] * len(after)
    assert not any(unit.related and not set(unit.related) <= {one.id for one in after} for unit in after)
