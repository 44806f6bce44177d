"""The state that the nodes read and write.

`recollection` is untracked: readable downstream in the same run, never persisted in a checkpoint, never part of `messages`.
"""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import UntrackedValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict, get_type_hints

from hindsight_langgraph.recall.recollection import Recollection


class Recalled(TypedDict, total=False):
    """Annotate a node's state with this (or inherit from it) to read what was recalled."""

    recollection: Annotated[Recollection | None, UntrackedValue(Recollection, guard=False)]
    """Unguarded: parallel branches may each recall in one step, and the last one stands."""


class MemoryState(Recalled):
    """A chat state with memory: messages, and what was recalled for them."""

    messages: Annotated[list[AnyMessage], add_messages]


class NodeInput(Recalled, total=False):
    """What the nodes read of any graph's state; `messages` takes the graph's own reducer."""

    messages: list[Any]
    goal: Any
    """What the task is after, where a node of the graph says so in words: part of the question to the memory."""
    sub_step: Any
    """What the agent is at just now, likewise."""
    outcome: Any
    """How the task in hand ended, where a node of the graph says so: true, false, or a mapping with `success`, `feedback`, `error`."""


def node_input(messages_key: str) -> type[Any]:
    """As `NodeInput`, for a graph that keeps its conversation under another key."""
    if messages_key == "messages":
        return NodeInput
    fields: dict[str, Any] = {
        messages_key: list[Any],
        "goal": Any,
        "sub_step": Any,
        "outcome": Any,
        **get_type_hints(Recalled, include_extras=True),
    }
    made: type[Any] = TypedDict("NodeInput", fields, total=False)  # type: ignore[misc] # the key is known at run time only
    return made
