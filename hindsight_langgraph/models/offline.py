"""A chat model for trying things out without a key: it answers from the memory in its prompt, or admits that it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable

NOTHING: Final = "Noted. (No chat model is configured; I only repeat what I remember.)"
_INJECTED: Final = "memory"
"""Name of the message that carries what was recalled."""


class OfflineChatModel(BaseChatModel):
    """Repeats what was recalled. It calls no tools."""

    @property
    def _llm_type(self) -> str:
        return "hindsight-offline"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any) -> Runnable[Any, AIMessage]:  # noqa: ARG002 - the base class's signature
        """The model itself, whatever the tools."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base class's signature
        **kwargs: Any,  # noqa: ARG002 - the base class's signature
    ) -> ChatResult:
        recalled = [message.text for message in messages if message.name == _INJECTED]
        notes = [line for text in recalled for line in text.splitlines() if line.startswith("[")]
        answer = "I remember:\n" + "\n".join(notes) if notes else NOTHING
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])
