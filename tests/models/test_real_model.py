"""A real, very small model over HTTP reads turns and judges tasks: what must hold whatever it says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from hindsight_langgraph.annotation.judge import VOTES
from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.prompts import SCHEMA
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Scope
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of
from tests.small_model import ANSWER_TOKENS, NAME, PATIENCE_S, Recorder, recording, serving_small_model

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

FACT = "I'm allergic to peanuts, remember that."
SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


@pytest.fixture(scope="module")
def small_model() -> Iterator[str]:
    with serving_small_model() as url:
        yield url


@pytest.fixture
def recorder(small_model: str) -> Iterator[Recorder]:
    with recording(small_model) as between:
        yield between


@pytest.fixture
def memory(tmp_path: Path, recorder: Recorder) -> Iterator[HindsightMemory]:
    """A memory whose chat model is named by its settings, as from the environment."""
    settings: dict[str, Any] = {
        "chat_model": f"openai:{NAME}",
        "openai_base_url": recorder.url,
        "openai_api_key": "of no use",
        "chat_timeout_s": PATIENCE_S,
        "chat_concurrency": 1,
        "write": WriteConfig(answer_tokens=ANSWER_TOKENS),
    }
    with open_memory(tmp_path, **settings) as opened:
        yield opened


def answers(recorder: Recorder) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Each request with its answer; None for one that reached its limit before it was whole."""
    found = []
    assert len(recorder.sent) == len(recorder.answered)
    for sent, (status, body) in zip(recorder.sent, recorder.answered, strict=True):
        assert status == 200, body
        reply = json.loads(body)
        assert reply["timings"]["predicted_ms"] > 0  # a model was at work
        choice = reply["choices"][0]
        found.append(
            (json.loads(sent), None if choice["finish_reason"] == "length" else json.loads(choice["message"]["content"]))
        )
    return found


def schema_sent(request: dict[str, Any]) -> dict[str, Any]:
    return dict(request["response_format"]["json_schema"]["schema"])


def obeys(value: Any, schema: Any) -> bool:
    """Whether a JSON value has the form of a schema, as far as our schemas say."""
    match schema.get("type"):
        case "object":
            return set(value) == set(schema["required"]) and all(obeys(value[name], schema["properties"][name]) for name in value)
        case "array":
            return all(obeys(item, schema["items"]) for item in value)
        case "string":
            return isinstance(value, str) and value in schema.get("enum", [value])
        case "boolean":
            return isinstance(value, bool)
        case _:
            return isinstance(value, int | float)


def check_reading(memory: HindsightMemory, recorder: Recorder, report: WriteReport, texts: list[str]) -> None:
    """The schema was obeyed or the answer refused; what was said is stored either way, with its own words as the source."""
    for request, answer in answers(recorder):
        assert schema_sent(request) == json.loads(json.dumps(SCHEMA))
        assert answer is None or obeys(answer, SCHEMA)
    assert report.model_calls == len(recorder.sent) >= len(texts)
    units = memory.units(scope="u1")
    for text, fate in zip(texts, report.turns, strict=True):
        of_turn = [unit for unit in units if fate.turn_id in unit.sources]
        assert of_turn
        assert all(unit.source_text == text for unit in of_turn)
        assert not fate.failed or all(unit.raw and unit.content == text for unit in of_turn)


def test_turns_are_read_under_the_schema_or_kept_raw_and_no_secret_is_sent(memory: HindsightMemory, recorder: Recorder):
    secretive = f"My key is {SECRET}, keep it for the billing service."
    (report,) = memory.remember([("user", FACT), ("user", secretive)], scope="u1")
    check_reading(memory, recorder, report, [FACT, secretive.replace(SECRET, "[redacted]")])
    sent = b"".join(recorder.sent)
    assert b"[redacted]" in sent
    assert SECRET.encode() not in sent
    assert SECRET not in str(memory.units(scope="u1"))


async def test_the_same_on_a_running_loop(memory: HindsightMemory, recorder: Recorder):
    (report,) = await memory.aremember([("user", FACT)], scope="u1")
    check_reading(memory, recorder, report, [FACT])


def test_a_turn_of_a_graph_does_not_wait_for_the_model(memory: HindsightMemory, recorder: Recorder):
    recorder.open.clear()  # no answer comes back before this is set again
    state = build(memory).invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    assert len(state["messages"]) == 2
    assert recorder.answered == []
    recorder.open.set()
    assert memory.settle(timeout_s=PATIENCE_S)
    assert len(recorder.answered) >= 1
    assert any(unit.source_text == FACT for unit in memory.units(scope="u1"))


def test_votes_on_what_the_rules_are_not_sure_of_decide_by_majority(memory: HindsightMemory, recorder: Recorder):
    scope = Scope(user_id="u1", session_id="t1")
    memory.note("My locker number is 42.", scope=scope)
    read = len(recorder.sent)
    found = memory.recall("What is my locker number?", scope=scope)
    assert found.units
    memory.annotate([("user", "What is my locker number?"), ("assistant", "I do not know.")], scope=scope, recollection=found)
    assert memory.settle(scope=scope, timeout_s=PATIENCE_S)
    memory.outcome(scope=scope, success=True)
    assert memory.settle(scope=scope, timeout_s=PATIENCE_S)
    votes = [pair for pair in answers(recorder)[read:] if "judgements" in schema_sent(pair[0])["properties"]]
    assert len(votes) == VOTES
    (report,) = memory.annotations(scope=scope)
    asked = json.loads(votes[0][0]["messages"][1]["content"])["judge"]
    assert report.asked == len(asked) > 0
    assert all(answer is None or obeys(answer, schema_sent(request)) for request, answer in votes)
    assert all(request["temperature"] > 0 for request, _ in votes)
    for judgement in report.judgements:
        cast = Counter(
            (vote["role"], vote["effect"])
            for _, answer in votes
            if answer
            for vote in answer["judgements"]
            if vote["id"] == judgement.ref
        )
        won = next((verdict for verdict, count in cast.items() if count >= 2), None)
        assert judgement.by == ("model" if won else "rules")
        assert won in (None, (judgement.role, judgement.effect))
