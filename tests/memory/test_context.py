"""What stands before a turn in its thread: it is read once, and in the order in which it was said."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph import keys
from hindsight_langgraph.ops import ReadLog
from hindsight_langgraph.plan import Op
from hindsight_langgraph.records import Role, Scope, Turn
from tests.clock import NOON
from tests.memory.opening import open_memory

SCOPE = Scope(user_id="u1", session_id="t1")


def said(name: str, role: Role, text: str, minutes: float | None) -> Turn:
    return Turn(id=name, role=role, text=text, at=None if minutes is None else NOON + timedelta(minutes=minutes))


@pytest.mark.parametrize("door", ["remember", "annotate"])
def test_a_write_reads_the_session_buffer_once(tmp_path: Path, door: str) -> None:
    asked: list[Op[Any]] = []
    with open_memory(tmp_path) as memory:
        answer = memory._runtime.answer

        def noted(op: Op[Any]) -> Any:
            asked.append(op)
            return answer(op)

        memory._runtime.answer = noted  # type: ignore[method-assign]  # listens, and answers as ever
        memory.remember([said("m1", Role.ASSISTANT, "Which database do you use?", 0)], scope=SCOPE)
        asked.clear()
        turns = [said("m2", Role.USER, "I use PostgreSQL, remember that.", 1)]
        if door == "remember":
            memory.remember(turns, scope=SCOPE)
        else:
            memory.annotate(turns, scope=SCOPE)
            memory.settle()
        units = memory.units(scope=SCOPE)
    assert sum(isinstance(op, ReadLog) and op.key == keys.session(SCOPE) for op in asked) == 1
    assert ["Which database" in unit.preceding for unit in units] == [True]


@pytest.mark.parametrize("known", [True, False])
def test_a_turn_follows_what_was_said_before_it_whenever_it_arrives(tmp_path: Path, known: bool) -> None:
    """Moments order a thread; without them, the order of arrival does."""
    times = (0, 60, 1) if known else (None, None, None)
    with open_memory(tmp_path) as memory:
        memory.remember([said("m1", Role.ASSISTANT, "Which database do you use?", times[0])], scope=SCOPE)
        memory.remember([said("m2", Role.ASSISTANT, "Which editor do you use?", times[1])], scope=SCOPE)
        memory.remember([said("m3", Role.USER, "I use Kite, remember that.", times[2])], scope=SCOPE)
        (unit,) = memory.units(scope=SCOPE)
    assert ("database" if known else "editor") in unit.preceding
