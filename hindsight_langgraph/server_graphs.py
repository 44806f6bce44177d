"""The graphs that put memories in order on a LangGraph server; `deploy/langgraph.json` names them (SPEC F1).

`consolidation` takes `{"user_id": "alice"}` and puts one memory in order. `sweep` takes `{}` and does so for every user whose time has
come; let a cron run it each minute:

    await langgraph_sdk.get_client().crons.create("sweep", schedule="* * * * *", input={})

The stores are those of the `HINDSIGHT_*` variables; set `HINDSIGHT_CONSOLIDATION__IN_PROCESS=false` for the agents, so that they leave
due runs to the cron.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.workers import Workplace

MOST: Final = 100
"""Users a sweep; the next one takes the rest."""

_PLACE: Final = Workplace()
"""Both graphs share one memory: an embedded store lets no second one in."""


class Swept(TypedDict, total=False):
    """What a sweep did."""

    owners: list[str]


async def consolidation() -> Any:
    """The graph that puts one user's memory in order."""
    return (await _memory()).consolidation_graph()


async def sweep() -> Any:
    """The graph that does so for whoever is due."""
    memory = await _memory()

    async def run_due(_: Swept) -> dict[str, Any]:
        return {"owners": [report.owner for report in await memory.arun_due(limit=MOST)]}

    builder: Any = StateGraph(Swept)  # its methods are partly untyped
    return builder.add_node("run_due", run_due).add_edge(START, "run_due").add_edge("run_due", END).compile(name="sweep")


async def _memory() -> HindsightMemory:
    """Opening one reads files, which must not hold the server's loop up."""
    return await asyncio.to_thread(lambda: _PLACE.memory)
