"""The node that annotates after the step."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from hindsight_langgraph.messages import read_turns
from hindsight_langgraph.nodes.base import MemoryNode, recollection_in
from hindsight_langgraph.records import Role, Turn
from hindsight_langgraph.scoping import scope_of


class AnnotateAfterStep(MemoryNode):
    """Takes in what the step added: turns to remember, steps of the task, the state of the work (SPEC B, E1, A3).

    Place it after the tools, after the model, or both: what was taken in before is recognised by its message ids. The turns are
    accepted durably at once and written to long-term memory off the answer's path.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Take the step in, blocking."""
        scope, now = scope_of(config), self.memory.clock.now()
        turns = latest_exchange(read_turns(self._messages(input), at=now))
        self.memory.annotate(turns, scope=scope, recollection=recollection_in(input))
        return None

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Take the step in on the running loop."""
        scope, now = scope_of(config), self.memory.clock.now()
        turns = latest_exchange(read_turns(self._messages(input), at=now))
        await self.memory.aannotate(turns, scope=scope, recollection=recollection_in(input))
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
