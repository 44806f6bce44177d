"""From an outcome to units that know what they were worth: through the memory, in the background, through crashes (SPEC E)."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from hindsight_langgraph.annotation.report import AnnotationReport
from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.verdict import Effect
from hindsight_langgraph.errors import StoreUnavailable
from hindsight_langgraph.flows.hindsight import QUEUE
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.ops import Complete, FetchUnits, PeekDue
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Scope
from hindsight_langgraph.training.router import Example as RouterExample
from hindsight_langgraph.training.router import judged_examples
from tests.clock import FakeClock
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of

SCOPE = Scope(user_id="u1", session_id="t1")
STALE = "The staging host is stg-1.larkfield.example."
ASKED = "Deploy build 881 to the staging host."
CORRECTED = "No, stg-1 was retired last month, staging lives on stg-3 now."


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def deployment(number: int = 1) -> list[AnyMessage]:
    """The messages of a task that follows the stale memory."""
    call = {"name": "deploy", "args": {"build": 881, "host": "stg-1.larkfield.example"}, "id": f"c{number}"}
    return [
        HumanMessage(ASKED, id=f"ask{number}"),
        AIMessage("Use the remembered host.", id=f"plan{number}", tool_calls=[call]),
        ToolMessage("promoted", tool_call_id=f"c{number}", id=f"call{number}"),
        AIMessage("881 is on staging.", id=f"done{number}"),
    ]


def work(memory: HindsightMemory, number: int = 1, scope: Scope = SCOPE) -> MemoryUnit:
    """Do the task once, with what is recalled for it; returns the stale memory."""
    recollection = memory.recall(ASKED, scope=scope)
    memory.annotate(deployment(number), scope=scope, recollection=recollection)
    memory.settle(scope=scope)
    return next(unit for unit in recollection.units if unit.content == STALE)


def only(memory: HindsightMemory, unit: MemoryUnit) -> MemoryUnit:
    (found,) = memory.get([unit.id], scope=SCOPE)
    return found


def test_a_step_is_recorded_with_its_call_its_arguments_and_what_was_recalled(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    unit = work(memory)
    steps = memory.trajectory(scope=SCOPE).steps
    assert [step.kind for step in steps if step.kind is not StepKind.RECALL] == [
        StepKind.GOAL, StepKind.PLAN, StepKind.TOOL, StepKind.MESSAGE,
    ]  # fmt: skip
    call = next(step for step in steps if step.kind is StepKind.TOOL)
    assert (call.tool, call.group) == ("deploy", "plan1")
    assert '"host":"stg-1.larkfield.example"' in call.arguments
    recall = next(step for step in steps if step.kind is StepKind.RECALL)
    assert (recall.content, unit.id in recall.unit_ids) == (ASKED, True)


def test_secrets_in_a_calls_arguments_are_never_stored(memory: HindsightMemory):
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    call = {"name": "login", "args": {"key": secret}, "id": "c1"}
    memory.annotate(
        [HumanMessage("Log in."), AIMessage("", tool_calls=[call]), ToolMessage("ok", tool_call_id="c1")], scope=SCOPE
    )
    memory.settle(scope=SCOPE)
    arguments = "".join(step.arguments for step in memory.trajectory(scope=SCOPE).steps)
    assert secret not in arguments
    assert "key" in arguments


def test_a_told_failure_demotes_the_memory_that_caused_it_and_says_why(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    before = work(memory)
    memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
    assert memory.settle(scope=SCOPE)
    after = only(memory, before)
    assert after.importance < before.importance
    assert after.confidence == pytest.approx(before.confidence - 0.2)
    (event,) = memory.history(before.id, scope=SCOPE)
    assert (event.verdict, event.effect) == (CausalRole.DIRECT_CAUSE, Effect.NEGATIVE)
    assert "stg" in event.reason


def test_a_success_promotes_the_memory_that_it_turned_on(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    before = work(memory)
    memory.outcome(scope=SCOPE, success=True)
    memory.settle(scope=SCOPE)
    after = only(memory, before)
    assert after.importance > before.importance
    assert after.role is CausalRole.DIRECT_CAUSE


def test_an_outcome_is_read_from_the_conversation_when_nobody_tells_it(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    work(memory)
    memory.annotate([HumanMessage(CORRECTED, id="no")], scope=SCOPE)
    memory.settle(scope=SCOPE)
    (report,) = memory.annotations(scope=SCOPE)
    assert (report.outcome.success, report.outcome.read) == (False, True)


def test_an_unknown_outcome_judges_nothing(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    before = work(memory)
    memory.outcome(scope=SCOPE, success=None)
    memory.settle(scope=SCOPE)
    assert memory.annotations(scope=SCOPE) == []
    assert memory.history(before.id, scope=SCOPE) == []


def test_a_failed_task_becomes_one_episode_that_is_recalled_when_the_situation_returns(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    work(memory)
    memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
    memory.settle(scope=SCOPE)
    (report,) = memory.annotations(scope=SCOPE)
    episodes = [unit for unit in memory.units(scope=SCOPE) if unit.kind is Kind.EPISODE and not unit.raw]
    assert [unit.id for unit in episodes] == [report.episode_id]
    assert "Do not do again: deploy" in memory.recall(ASKED, scope=SCOPE).units[0].content


def test_the_same_outcome_told_again_changes_nothing_and_another_takes_the_first_back(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    before = work(memory)
    for _ in range(2):
        memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
        memory.settle(scope=SCOPE)
    demoted = only(memory, before)
    assert len(memory.history(before.id, scope=SCOPE)) == 1
    memory.outcome(scope=SCOPE, success=True, feedback="It was fine after all.")
    memory.settle(scope=SCOPE)
    assert only(memory, before).importance > before.importance > demoted.importance
    assert [event.taken_back for event in memory.history(before.id, scope=SCOPE)] == [True, False]
    assert len(memory.annotations(scope=SCOPE)) == 1


def test_a_change_can_be_taken_back_by_hand_once(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    before = work(memory)
    memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
    memory.settle(scope=SCOPE)
    (event,) = memory.history(before.id, scope=SCOPE)
    assert memory.undo(before.id, event.id, scope=SCOPE)
    after = only(memory, before)
    assert after.importance == pytest.approx(before.importance)
    assert after.confidence == pytest.approx(before.confidence)
    assert after.role is before.role
    assert not memory.undo(before.id, event.id, scope=SCOPE)


def test_another_user_neither_sees_nor_moves_what_was_judged(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    unit = work(memory)
    memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
    memory.settle(scope=SCOPE)
    (event,) = memory.history(unit.id, scope=SCOPE)
    other = Scope(user_id="u2", session_id="t1")
    assert memory.annotations(scope=other) == []
    assert memory.history(unit.id, scope=other) == []
    assert not memory.undo(unit.id, event.id, scope=other)
    assert memory.training_set(scope=other) == []


def test_a_memory_that_was_not_recalled_and_would_have_helped_is_raised(memory: HindsightMemory):
    (report,) = memory.remember([("user", "I always want semicolons and decimal commas in my files.")], scope=SCOPE)
    call = {"name": "fs.write", "args": {"separator": ","}, "id": "c1"}
    messages = [
        HumanMessage("Export the slips.", id="a"), AIMessage("Write a CSV.", id="b", tool_calls=[call]),
        ToolMessage("written", tool_call_id="c1", id="c"), AIMessage("Here it is.", id="d"),
    ]  # fmt: skip
    memory.annotate(messages, scope=SCOPE)
    memory.outcome(scope=SCOPE, success=False, feedback="It needs semicolons and decimal commas!")
    memory.settle(scope=SCOPE)
    (found,) = memory.annotations(scope=SCOPE)
    assert found.missed == report.written
    assert "missed" in memory.history(report.written[0], scope=SCOPE)[0].reason


def test_what_helped_becomes_a_training_example(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    work(memory)
    memory.outcome(scope=SCOPE, success=True)
    memory.settle(scope=SCOPE)
    (example,) = memory.training_set(scope=SCOPE)
    assert (example.query, example.positive.endswith(STALE)) == (ASKED, True)
    (region,) = {unit.region for unit in memory.units(scope=SCOPE) if unit.content == STALE}
    assert judged_examples([example]) == [RouterExample(query=ASKED, region=region)]


def test_an_outage_between_outcome_and_judgement_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = FakeClock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.remember([("user", STALE)], scope=SCOPE)
        before = work(memory)
        store = memory._runtime.long_term

        def down(op: Any) -> Any:
            if isinstance(op, FetchUnits):
                raise StoreUnavailable("the disk is gone")
            return run(op)

        run = store.run
        monkeypatch.setattr(store, "run", down)
        memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
        memory.settle(scope=SCOPE)
        monkeypatch.undo()
        assert memory.annotations(scope=SCOPE) == []
        assert len(memory._runtime.working.run(PeekDue(queue=QUEUE))) == 1
        clock.advance(minutes=2)
        (report,) = memory.annotate_due()
        assert report.outcome.feedback == CORRECTED
        assert only(memory, before).importance < before.importance
        assert memory._runtime.working.run(PeekDue(queue=QUEUE)) == []


def test_a_process_that_dies_before_it_judges_leaves_the_job_to_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = FakeClock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.remember([("user", STALE)], scope=SCOPE)
        before = work(memory)
        monkeypatch.setattr(memory._runtime.annotator, "submit", lambda owner, job: None)  # the thread dies with its process
        memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
        assert memory.annotations(scope=SCOPE) == []
    with open_memory(tmp_path, clock=clock) as memory:
        assert len(memory.annotate_due()) == 1
        assert only(memory, before).importance < before.importance


def test_a_crash_in_the_middle_of_judging_neither_loses_nor_doubles_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = FakeClock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.remember([("user", STALE)], scope=SCOPE)
        before = work(memory)
        store = memory._runtime.working

        def dies(op: Any) -> Any:
            if type(op).__name__ == "ReplaceEntry":
                raise StoreUnavailable("gone while the report was kept")
            return run(op)

        run = store.run
        monkeypatch.setattr(store, "run", dies)
        memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
        memory.settle(scope=SCOPE)
        monkeypatch.undo()
        once = only(memory, before)
        assert once.importance < before.importance
        clock.advance(hours=1)
        assert len(memory.annotate_due()) == 1
        assert only(memory, before).importance == once.importance
        assert len(memory.history(before.id, scope=SCOPE)) == 1


def test_judging_never_runs_on_the_thread_that_answers(tmp_path: Path):
    asked_on: list[str] = []

    class Noted(ScriptedChat):
        def complete(self, op: Complete) -> Any:
            asked_on.append(threading.current_thread().name)
            return super().complete(op)

    with open_memory(tmp_path, chat_model=Noted([])) as memory:
        messages = [
            HumanMessage("Write to them.", id="a"),
            AIMessage("To whom?", id="b"),
            HumanMessage("To orchard@x.example", id="c"),
        ]
        call = {"name": "mail.send", "args": {"to": "orchard@x.example"}, "id": "c1"}
        messages += [
            AIMessage("Sending.", id="d", tool_calls=[call]),
            ToolMessage("sent", tool_call_id="c1", id="e"),
            AIMessage("Sent.", id="f"),
        ]
        memory.annotate(messages, scope=SCOPE)
        memory.settle(scope=SCOPE)
        asked_on.clear()
        memory.outcome(scope=SCOPE, success=True)
        memory.settle(scope=SCOPE)
        assert memory.annotations(scope=SCOPE)[0].asked > 0
        assert asked_on
        assert threading.main_thread().name not in asked_on


def test_erasing_a_user_waits_for_what_is_judged_and_nothing_of_it_comes_back(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    unit = work(memory)
    memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
    memory.erase(scope=SCOPE)
    memory.settle(scope=SCOPE)
    assert memory.units(scope=SCOPE) == []
    assert memory.annotations(scope=SCOPE) == []
    assert memory.history(unit.id, scope=SCOPE) == []


def test_a_node_of_the_graph_may_say_how_the_task_ended(memory: HindsightMemory):
    def agent(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("done")], "outcome": {"success": False, "feedback": "too late"}}

    build(memory, agent).invoke({"messages": [HumanMessage("Post the letter.")]}, run_of("u1", "t1"))
    memory.settle(scope=SCOPE)
    outcome = memory.trajectory(scope=SCOPE).outcome
    assert outcome is not None
    assert (outcome.success, outcome.feedback) == (False, "too late")


@pytest.mark.parametrize("own", ["approved", 3, {"colour": "red"}, None])
def test_what_a_graph_keeps_under_outcome_for_itself_is_left_alone(memory: HindsightMemory, own: Any):
    def agent(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("done")], "outcome": own}

    build(memory, agent).invoke({"messages": [HumanMessage("Post the letter.")]}, run_of("u1", "t1"))
    memory.settle(scope=SCOPE)
    assert memory.trajectory(scope=SCOPE).outcome is None


def test_a_listener_is_told_of_each_report(memory: HindsightMemory):
    seen: list[object] = []
    memory.on_event(seen.append)
    memory.remember([("user", STALE)], scope=SCOPE)
    work(memory)
    memory.outcome(scope=SCOPE, success=True)
    memory.settle(scope=SCOPE)
    assert [event.outcome.success for event in seen if isinstance(event, AnnotationReport)] == [True]


def test_the_same_through_the_awaiting_twins(memory: HindsightMemory):
    async def run() -> None:
        await memory.aremember([("user", STALE)], scope=SCOPE)
        recollection = await memory.arecall(ASKED, scope=SCOPE)
        await memory.aannotate(deployment(), scope=SCOPE, recollection=recollection)
        await memory.asettle(scope=SCOPE)
        await memory.aoutcome(scope=SCOPE, success=False, feedback=CORRECTED)
        await memory.asettle(scope=SCOPE)
        (report,) = await memory.aannotations(scope=SCOPE)
        assert report.changes
        (event,) = await memory.ahistory(report.changes[0].unit_id, scope=SCOPE)
        assert await memory.aundo(event.unit_id, event.id, scope=SCOPE)
        assert await memory.aannotate_due() == []
        assert await memory.atraining_set(scope=SCOPE) == []

    asyncio.run(run())


def test_two_tasks_of_one_conversation_are_judged_apart(memory: HindsightMemory):
    memory.remember([("user", STALE)], scope=SCOPE)
    work(memory, 1)
    memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED)
    memory.settle(scope=SCOPE)
    memory.annotate([HumanMessage("What is 2 + 2?", id="q"), AIMessage("4", id="r")], scope=SCOPE)
    memory.outcome(scope=SCOPE, success=True)
    memory.settle(scope=SCOPE)
    assert [(report.goal, report.outcome.success) for report in memory.annotations(scope=SCOPE)] == [
        (ASKED, False), ("What is 2 + 2?", True),
    ]  # fmt: skip
