"""The node that recalls before the plan."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import read_turns
from hindsight_langgraph.nodes.base import MemoryNode, recollection_in
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import Role, Scope, Turn
from hindsight_langgraph.scoping import scope_of


class RecallBeforePlan(MemoryNode):
    """Recalls what helps with the user's newest message and leaves it in `state["recollection"]` (SPEC D).

    It fires on a new message of the user or a failed tool, not on every loop of the agent (SPEC D13), and once more where an interrupt
    has lost what was recalled. A store or model that is down gives a recollection marked as degraded; the run goes on.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Recall, blocking."""
        scope, turns = scope_of(config), read_turns(self._messages(input))
        query = query_of(turns, lost=_is_lost(recollection_in(input), scope))
        if query is None:
            return None
        return {"recollection": self.memory.recall(query, scope=scope, visible=[turn.id for turn in turns])}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Recall on the running loop."""
        scope, turns = scope_of(config), read_turns(self._messages(input))
        query = query_of(turns, lost=_is_lost(recollection_in(input), scope))
        if query is None:
            return None
        return {"recollection": await self.memory.arecall(query, scope=scope, visible=[turn.id for turn in turns])}


def query_of(turns: list[Turn], *, lost: bool = False) -> Query | None:
    """The question that the conversation's end poses, or None when nothing asks for a recall (SPEC D1, D13).

    With `lost`, what was recalled for the present exchange is not at hand any more, and the user's last message asks again.
    """
    turns = [turn for turn in turns if turn.role is not Role.SYSTEM]
    asked = next((turn for turn in reversed(turns) if turn.role is Role.USER and turn.text.strip()), None)
    if asked is None:
        return None
    last = turns[-1]
    if last.role is Role.TOOL and last.error:
        return Query(text=asked.text, last_result=last.text)
    return Query(text=asked.text) if lost or last is asked else None


def recollect(
    memory: HindsightMemory, messages: list[Any], recollection: Recollection | None, *, scope: Scope
) -> Recollection | None:
    """What was recalled for these messages, recalled anew where it is not at hand: a resumed node starts without it.

    None when the messages ask nothing.
    """
    if not _is_lost(recollection, scope):
        return recollection
    turns = read_turns(messages)
    query = query_of(turns, lost=True)
    return None if query is None else memory.recall(query, scope=scope, visible=[turn.id for turn in turns])


async def arecollect(
    memory: HindsightMemory, messages: list[Any], recollection: Recollection | None, *, scope: Scope
) -> Recollection | None:
    """As `recollect`."""
    if not _is_lost(recollection, scope):
        return recollection
    turns = read_turns(messages)
    query = query_of(turns, lost=True)
    return None if query is None else await memory.arecall(query, scope=scope, visible=[turn.id for turn in turns])


def _is_lost(recollection: Recollection | None, scope: Scope) -> bool:
    """Whether there is none, or one of another user: a cached node may hand that on."""
    return recollection is None or not recollection.readable_by(scope)
