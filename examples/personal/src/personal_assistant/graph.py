"""The assistant: an agent with memory as middleware."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.middleware import HindsightMiddleware
from personal_assistant.context import Context
from personal_assistant.memory import open_memory
from personal_assistant.model import chat_model
from personal_assistant.tools import TOOLS

PROMPT = "You are a helpful personal assistant. Use what you know about the user; ask when you are unsure."


def build(memory: HindsightMemory, model: BaseChatModel, **compiled: Any) -> Any:
    """The agent. Recall comes before it, what was said is remembered after it; the model may search, write and forget by tools."""
    return create_agent(
        model,
        TOOLS,
        system_prompt=PROMPT,
        context_schema=Context,
        middleware=[HindsightMiddleware(memory, tools=True)],
        **compiled,
    )


async def graph() -> Any:
    """What `langgraph dev` serves; the server brings the checkpointer, and opening files must not hold its loop up."""
    return await asyncio.to_thread(lambda: build(open_memory(), chat_model()))


async def consolidation() -> Any:
    """The graph that puts a user's memory in order when they are idle."""
    return (await asyncio.to_thread(open_memory)).consolidation_graph()
