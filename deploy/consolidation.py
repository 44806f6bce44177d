"""Consolidation on LangGraph Platform: the graphs that `langgraph.json` names.

`consolidation` takes `{"user_id": "alice"}` and puts one memory in order. `sweep` takes `{}` and does so for every user whose time has
come; let a cron run it each minute:

    await langgraph_sdk.get_client().crons.create("sweep", schedule="* * * * *", input={})

The stores are those of the `HINDSIGHT_*` variables; set `HINDSIGHT_CONSOLIDATION__IN_PROCESS=false` for the agents, so that they leave
due runs to the cron.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from hindsight_langgraph import HindsightMemory

MOST = 100
"""Users a sweep; the next one takes the rest."""

memory = HindsightMemory.from_env()
graph = memory.consolidation_graph()


class Swept(TypedDict, total=False):
    """What a sweep did."""

    owners: list[str]


async def run_due(_: Swept) -> dict[str, Any]:
    """Consolidate whoever is due."""
    return {"owners": [report.owner for report in await memory.arun_due(limit=MOST)]}


sweep = StateGraph(Swept).add_node("run_due", run_due).add_edge(START, "run_due").add_edge("run_due", END).compile(name="sweep")
