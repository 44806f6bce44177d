"""The node that recalls before the plan."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from hindsight_langgraph.messages import read_turns
from hindsight_langgraph.nodes.base import MemoryNode
from hindsight_langgraph.nodes.scoping import scope_of
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.records import Role, Turn


class RecallBeforePlan(MemoryNode):
    """Recalls what helps with the user's newest message and leaves it in `state["recollection"]` (SPEC D).

    It fires on a new message of the user or a failed tool, not on every loop of the agent (SPEC D13). A store or model that is down
    gives a recollection marked as degraded; the run goes on.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Recall, blocking."""
        scope, turns = scope_of(config), read_turns(self._messages(input))
        query, visible = query_of(turns), [turn.id for turn in turns]
        return None if query is None else {"recollection": self.memory.recall(query, scope=scope, visible=visible)}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Recall on the running loop."""
        scope, turns = scope_of(config), read_turns(self._messages(input))
        query, visible = query_of(turns), [turn.id for turn in turns]
        return None if query is None else {"recollection": await self.memory.arecall(query, scope=scope, visible=visible)}


def query_of(turns: list[Turn]) -> Query | None:
    """The question that the conversation's end poses, or None when nothing asks for a recall (SPEC D1, D13)."""
    turns = [turn for turn in turns if turn.role is not Role.SYSTEM]
    asked = next((turn for turn in reversed(turns) if turn.role is Role.USER and turn.text.strip()), None)
    if asked is None:
        return None
    last = turns[-1]
    if last is asked:
        return Query(text=asked.text)
    if last.role is Role.TOOL and last.error:
        return Query(text=asked.text, last_result=last.text)
    return None
