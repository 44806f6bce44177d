"""The node that annotates after the step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from hindsight_langgraph.messages import given_up, read_turns
from hindsight_langgraph.nodes.base import MemoryNode, recollection_in
from hindsight_langgraph.records import Role, Turn
from hindsight_langgraph.scoping import read_key, scope_of


class AnnotateAfterStep(MemoryNode):
    """Takes in what the step added: turns to remember, steps of the task, the state of the work (SPEC B, E1, A3).

    Place it after the tools, after the model, or both: what was taken in before is recognised by its message ids. The turns are
    accepted durably at once and written to long-term memory off the answer's path.

    A node before it may say how the task ended in `state["outcome"]`: true, false, or a mapping with `success`, `feedback` and `error`.
    Without that the outcome is read from the conversation, or told by `memory.outcome`. Where the graph's own schema keeps `outcome`,
    a new task must begin by setting it to None.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Take the step in, blocking."""
        scope, now = scope_of(config), self.memory.clock.now()
        messages = self._messages(input)
        turns = [*given_up(messages, at=now), *latest_exchange(read_turns(messages, at=now))]
        self.memory.annotate(turns, scope=scope, recollection=recollection_in(input))
        if (told := told_outcome(input)) is not None:
            self.memory.outcome(scope=scope, **told)
        return None

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Take the step in on the running loop."""
        scope, now = scope_of(config), self.memory.clock.now()
        messages = self._messages(input)
        turns = [*given_up(messages, at=now), *latest_exchange(read_turns(messages, at=now))]
        await self.memory.aannotate(turns, scope=scope, recollection=recollection_in(input))
        if (told := told_outcome(input)) is not None:
            await self.memory.aoutcome(scope=scope, **told)
        return None


class Told(TypedDict):
    """An outcome as `memory.outcome` takes it."""

    success: bool | None
    feedback: str
    error: str


def told_outcome(state: Any) -> Told | None:
    """What the graph's state says of the outcome; None when it says nothing, or something of the graph's own under that name."""
    value = read_key(state, "outcome")
    if isinstance(value, bool):
        return Told(success=value, feedback="", error="")
    if isinstance(value, Mapping) and "success" in value:
        fields = cast("Mapping[str, Any]", value)
        success = fields.get("success")
        if success is None or isinstance(success, bool):
            return Told(success=success, feedback=str(fields.get("feedback") or ""), error=str(fields.get("error") or ""))
    return None


def latest_exchange(turns: list[Turn]) -> list[Turn]:
    """The turns since the user last began to speak; several messages of the user in a row belong together."""
    start = len(turns)
    for place in range(len(turns) - 1, -1, -1):
        if turns[place].role is Role.USER:
            start = place
        elif start < len(turns):
            break
    return turns[start:] if start < len(turns) else turns
