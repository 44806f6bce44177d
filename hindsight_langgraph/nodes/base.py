"""What the nodes share: a runnable with a blocking and an awaiting face, usable in any `StateGraph`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig

from hindsight_langgraph.errors import CallError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes.state import NodeInput


class MemoryNode(Runnable[Any, "dict[str, Any] | None"], ABC):
    """A graph node over one memory.

    Args:
        memory: the memory.
        messages_key: the state key that holds the conversation.

    `builder.add_node("recall", node)` reads the annotation of `__call__` and adds the `recollection` channel to the graph, whatever
    the graph's own schema is.
    """

    def __init__(self, memory: HindsightMemory, *, messages_key: str = "messages") -> None:
        self.memory = memory
        self.messages_key = messages_key

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


def read_key(state: Any, key: str) -> Any:
    """A value of a graph's state, whether it is a dict, a dataclass or a model; None where there is none."""
    return cast("Mapping[str, Any]", state).get(key) if isinstance(state, Mapping) else getattr(state, key, None)
