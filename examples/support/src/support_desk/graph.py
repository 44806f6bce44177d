"""The desk: a graph with three memory nodes around the model and its tools."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.nodes import AnnotateAfterStep, ConsolidateOnIdle, MemoryState, RecallBeforePlan
from support_desk.context import Context
from support_desk.memory import open_memory
from support_desk.model import chat_model
from support_desk.tools import TOOLS


def build(memory: HindsightMemory, model: BaseChatModel, **compiled: Any) -> Any:
    """recall → agent ⇄ tools, then what happened is taken in. Each customer has a memory of their own."""
    equipped = model.bind_tools(TOOLS)

    def agent(state: MemoryState) -> dict[str, Any]:
        return {"messages": [equipped.invoke(memory.prompt(state["messages"], state.get("recollection")))]}

    builder: Any = StateGraph(MemoryState, context_schema=Context)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode(TOOLS, handle_tool_errors=True))
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_node("idle", ConsolidateOnIdle(memory))
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    builder.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "annotate"})
    builder.add_edge("tools", "recall")  # it recalls again after a failed tool, and only then
    builder.add_edge("annotate", "idle")
    builder.add_edge("idle", END)
    return builder.compile(**compiled)


async def graph() -> Any:
    """What `langgraph dev` serves; the server brings the checkpointer, and opening files must not hold its loop up."""
    return await asyncio.to_thread(lambda: build(open_memory(), chat_model()))


async def consolidation() -> Any:
    """The graph that puts a customer's memory in order when they are idle."""
    return (await asyncio.to_thread(open_memory)).consolidation_graph()
