"""The kind of plain statements, wishes, steps and reminders."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_langgraph.records import Kind, Status
from tests.memory.opening import open_memory

PLAIN = [
    ("The attic has a skylight.", Kind.FACT),
    ("Project Osprey ships on Mondays.", None),
    ("Before a long journey you check the oil, fill the tank and only then load the car.", Kind.PROCEDURE),
    ("The code for the gate is under the mat, don't pass it on.", Kind.FACT),
]


@pytest.mark.parametrize("embeddings", ["hash", "local"])
def test_plain_statements_are_kept_with_their_kind(tmp_path: Path, embeddings: str) -> None:
    with open_memory(tmp_path, embeddings=embeddings) as memory:
        for number, (text, kind) in enumerate(PLAIN):
            (report,) = memory.explain([{"role": "user", "content": text, "id": f"m{number}"}], scope=f"ida-{number}")
            (turn,) = report.turns
            assert turn.kept, text
            assert kind is None or {statement.kind for statement in turn.statements} == {kind}, text


@pytest.mark.parametrize(
    "text", ["What a day.", "Write me a poem about snow.", "Show me that again, a bit shorter.", "今天好冷啊", "帮我翻译一下这段"]
)
def test_small_talk_and_requests_are_let_go(tmp_path: Path, text: str) -> None:
    with open_memory(tmp_path, embeddings="local") as memory:
        (report,) = memory.explain([{"role": "user", "content": text, "id": "m1"}], scope="ida")
    assert not report.turns[0].kept


@pytest.mark.parametrize(
    ("habit", "end"),
    [
        ("我每天早上喝一壶绿茶，那会儿别约人", "我不再喝绿茶了，医生不让"),
        ("I drink two coffees every afternoon, so no calls then.", "I no longer drink coffee."),
    ],
)
def test_a_habit_in_a_compound_sentence_is_ended(tmp_path: Path, habit: str, end: str) -> None:
    with open_memory(tmp_path) as memory:
        for number, text in enumerate((habit, end)):
            memory.remember([{"role": "user", "content": text, "id": f"m{number}"}], scope="ida")
        units = memory.units(scope="ida", statuses=tuple(Status))
    assert [unit.status for unit in units if unit.sources == ("m0",)] == [Status.SUPERSEDED]
