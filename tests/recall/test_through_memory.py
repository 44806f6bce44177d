"""What a user of `memory.recall` is told of aliases, of the past, and of what held then."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.recollection import Standing
from tests.clock import NOON, FakeClock
from tests.memory.opening import open_memory
from tests.recall.test_walks import DAY, remember

MOVES = ((0, "I live in Tartu."), (20, "I moved to Riga."), (60, "I moved to Vilnius."))
MOVES_ZH = ((0, "我住在杭州。"), (20, "我搬到了成都。"))


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path, embeddings="local", clock=FakeClock(NOON + 90 * DAY)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Project Heron, also known as the Grey One, deploys on Fridays.", "When does the Grey One deploy?"),
        ("项目青垄，又叫老青，每周五发布。", "老青哪天发布？"),
    ],
)
def test_a_thing_is_found_by_the_other_name_that_the_user_taught(memory: HindsightMemory, told: str, question: str) -> None:
    remember(memory, ((0, told),))
    found = memory.recall(question, scope="u")
    assert found.cues.entities == found.units[0].entities[: len(found.cues.entities)]
    assert found.units[0].content == told
    assert found.items[0].terms["entity"] == 1.0


@pytest.mark.parametrize(("day", "city"), [(5, "Tartu"), (25, "Riga"), (70, "Vilnius")])
def test_as_of_a_day_what_held_on_it_is_told_as_current(memory: HindsightMemory, day: int, city: str) -> None:
    remember(memory, MOVES)
    found = memory.recall("Where do I live?", scope="u", as_of=NOON + day * DAY)
    assert city in found.units[0].content
    assert found.items[0].standing is Standing.CURRENT
    assert not any(name in found.text for name in {"Tartu", "Riga", "Vilnius"} - {city})


@pytest.mark.parametrize(
    ("moves", "question", "city"),
    [
        (MOVES, "Where did I use to live?", "Tartu"),
        (MOVES, "Where did I live before Riga?", "Tartu"),
        (MOVES_ZH, "我以前住在哪里？", "杭州"),
    ],
)
def test_what_used_to_be_is_marked_as_history(
    memory: HindsightMemory, moves: tuple[tuple[int, str], ...], question: str, city: str
) -> None:
    remember(memory, moves)
    line = next(line for line in memory.recall(question, scope="u").text.splitlines() if city in line)
    assert "history, no longer true since" in line
