"""A scripted day at the desk, and what is remembered of it."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted import calling, saying
from support_desk.context import Context
from support_desk.graph import build

from hindsight_langgraph import HindsightMemory, Scope


def run_of(customer: str, ticket: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": f"{customer}-{ticket}", "user_id": customer}}


def test_each_customer_has_a_memory_of_their_own(memory: HindsightMemory) -> None:
    model = saying("Noted.", "To the back door.", "Which door?")
    desk = build(memory, model, checkpointer=InMemorySaver())
    for customer, ticket, text in (
        ("carla", "1", "Please always deliver my parcels to the back door."),
        ("carla", "2", "Where do you deliver my parcels?"),
        ("dan", "1", "Where do you deliver my parcels?"),
    ):
        desk.invoke({"messages": [("user", text)]}, run_of(customer, ticket), context=Context(user_id=customer))
    assert "back door" in model.shown[1]
    assert "back door" not in model.shown[2]
    memory.settle()
    assert any("back door" in unit.content for unit in memory.units(scope="carla"))
    assert not any("back door" in unit.content for unit in memory.units(scope="dan"))


def test_a_tool_that_fails_is_part_of_the_tasks_story(memory: HindsightMemory) -> None:
    model = saying(calling("order_status", "c1", order="17"), calling("order_status", "c2", order="A-17"), "It was shipped.")
    desk = build(memory, model, checkpointer=InMemorySaver())
    state = desk.invoke({"messages": [("user", "Where is my order 17?")]}, run_of("carla", "3"), context=Context(user_id="carla"))
    results = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert [message.status for message in results] == ["error", "success"]
    memory.settle()
    steps = memory.trajectory(scope=Scope(user_id="carla", session_id="carla-3")).steps
    assert [step.error for step in steps if step.tool] == [True, False]


def test_a_refund_waits_for_a_person_and_goes_on(memory: HindsightMemory) -> None:
    desk = build(memory, saying(calling("refund", "c1", order="A-17", euros=12.5), "Done."), checkpointer=InMemorySaver())
    run, context = run_of("carla", "4"), Context(user_id="carla")
    asked = desk.invoke({"messages": [("user", "I want a refund for A-17.")]}, run, context=context)
    assert asked["__interrupt__"][0].value == {"refund": "A-17", "euros": 12.5}
    done = desk.invoke(Command(resume="yes"), run, context=context)
    assert "12.50 euros of A-17 were refunded" in [message.text for message in done["messages"]]
