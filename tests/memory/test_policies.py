"""Policies by kind of memory: keep, ask first, drop."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.match import Outcome
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Kind
from tests.memory.opening import open_memory

LIKES = {"role": "user", "content": "I prefer window seats on trains.", "id": "m1"}


def under(path: Path, policy: str) -> HindsightMemory:
    return open_memory(path, write=WriteConfig.model_validate({"policies": {"preference": policy}}))


def outcomes(memory: HindsightMemory) -> list[Outcome]:
    (report,) = memory.remember([LIKES], scope="u1")
    return [statement.outcome for turn in report.turns for statement in turn.statements]


def test_a_dropped_kind_is_never_stored_and_the_report_says_why(tmp_path: Path):
    with under(tmp_path, "drop") as memory:
        assert outcomes(memory) == [Outcome.DROPPED]
        assert memory.units(scope="u1") == memory.held(scope="u1") == []


def test_what_is_to_be_asked_about_waits_out_of_reach_of_recall_until_it_is_approved(tmp_path: Path):
    with under(tmp_path, "ask") as memory:
        assert outcomes(memory) == [Outcome.HELD]
        (waiting,) = memory.held(scope="u1")
        assert waiting.kind is Kind.PREFERENCE
        assert memory.units(scope="u1") == []
        assert memory.held(scope="u2") == []
        assert memory.approve([waiting.id], scope="u2") == 0
        assert memory.approve([waiting.id], scope="u1") == 1
        assert memory.held(scope="u1") == []
        assert [unit.id for unit in memory.units(scope="u1")] == [waiting.id]
        assert memory.approve([waiting.id], scope="u1") == 0


def test_what_was_rejected_does_not_come_back_when_its_turn_is_replayed(tmp_path: Path):
    with under(tmp_path, "ask") as memory:
        outcomes(memory)
        (waiting,) = memory.held(scope="u1")
        assert memory.reject([waiting.id, "unknown"], scope="u1") == 1
        memory.remember([LIKES], scope="u1")
        assert memory.held(scope="u1") == memory.units(scope="u1") == []


def test_erasing_a_user_takes_what_is_held_too(tmp_path: Path):
    with under(tmp_path, "ask") as memory:
        outcomes(memory)
        memory.erase(scope="u1")
        assert memory.held(scope="u1") == []


def test_a_policy_that_is_none_is_refused():
    with pytest.raises(ValueError, match="keep"):
        WriteConfig.model_validate({"policies": {"preference": "shred"}})
