"""The node that lets consolidation happen when the agent is idle."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from hindsight_langgraph.nodes.base import MemoryNode
from hindsight_langgraph.scoping import scope_of


class ConsolidateOnIdle(MemoryNode):
    """Notes that the user was active; every twentieth turn it has a light pass run in the background (SPEC F1).

    The pass never runs on the answer's path, and never after every turn: half-finished summaries pollute.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Note the activity, blocking."""
        self.memory.touch(scope=scope_of(config))
        return None

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any] | None:  # noqa: A002, ARG002 - Runnable's signature
        """Note the activity on the running loop."""
        await self.memory.atouch(scope=scope_of(config))
        return None
