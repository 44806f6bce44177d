"""The health report says how it is, and what to do (SPEC F8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_langgraph.consolidation.health import Health, bars
from hindsight_langgraph.flows import examining
from tests.clock import FakeClock
from tests.consolidation.scene import later, store, unit
from tests.memory.opening import open_memory

EMPTY = Health(units=0, by_region={}, by_status={}, by_tier={}, by_kind={}, cold=0, pending=0)


def test_an_important_memory_that_no_recall_ever_brought_is_named(tmp_path: Path):
    with open_memory(tmp_path, clock=FakeClock(later(20))) as memory:
        store(
            memory,
            unit("I am allergic to nuts", importance=0.95),
            unit("I like tea", importance=0.95, references=2),
            unit("New", day=19, importance=0.95),
        )
        health = memory.health(scope="u1")
    assert health.unused == ("I am allergic to nuts",)
    assert health.growth == {"2025-03": 3}
    assert health.by_status == {"active": 3}


def test_the_share_is_of_everything_that_was_said(tmp_path: Path, clock: FakeClock):
    said = ["I live in Tartu.", "Ha ha, nice one, thanks a lot for that!"]
    with open_memory(tmp_path, clock=clock) as memory:
        memory.remember([("user", text) for text in said], scope="u1", at=clock.now())
        health = memory.health(scope="u1")
    assert health.raw_chars == sum(map(len, said))
    assert health.share is not None
    assert 0 < health.share < 1


def test_the_share_of_a_large_memory_is_estimated_from_its_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(examining, "SAMPLE", 4)
    with open_memory(tmp_path, clock=FakeClock(later(20))) as memory:
        store(memory, *(unit("x" * 10, day=i) for i in range(8)))
        health = memory.health(scope="u1")
    assert health.sampled
    assert health.stored_chars == 80


def test_advice_follows_from_the_figures():
    assert EMPTY.advice() == []
    assert "turns wait" in EMPTY.model_copy(update={"pending": 30}).advice()[0]
    assert "never consolidated" in EMPTY.model_copy(update={"units": 3}).advice()[0]
    assert EMPTY.lines()[-1] == "→ nothing to do"


def test_every_count_above_nothing_has_a_visible_bar():
    rows = bars({"many": 10_000, "one": 1, "none": 0})
    assert [row.count("█") for row in rows] == [30, 1, 0]
