"""A scripted week with the helper, and what is remembered of it."""

from __future__ import annotations

from typing import Any

from coding_helper.context import Context
from coding_helper.graph import build
from langgraph.checkpoint.memory import InMemorySaver
from scripted import calling, saying

from hindsight_langgraph import HindsightMemory, Scope


def say(helper: Any, text: str, *, user: str, thread: str) -> Any:
    run = {"configurable": {"thread_id": thread, "user_id": user}}
    return helper.invoke({"messages": [("user", text)]}, run, context=Context(user_id=user))


def test_a_procedure_that_was_told_once_is_known_in_the_next_thread(memory: HindsightMemory) -> None:
    model = saying("Understood.", "make release, then tag.", "I do not know yet.")
    helper = build(memory, model, checkpointer=InMemorySaver())
    say(helper, "To release we always run make release first and then push the tag v2.", user="erin", thread="mon")
    say(helper, "How do we release?", user="erin", thread="tue")
    say(helper, "How do we release?", user="frank", thread="wed")
    assert "make release" in model.shown[1]
    assert "make release" not in model.shown[2]


def test_a_failure_and_its_outcome_are_kept(memory: HindsightMemory) -> None:
    model = saying(calling("run", "c1", command="npm test"), "That may not be run here.")
    helper = build(memory, model, checkpointer=InMemorySaver())
    say(helper, "Run the tests with npm.", user="erin", thread="thu")
    scope = Scope(user_id="erin", session_id="thu")
    memory.outcome(scope=scope, success=False, feedback="this project has no npm")
    memory.settle()
    kept = memory.trajectory(scope=scope)
    assert [(step.tool, step.error) for step in kept.steps if step.tool] == [("run", True)]
    assert kept.outcome is not None
    assert kept.outcome.success is False
