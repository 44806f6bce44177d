"""Scripted chat models for tests, which keep what they were sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable
from pydantic import Field

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import RECOLLECTION_ID
from hindsight_langgraph.recall.recollection import Query, Recollection


class Scripted(GenericFakeChatModel):
    """Says its lines, whatever it is asked; takes tools."""

    seen: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)

    @property
    def shown(self) -> list[str]:
        """What each call was shown of memory, blank where nothing was."""
        return ["\n".join(m.text for m in prompt if m.id == RECOLLECTION_ID) for prompt in self.seen]


def saying(*lines: AIMessage | str) -> Scripted:
    """A model with these lines."""
    return Scripted(messages=iter([AIMessage(line) if isinstance(line, str) else line for line in lines]), seen=[])


def calling(name: str, id: str = "c1", **arguments: Any) -> AIMessage:
    """A line that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": id}])


def recorded_queries(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch) -> list[Query]:
    """What the memory is asked to recall from now on."""
    asked: list[Query] = []
    recall = memory.recall

    def recorded(query: Any, **more: Any) -> Recollection:
        asked.append(query)
        return recall(query, **more)

    monkeypatch.setattr(memory, "recall", recorded)
    return asked
