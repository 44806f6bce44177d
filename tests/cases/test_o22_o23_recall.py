"""CASES O22 and O23: clocks that disagree, and the budget of what is injected, seen from the memory's own door."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from tests.clock import NOON, FakeClock
from tests.consolidation.scene import store, unit
from tests.memory.opening import open_memory


def words(text: str) -> int:
    return len(text.split())


def with_budget(path: Path, budget: int, lengths: Sequence[int]) -> HindsightMemory:
    """A memory of units of so many words, the first one said last."""
    memory = open_memory(path, clock=FakeClock(), recall=RecallConfig(max_tokens=budget), token_counter=words)
    store(
        memory, *(unit(f"canoe {' '.join(f'w{n}x{i}' for i in range(n - 1))}", id=f"{n}", day=-i) for i, n in enumerate(lengths))
    )
    return memory


def test_memories_of_odd_times_are_ranked_without_an_error_and_none_is_lost(tmp_path: Path) -> None:
    moments = {
        "ahead": NOON + timedelta(days=10), "now": NOON, "month": NOON - timedelta(days=30),
        "abroad": datetime.fromisoformat("2025-02-08T20:00:00+08:00"), "old": NOON - timedelta(days=60),
    }  # fmt: skip
    with open_memory(tmp_path, clock=FakeClock()) as memory:
        dated = [unit(f"The {name} lamp is green", id=name, said_at=at, created_at=at) for name, at in moments.items()]
        store(memory, *dated, unit("The undated lamp is green", id="undated", said_at=None))
        store(memory, unit("The early lamp is green", id="early", last_recalled_at=NOON - timedelta(days=400)))
        found = memory.recall("Which lamp is green?", scope="u1")
    told = [*((one.unit, one.terms) for one in found.items), *((one.unit, one.terms) for one in found.dropped)]
    recency = {one.content.split()[1]: terms["recency"] for one, terms in told}
    assert set(recency) == {*moments, "undated", "early"}
    assert all(math.isfinite(value) and 0 < value <= 1 for value in recency.values())
    assert recency["ahead"] == recency["now"] == 1.0
    assert recency["month"] == recency["abroad"] == pytest.approx(recency["old"] ** 0.5)


@pytest.mark.parametrize("rate", [-1.0, math.nan, math.inf])
def test_a_rate_of_decay_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="decay_per_day"):
        RecallConfig(decay_per_day=rate)


def test_one_long_memory_does_not_keep_out_the_short_ones(tmp_path: Path) -> None:
    with with_budget(tmp_path, 80, (150, 30, 60, 20)) as memory:
        found = memory.recall("Where is my canoe?", scope="u1")
    assert sorted(words(one.content) for one in found.units) == [20, 30]
    assert words(found.text) == found.tokens <= 80


def test_the_only_memory_is_shortened_with_a_mark(tmp_path: Path) -> None:
    with with_budget(tmp_path, 80, (150,)) as memory:
        found = memory.recall("Where is my canoe?", scope="u1")
    assert "canoe" in found.text
    assert "…" in found.text
    assert words(found.text) <= 80


def test_a_budget_of_nothing_injects_nothing_and_asks_nothing(tmp_path: Path) -> None:
    chat = ScriptedChat([])
    with open_memory(tmp_path, chat_model=chat, recall=RecallConfig(max_tokens=0, router="model")) as memory:
        store(memory, unit("My canoe is in hall 13"))
        found = memory.recall("Where is my canoe?", scope="u1")
    assert (found.text, found.degraded, chat.asked) == ("", (), [])


def test_a_chinese_text_is_not_counted_as_a_quarter_of_its_length(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        store(memory, unit("记" * 100))
        assert memory.recall("记记", scope="u1").tokens >= 100
