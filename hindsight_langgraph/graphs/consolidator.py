"""Runs consolidations of one memory: one at a time for each owner, resuming what was killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from langchain_core.runnables import RunnableConfig

from hindsight_langgraph.assembly import Parts
from hindsight_langgraph.consolidation.lease import release, take
from hindsight_langgraph.consolidation.report import ConsolidationReport, Level
from hindsight_langgraph.consolidation.run import Run
from hindsight_langgraph.flows import consolidating
from hindsight_langgraph.graphs.consolidation import HOLDER, LONGEST, consolidation_graph, report_of
from hindsight_langgraph.plan import Plan, adrive, drive
from hindsight_langgraph.records import Scope

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

R = TypeVar("R")


class Consolidator:
    """The consolidation graph on the memory's own checkpointer."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._clock = parts.runtime.clock

    def run(self, plan: Plan[R]) -> R:
        """Run a plan on the memory's stores."""
        return drive(plan, self._parts.runtime.answer)

    async def arun(self, plan: Plan[R]) -> R:
        """As `run`, on the running loop."""
        return await adrive(plan, self._parts.runtime.aanswer)

    def graph(self, *, checkpointer: bool = True) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph; without a checkpointer of its own for a server that brings one."""
        builder: Any = consolidation_graph(self, settings=self._settings, clock=self._clock)
        compiled: CompiledStateGraph[Any, Any, Any, Any] = builder.compile(
            checkpointer=self._parts.checkpointer() if checkpointer else None, name="consolidation"
        )
        return compiled

    def consolidate(self, scope: Scope, *, level: Level, passes: Sequence[str] | None, everything: bool) -> ConsolidationReport:
        """Consolidate one owner, first finishing a run of it that was killed."""
        config = self._config(scope)
        if not self.run(self._take(scope, config)):
            return self._busy(scope, level)
        try:
            graph: Any = self.graph()
            before = graph.get_state(config)
            if before.next:
                done = self._report(graph.invoke(None, config, durability="sync"), scope, level)
                self._parts.checkpointer().delete_thread(thread_of(scope))
                if done.level == level:
                    return done
            state = self.run(self._input(scope, level=level, passes=passes, everything=everything))
            done = self._report(graph.invoke(state, config, durability="sync"), scope, level)
            self._parts.checkpointer().delete_thread(thread_of(scope))
        finally:
            self.run(release(scope, _holder(config)))
        return done

    async def aconsolidate(
        self, scope: Scope, *, level: Level, passes: Sequence[str] | None, everything: bool
    ) -> ConsolidationReport:
        """As `consolidate`, on the running loop."""
        config = self._config(scope)
        if not await self.arun(self._take(scope, config)):
            return self._busy(scope, level)
        try:
            graph: Any = self.graph()
            before = await graph.aget_state(config)
            if before.next:
                done = self._report(await graph.ainvoke(None, config, durability="sync"), scope, level)
                await self._parts.checkpointer().adelete_thread(thread_of(scope))
                if done.level == level:
                    return done
            state = await self.arun(self._input(scope, level=level, passes=passes, everything=everything))
            done = self._report(await graph.ainvoke(state, config, durability="sync"), scope, level)
            await self._parts.checkpointer().adelete_thread(thread_of(scope))
        finally:
            await self.arun(release(scope, _holder(config)))
        return done

    def _input(self, scope: Scope, *, level: Level, passes: Sequence[str] | None, everything: bool) -> Plan[dict[str, Any]]:
        run: Run = yield from consolidating.start(
            scope, level=level, now=self._clock.now(), settings=self._settings, passes=passes, everything=everything
        )
        return {"run": run.model_dump_json()}

    def _take(self, scope: Scope, config: RunnableConfig) -> Plan[bool]:
        token = _holder(config)
        return take(scope, token, now=self._clock.now(), lease_s=self._settings.config.consolidation.lease_s)

    def _busy(self, scope: Scope, level: Level) -> ConsolidationReport:
        return self._report({"busy": True}, scope, level)

    def _report(self, state: Mapping[str, Any], scope: Scope, level: Level) -> ConsolidationReport:
        return report_of(state, scope=scope, at=self._clock.now(), level=level)

    @staticmethod
    def _config(scope: Scope) -> RunnableConfig:
        return {"configurable": {"thread_id": thread_of(scope), HOLDER: uuid4().hex}, "recursion_limit": LONGEST}


def _holder(config: RunnableConfig) -> str:
    return str(config.get("configurable", {})[HOLDER])


def thread_of(scope: Scope) -> str:
    """The thread of an owner's consolidation; no conversation has such a name."""
    return f"consolidation\0{scope.owner}"
