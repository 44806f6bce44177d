"""What the nodes share: a runnable with a blocking and an awaiting face, usable in any `StateGraph`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import MethodType
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from hindsight_langgraph.errors import CallError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes.state import NodeInput, node_input
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.scoping import read_key


class MemoryNode(Runnable[Any, "dict[str, Any] | None"], ABC):
    """A graph node over one memory.

    Args:
        memory: the memory.
        messages_key: the state key that holds the conversation.

    `builder.add_node("recall", node)` reads the annotation of `__call__` and adds the `recollection` channel to the graph, whatever
    the graph's own schema is. Give a node no `cache_policy`: LangGraph's cache knows the messages and not the user, and a step that
    is answered from it is neither recalled for nor taken in.
    """

    def __init__(self, memory: HindsightMemory, *, messages_key: str = "messages") -> None:
        self.memory = memory
        self.messages_key = messages_key
        if messages_key != "messages":
            self.__call__ = MethodType(_reading(messages_key), self)  # type: ignore[method-assign] # the key is part of what it reads

    def __call__(self, state: NodeInput, config: RunnableConfig | None = None) -> dict[str, Any] | None:
        """Run as a plain function."""
        return self.invoke(state, config)

    @abstractmethod
    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002 - Runnable's name
        """Run the node, blocking."""

    @abstractmethod
    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002 - Runnable's name
        """Run the node on the running loop."""

    def _messages(self, state: Any) -> list[Any]:
        value = read_key(state, self.messages_key)
        if value is None:
            raise CallError(
                f"{type(self).__name__}: the graph's state has no {self.messages_key!r}; pass messages_key=… with its name"
            )
        return list(value)


def recollection_in(state: Any) -> Recollection | None:
    """What was recalled in this run, where the state has it."""
    found = read_key(state, "recollection")
    return found if isinstance(found, Recollection) else None


def _reading(key: str) -> Callable[..., dict[str, Any] | None]:
    """The `__call__` of a node whose graph keeps its conversation under `key`."""

    def call(self: MemoryNode, state: Any, config: RunnableConfig | None = None) -> dict[str, Any] | None:
        return self.invoke(state, config)

    call.__annotations__["state"] = node_input(key)
    return call
