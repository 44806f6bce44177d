"""A chat model that says its lines, and keeps what it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage


class Scripted(GenericFakeChatModel):
    """Says its lines, whatever it is asked."""

    shown: list[str] = []

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.shown.append("\n".join(message.text for message in messages if message.name == "memory"))
        return super()._generate(messages, *args, **kwargs)


def saying(*lines: str | AIMessage) -> Scripted:
    """A model with these lines."""
    return Scripted(messages=iter([AIMessage(line) if isinstance(line, str) else line for line in lines]), shown=[])


def calling(name: str, call_id: str, **arguments: Any) -> AIMessage:
    """A line that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call_id}])
