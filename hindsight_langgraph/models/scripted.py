"""A chat model that answers from a script: the fake to test with, public so that users can."""

from __future__ import annotations

from collections.abc import Iterable

from hindsight_langgraph.errors import ModelUnavailable
from hindsight_langgraph.ops import Answer, Complete


class ScriptedChat:
    """Implements `ports.StructuredChat`: gives its answers in order, then raises `ModelUnavailable`; an exception is raised.

    It refuses what a real model refuses: no messages, a blank message, a limit below one token.
    """

    def __init__(self, answers: Iterable[str | Answer | Exception]) -> None:
        self._answers = list(answers)
        self.asked: list[Complete] = []

    @property
    def name(self) -> str:
        """The model's name, for logs and traces."""
        return "scripted"

    def complete(self, op: Complete) -> Answer:
        """The next answer of the script."""
        if not op.messages or not all(message.text.strip() for message in op.messages) or op.max_tokens < 1:
            raise ValueError("a chat model refuses a request without messages, with a blank one, or for no tokens")
        self.asked.append(op)
        if len(self.asked) > len(self._answers):
            raise ModelUnavailable(f"the script holds {len(self._answers)} answers and was asked for one more")
        answer = self._answers[len(self.asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Answer(text=answer, finish_reason="stop") if isinstance(answer, str) else answer

    async def acomplete(self, op: Complete) -> Answer:
        """As `complete`."""
        return self.complete(op)
