"""A scripted conversation of several threads, and what is remembered of it."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from personal_assistant.context import Context
from personal_assistant.graph import build
from scripted import calling, saying

from hindsight_langgraph import HindsightMemory


def say(agent: Any, text: str, *, user: str, thread: str) -> str:
    run = {"configurable": {"thread_id": f"{user}-{thread}"}}
    return str(agent.invoke({"messages": [("user", text)]}, run, context=Context(user_id=user))["messages"][-1].text)


def test_it_knows_on_friday_what_was_said_on_monday(memory: HindsightMemory) -> None:
    model = saying("Noted.", calling("today", "c1"), "No peanuts.", "I do not know.")
    agent = build(memory, model, checkpointer=InMemorySaver())
    say(agent, "I'm allergic to peanuts, remember that.", user="alice", thread="monday")
    assert say(agent, "What must I not eat?", user="alice", thread="friday") == "No peanuts."
    say(agent, "What must I not eat?", user="bob", thread="friday")
    assert "peanuts" not in model.shown[0]
    assert "peanuts" in model.shown[1]
    assert "peanuts" in model.shown[2]
    assert "peanuts" not in model.shown[3]
    memory.settle()
    assert [unit.content for unit in memory.units(scope="alice")] == ["I'm allergic to peanuts, remember that."]


def test_the_model_writes_and_forgets_by_tools(memory: HindsightMemory) -> None:
    model = saying(calling("memory_write", "c1", content="I prefer window seats on trains."), "Done.")
    say(build(memory, model), "Keep in mind where I like to sit: at the window.", user="alice", thread="a")
    memory.settle()
    (unit,) = [unit for unit in memory.units(scope="alice") if "window seats" in unit.content]
    forgetful = saying(calling("memory_forget", "c2", ids=[unit.id]), "Forgotten.")
    say(build(memory, forgetful), "Forget that, please.", user="alice", thread="b")
    assert unit.id not in {unit.id for unit in memory.units(scope="alice")}
