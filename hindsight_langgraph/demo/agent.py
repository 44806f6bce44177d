"""The demo's agent: a chat graph with the three memory nodes, with or without a chat model."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes import AnnotateAfterStep, ConsolidateOnIdle, MemoryState, RecallBeforePlan
from hindsight_langgraph.recall.recollection import Recollection, Standing

REPLY = "scripted_reply"
"""Key of a user message's `additional_kwargs` that carries the recorded answer to it."""
NOTHING = "I remember nothing that answers this."


def build_agent(memory: HindsightMemory, chat_model: BaseChatModel | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A chat agent whose turns are recalled for, annotated and consolidated.

    Without a chat model it says a recorded reply where the message carries one, and answers from its recollection otherwise.
    """

    def agent(state: MemoryState) -> dict[str, Any]:
        messages = state["messages"]
        if chat_model is not None:
            return {"messages": [chat_model.invoke(memory.prompt(messages, state.get("recollection")))]}
        asked = next((message for message in reversed(messages) if message.type == "human"), messages[-1])
        recorded = asked.additional_kwargs.get(REPLY)  # a demo that goes on after a kill sends what was answered before again
        if recorded is not None:
            said = {"created_at": recorded["at"]}
            return {"messages": [AIMessage(recorded["text"], id=recorded["id"], additional_kwargs=said)]}
        return {"messages": [AIMessage(answer_from(state.get("recollection")))]}

    builder: Any = StateGraph(MemoryState)  # its methods' types are partly unknown
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("agent", agent)
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_node("consolidate", ConsolidateOnIdle(memory))
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    builder.add_edge("agent", "annotate")
    builder.add_edge("annotate", "consolidate")
    builder.add_edge("consolidate", END)
    compiled: CompiledStateGraph[Any, Any, Any, Any] = builder.compile(checkpointer=memory.checkpointer())
    return compiled


def answer_from(recollection: Recollection | None) -> str:
    """What memory alone has to say: the best current item, or the admission that there is none."""
    items = recollection.items if recollection else ()
    best = next((item for item in items if item.standing is Standing.CURRENT), None)
    if best is None:
        return NOTHING
    return f"From memory ({best.unit.moment:%d %B %Y}): {best.unit.content}"


def user_message(text: str, *, at: datetime, id: str | None = None, reply: dict[str, str] | None = None) -> HumanMessage:  # noqa: A002 - a message's id
    """A user's message that carries its moment, and the recorded reply where there is one."""
    extra: dict[str, Any] = {"created_at": at.isoformat()}
    if reply is not None:
        extra[REPLY] = reply
    return HumanMessage(text, id=id, additional_kwargs=extra)
