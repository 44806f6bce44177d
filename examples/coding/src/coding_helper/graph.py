"""The helper: an agent's graph as anyone would write it, and one line that gives it memory."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from coding_helper.context import Context
from coding_helper.memory import open_memory
from coding_helper.model import chat_model
from coding_helper.tools import TOOLS
from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.attach import attach_memory


def build(memory: HindsightMemory, model: BaseChatModel, **compiled: Any) -> Any:
    """agent ⇄ tools, with memory attached: recall before the agent, what it did is taken in after it."""
    equipped = model.bind_tools(TOOLS)

    def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [equipped.invoke(state["messages"])]}

    builder: Any = StateGraph(MessagesState, context_schema=Context)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode(TOOLS, handle_tool_errors=True))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition)
    builder.add_edge("tools", "agent")
    attach_memory(builder, memory, before="agent")
    return builder.compile(**compiled)


async def graph() -> Any:
    """What `langgraph dev` serves; the server brings the checkpointer, and opening files must not hold its loop up."""
    return await asyncio.to_thread(lambda: build(open_memory(), chat_model()))


async def consolidation() -> Any:
    """The graph that puts a developer's memory in order when they are idle."""
    return (await asyncio.to_thread(open_memory)).consolidation_graph()
