"""Small graphs with memory, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes import AnnotateAfterStep, ConsolidateOnIdle, MemoryState, RecallBeforePlan


def answer_ok(state: MemoryState) -> dict[str, Any]:
    """An agent that says ok."""
    return {"messages": [AIMessage("ok")]}


def build(memory: HindsightMemory, agent: Callable[..., Any] = answer_ok, *, schema: Any = MemoryState, **compiled: Any) -> Any:
    """recall → agent → annotate → consolidate."""
    builder = StateGraph(schema)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("agent", agent)
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_node("consolidate", ConsolidateOnIdle(memory))
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    builder.add_edge("agent", "annotate")
    builder.add_edge("annotate", "consolidate")
    builder.add_edge("consolidate", END)
    compiled.setdefault("checkpointer", InMemorySaver())
    return builder.compile(**compiled)


def run_of(user: str, thread: str = "t1", **more: str) -> Any:
    """The config of a run."""
    return {"configurable": {"user_id": user, "thread_id": thread, **more}}
