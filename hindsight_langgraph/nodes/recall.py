"""The node that recalls before the plan."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import read_turns
from hindsight_langgraph.nodes.base import MemoryNode, recollection_in
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import Role, Scope, Turn
from hindsight_langgraph.scoping import read_key, scope_of


class RecallBeforePlan(MemoryNode):
    """Recalls what helps with the user's newest message and leaves it in `state["recollection"]` (SPEC D).

    It fires on a new message of the user, a failed tool, or another goal or sub-goal, not on every loop of the agent (SPEC D13). Goal
    and sub-goal are read from `state["goal"]` and `state["sub_step"]` where the graph keeps them, and are part of the question. Where
    an interrupt has lost what was recalled, or a node has set `recollection` to None to ask anew, it fires once more. A store or model that is down gives a recollection marked as degraded; the run goes on.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Recall, blocking."""
        scope, turns = scope_of(config), read_turns(self._messages(input))
        query = query_of(self.memory, turns, before=at_hand(recollection_in(input), scope), state=input)
        if query is None:
            return None
        return {"recollection": self.memory.recall(query, scope=scope, visible=[turn.id for turn in turns])}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Recall on the running loop."""
        scope, turns = scope_of(config), read_turns(self._messages(input))
        query = query_of(self.memory, turns, before=at_hand(recollection_in(input), scope), state=input)
        if query is None:
            return None
        return {"recollection": await self.memory.arecall(query, scope=scope, visible=[turn.id for turn in turns])}


def query_of(
    memory: HindsightMemory, turns: list[Turn], *, before: Recollection | None = None, state: Any = None
) -> Query | None:
    """The question that the conversation's end poses, or None when nothing calls for a recall (SPEC D1, D13).

    Args:
        memory: the memory that would be asked.
        turns: the conversation.
        before: what was recalled for the present exchange; None when it is not at hand.
        state: the graph's state, which may tell the task's goal and its present sub-goal.
    """
    turns = [turn for turn in turns if turn.role is not Role.SYSTEM]
    asked = next((turn for turn in reversed(turns) if turn.role is Role.USER and turn.text.strip()), None)
    if asked is None:
        return None
    last = turns[-1]
    told = last.text if last.role is Role.TOOL else ""
    query = Query(text=asked.text, goal=_told(state, "goal"), sub_step=_told(state, "sub_step"), last_result=told)
    return query if memory.recall_due(query, before=before, failed=last.role is Role.TOOL and last.error) else None


def _told(state: Any, name: str) -> str:
    """What the state says under a name; blank where that is something of the graph's own."""
    value = read_key(state, name)
    return value if isinstance(value, str) else ""


def recollect(
    memory: HindsightMemory, messages: list[Any], recollection: Recollection | None, *, scope: Scope, state: Any = None
) -> Recollection | None:
    """What was recalled for these messages, recalled anew where it is not at hand: a resumed node starts without it.

    None when the messages ask nothing.
    """
    if (found := at_hand(recollection, scope)) is not None:
        return found
    turns = read_turns(messages)
    query = query_of(memory, turns, state=state)
    return None if query is None else memory.recall(query, scope=scope, visible=[turn.id for turn in turns])


async def arecollect(
    memory: HindsightMemory, messages: list[Any], recollection: Recollection | None, *, scope: Scope, state: Any = None
) -> Recollection | None:
    """As `recollect`."""
    if (found := at_hand(recollection, scope)) is not None:
        return found
    turns = read_turns(messages)
    query = query_of(memory, turns, state=state)
    return None if query is None else await memory.arecall(query, scope=scope, visible=[turn.id for turn in turns])


def at_hand(recollection: Recollection | None, scope: Scope) -> Recollection | None:
    """The recollection, unless it is another user's: a cached node may hand that on."""
    return recollection if recollection is not None and recollection.readable_by(scope) else None
