"""What the rules leave open goes to the chat model, and the report says how much that was (SPEC E2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from hindsight_langgraph.annotation.judge import VOTES
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import Answer, Complete
from hindsight_langgraph.records import Scope
from tests.memory.opening import open_memory

SCOPE = Scope(user_id="u1", session_id="t1")
VERDICTS = (("direct_cause", "positive"), ("noise", "none"), ("direct_cause", "positive"))


class StrictChat:
    """Answers by its schema, each vote in turn otherwise; refuses what a server of strict schemas refuses."""

    name = "strict"

    def __init__(self) -> None:
        self.asked: list[Complete] = []
        """Requests for votes."""

    def complete(self, op: Complete) -> Answer:
        refusals = [*_loose(dict(op.schema), "the schema")]
        refusals += ["no system message first"] * (op.messages[0].role != "system")
        refusals += ["a blank message"] * any(not message.text.strip() for message in op.messages)
        refusals += ["no room to answer in"] * (op.max_tokens < 1)
        refusals += ["a temperature out of range"] * (op.temperature is not None and not 0 <= op.temperature <= 2)
        if refusals:
            raise ValueError(f"400: {'; '.join(refusals)}")
        if not judges(op):
            return Answer(text="{}", finish_reason="stop")
        refs = json.loads(op.messages[1].text)["judge"]
        role, effect = VERDICTS[len(self.asked) % VOTES]
        self.asked.append(op)
        told = [{"id": ref, "reasoning": "so", "role": role, "effect": effect, "importance": 0.5} for ref in refs]
        return Answer(text=json.dumps({"judgements": told}), finish_reason="stop")

    async def acomplete(self, op: Complete) -> Answer:
        return self.complete(op)


def judges(op: Complete) -> bool:
    return "judgements" in cast("dict[str, Any]", op.schema.get("properties", {}))


def _loose(schema: dict[str, Any], where: str) -> Iterator[str]:
    """What strict mode finds wrong with a schema: every object closed, every property required."""
    if schema.get("type") == "object":
        properties = cast("dict[str, Any]", schema.get("properties", {}))
        if schema.get("additionalProperties") is not False:
            yield f"{where} is open"
        if sorted(schema.get("required", [])) != sorted(properties):
            yield f"{where} has optional properties"
        for name, inner in properties.items():
            yield from _loose(inner, f"{where}.{name}")
    elif schema.get("type") == "array":
        yield from _loose(schema["items"], f"{where}[]")
    elif "type" not in schema:
        yield f"{where} has no type"


@pytest.fixture
def chat() -> StrictChat:
    return StrictChat()


@pytest.fixture
def memory(tmp_path: Path, chat: StrictChat) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, chat_model=chat) as opened:
        yield opened


def test_a_strict_model_takes_every_request_and_the_majority_of_its_three_votes_decides(
    memory: HindsightMemory, chat: StrictChat
):
    memory.note("My locker number is 42.", scope=SCOPE)
    found = memory.recall("What is my locker number?", scope=SCOPE)
    memory.annotate([HumanMessage("What is my locker number?"), AIMessage("I do not know.")], scope=SCOPE, recollection=found)
    memory.outcome(scope=SCOPE, success=True)
    memory.settle(scope=SCOPE)
    (report,) = memory.annotations(scope=SCOPE)
    decided = [judgement for judgement in report.judgements if judgement.by == "model"]
    assert len(chat.asked) == VOTES
    assert {(judgement.role, judgement.effect) for judgement in decided} == {("direct_cause", "positive")}
    assert report.asked == len(decided) > 0
    assert report.model_share == len(decided) / len(report.judgements)
    assert f"{report.model_share:.0%}" in report.lines()[0]
