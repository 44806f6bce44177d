"""Working memory over the real stores (SPEC A3, A4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hindsight_langgraph import keys
from hindsight_langgraph.config import WorkingConfig
from hindsight_langgraph.errors import CallError, ModelUnavailable
from hindsight_langgraph.ops import Answer, Complete, FoldFields, ReadFields, WriteFields
from hindsight_langgraph.plan import Op, Plan, drive
from hindsight_langgraph.ports import WorkingStore
from hindsight_langgraph.recall.tokens import estimate_tokens
from hindsight_langgraph.records import Role, Scope, Turn
from hindsight_langgraph.working.pending import PendingTurn, accept, count_attempt, finish, read_pending
from hindsight_langgraph.working.session import append_session, read_session
from hindsight_langgraph.working.task_memory import SUMMARY, condense, read_task, write_task
from tests.clock import NOON

SCOPE = Scope(user_id="u1", session_id="t1")
CONFIG = WorkingConfig()
Run = Callable[[Plan[Any]], Any]


@pytest.fixture
def run(working: WorkingStore) -> Run:
    answer: Any = working.run
    return lambda plan: drive(plan, answer)


def fill(count: int, start: int = 0) -> dict[str, Any]:
    return {f"field{n:02d}": {"n": n, "text": f"result number {n}"} for n in range(start, start + count)}


def test_values_come_back_as_they_were_oldest_written_first(run: Run):
    run(write_task(SCOPE, {"goal": "ship it", "limits": [1, 2.5, None, True]}, config=CONFIG, chat=False))
    run(write_task(SCOPE, {"goal": "ship it twice"}, config=CONFIG, chat=False))
    assert list(run(read_task(SCOPE)).items()) == [("limits", [1, 2.5, None, True]), ("goal", "ship it twice")]


def test_past_twenty_fields_the_oldest_ten_become_one_summary(run: Run):
    run(write_task(SCOPE, fill(20), config=CONFIG, chat=False))
    assert SUMMARY not in run(read_task(SCOPE))
    run(write_task(SCOPE, {"newest": "x"}, config=CONFIG, chat=False))
    kept = run(read_task(SCOPE))
    assert set(kept) == {SUMMARY, "newest", *(f"field{n:02d}" for n in range(10, 20))}
    assert len(kept[SUMMARY]) <= 200
    assert "field00" in kept[SUMMARY]


def test_a_second_fold_folds_the_summary_too_so_that_there_is_always_one(run: Run):
    run(write_task(SCOPE, fill(45), config=CONFIG, chat=False))
    for n in range(45, 75):
        run(write_task(SCOPE, fill(1, n), config=CONFIG, chat=False))
    kept = run(read_task(SCOPE))
    assert len(kept) <= 21
    assert sum(name == SUMMARY for name in kept) == 1


def test_a_model_writes_the_summary_where_there_is_one(working: WorkingStore):
    asked: list[str] = []

    def answer(op: Op[Any]) -> Any:
        if isinstance(op, Complete):
            asked.append(op.messages[0].text)
            return Answer(text="Ten results, all fine. " * 30)
        return working.run(op)  # type: ignore[arg-type]

    drive(write_task(SCOPE, fill(21), config=CONFIG, chat=True), answer)
    summary = working_fields(working)[SUMMARY]
    assert summary.startswith("Ten results, all fine.")
    assert len(summary) <= 200
    assert "result number 3" in asked[0]


def test_a_model_that_is_down_costs_no_field(working: WorkingStore):
    def answer(op: Op[Any]) -> Any:
        if isinstance(op, Complete):
            raise ModelUnavailable("quota")
        return working.run(op)  # type: ignore[arg-type]

    drive(write_task(SCOPE, fill(21), config=CONFIG, chat=True), answer)
    assert len(working_fields(working)) == 21


def test_a_field_that_changes_during_the_fold_is_not_lost(working: WorkingStore):
    def answer(op: Op[Any]) -> Any:
        if isinstance(op, Complete):  # another step writes while the model thinks
            working.run(WriteFields(key=keys.working(SCOPE), fields={"field03": b'"changed"'}))
            return Answer(text="summary")
        return working.run(op)  # type: ignore[arg-type]

    drive(write_task(SCOPE, fill(21), config=CONFIG, chat=True), answer)
    kept = working_fields(working)
    assert kept["field03"] == "changed"
    assert SUMMARY not in kept


def test_a_fold_that_is_cut_off_before_its_one_step_changes_nothing(working: WorkingStore):
    def answer(op: Op[Any]) -> Any:
        if isinstance(op, FoldFields):
            raise ConnectionError("cut off")
        return working.run(op)  # type: ignore[arg-type]

    with pytest.raises(ConnectionError):
        drive(write_task(SCOPE, fill(21), config=CONFIG, chat=False), answer)
    assert len(working_fields(working)) == 21


def working_fields(working: WorkingStore) -> dict[str, Any]:
    return {name: json.loads(value) for name, value in working.run(ReadFields(key=keys.working(SCOPE))).items()}


@pytest.mark.parametrize("name", ["", "  ", "_summary", "_x"])
def test_a_reserved_or_blank_name_is_refused(run: Run, name: str):
    with pytest.raises(CallError, match="name"):
        run(write_task(SCOPE, {name: 1}, config=CONFIG, chat=False))


def test_a_value_that_is_no_json_is_refused_with_its_name(run: Run):
    with pytest.raises(CallError, match="'goal'"):
        run(write_task(SCOPE, {"goal": object()}, config=CONFIG, chat=False))  # type: ignore[dict-item]
    assert run(read_task(SCOPE)) == {}


def test_two_tasks_of_one_user_are_apart(run: Run):
    other = Scope(user_id="u1", session_id="t1", task_id="other")
    run(write_task(SCOPE, {"goal": "a"}, config=CONFIG, chat=False))
    run(write_task(other, {"goal": "b"}, config=CONFIG, chat=False))
    assert (run(read_task(SCOPE)), run(read_task(other))) == ({"goal": "a"}, {"goal": "b"})


def test_condensing_gives_every_note_its_share():
    line = condense([f"note{n}: {'x' * 300}" for n in range(5)], 200)
    assert len(line) <= 200
    assert all(f"note{n}" in line for n in range(5))


def turn(name: str, text: str, minute: int) -> Turn:
    return Turn(id=name, role=Role.USER, text=text, at=NOON + timedelta(minutes=minute))


def test_the_session_is_read_newest_first_under_a_budget_that_one_long_turn_does_not_use_up(run: Run):
    turns = [turn("a", "first words", 0), turn("b", "long " * 3_000, 1), turn("c", "last words", 2)]
    run(append_session(SCOPE, turns, now=NOON, config=CONFIG))
    read = run(read_session(SCOPE, counter=estimate_tokens, config=CONFIG))
    assert [t.id for t in read] == ["c", "a"]
    assert run(read_session(SCOPE, counter=estimate_tokens, config=CONFIG, budget=0)) == []


def test_a_turn_is_buffered_once(run: Run):
    assert run(append_session(SCOPE, [turn("a", "x", 0)], now=NOON, config=CONFIG)) == 1
    assert run(append_session(SCOPE, [turn("a", "x", 0), turn("b", "y", 1)], now=NOON, config=CONFIG)) == 1


def test_pending_turns_wait_in_order_until_they_are_finished(run: Run):
    run(accept(SCOPE, [turn("a", "x", 0), turn("b", "y", 1)], now=NOON))
    other = Scope(user_id="u1", session_id="t2")
    run(accept(other, [turn("a", "z", 2)], now=NOON))
    waiting: list[PendingTurn] = run(read_pending(SCOPE))
    assert [(p.scope.session_id, p.turn.text) for p in waiting] == [("t1", "x"), ("t1", "y"), ("t2", "z")]
    run(finish(SCOPE, waiting[:1]))
    run(count_attempt(SCOPE, waiting[1:2]))
    assert [(p.turn.text, p.attempts) for p in run(read_pending(SCOPE))] == [("y", 1), ("z", 0)]


def test_turns_whose_moment_is_unknown_keep_their_order(run: Run):
    turns = [Turn(id=name, role=Role.USER, text=name) for name in ("zeta", "alpha", "mid")]
    run(accept(SCOPE, turns, now=NOON))
    run(append_session(SCOPE, turns, now=NOON, config=CONFIG))
    assert [p.turn.text for p in run(read_pending(SCOPE))] == ["zeta", "alpha", "mid"]
    assert [t.text for t in run(read_session(SCOPE, counter=estimate_tokens, config=CONFIG))] == ["mid", "alpha", "zeta"]
