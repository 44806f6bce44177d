"""The memory: one object over two stores and three models, with a blocking and an awaiting face."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
from langchain_core.messages import BaseMessage
from numpy.typing import NDArray
from pydantic import JsonValue

from hindsight_langgraph import tracing
from hindsight_langgraph.annotation.examples import Example
from hindsight_langgraph.annotation.feedback import Event
from hindsight_langgraph.annotation.report import AnnotationReport
from hindsight_langgraph.annotation.trajectory import Trajectory, read_trajectory
from hindsight_langgraph.assembly import Parts, assemble
from hindsight_langgraph.calls import Call
from hindsight_langgraph.closing import Closing
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.consolidation.applying import restore
from hindsight_langgraph.consolidation.health import Health
from hindsight_langgraph.consolidation.report import ConsolidationReport, Level
from hindsight_langgraph.encoding.policies import read_held, reject
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.encoding.write import approve
from hindsight_langgraph.errors import Conflict, ModelError, StoreError
from hindsight_langgraph.flows import (
    caring,
    consolidating,
    examining,
    forgetting,
    hindsight,
    learning,
    moving,
)  # fmt: skip
from hindsight_langgraph.flows.caring import Due
from hindsight_langgraph.flows.reviewing import Applied, Review, apply_review
from hindsight_langgraph.flows.teaching import read_lessons
from hindsight_langgraph.graphs.consolidator import Consolidator
from hindsight_langgraph.messages import inject
from hindsight_langgraph.ops import Embed, FetchUnits, Later, Settle, Where
from hindsight_langgraph.plan import Plan, adrive, ask, drive
from hindsight_langgraph.ports import Clock, TokenCounter
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.recall.route import RouteHead
from hindsight_langgraph.recall.trigger import recall_trigger
from hindsight_langgraph.records import EmbeddingSpace, MemoryUnit, Scope, Status, Turn
from hindsight_langgraph.reembed import reembed
from hindsight_langgraph.scoping import as_scope, scope_from_settings, scope_of_run
from hindsight_langgraph.training.deployment import Part, Shelves, Trained, learn
from hindsight_langgraph.transfer import export_units, import_units
from hindsight_langgraph.working.task_memory import Fields, read_task

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from hindsight_langgraph.checkpointers import HindsightSaver, Observation, ObservingSaver
    from hindsight_langgraph.store import HindsightStore

logger = logging.getLogger("hindsight_langgraph")

R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])


class HindsightMemory(Closing):
    """A three-layer memory: working, episodic, semantic.

    Make one with `HindsightMemory.open("./memory")` (embedded, offline, no key) or `HindsightMemory.from_env()`, share it between
    threads and event loops, and close it at the end (it is a context manager of both kinds).

    Every method takes a `scope`: a `Scope`, or a user id alone. There is no default user; a blank one is a `MissingUser` error. Every
    method has an awaiting twin with `a` before its name and the same parameters.

    A store or model that is down costs the memory, not the turn: `recall` comes back empty and marked as degraded, what is to be
    remembered is kept for later, and one warning is logged per outage. With `on_error="raise"` the error is raised instead. Calls that
    no graph makes by itself (`read_task`, `units`, `forget`, …) always raise it.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._runtime = parts.runtime
        self._settings = parts.settings
        self._consolidator = Consolidator(parts)
        if self.config.consolidation.in_process:
            self._runtime.idler.every(self.config.consolidation.tick_s, self.run_due)

    # --- making one ------------------------------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        embeddings: Any = None,
        chat_model: Any = None,
        config: HindsightConfig | None = None,
        clock: Clock | None = None,
        token_counter: TokenCounter | None = None,
        router: RouteHead | None = None,
    ) -> Self:
        """Open a memory; without servers named in `config` it is embedded under `path`.

        Args:
            path: directory of the embedded stores; it is made when missing. None takes `config.path`.
            embeddings: a LangChain `Embeddings`, an embedder of our own, or a spec such as "local" or "openai:text-embedding-3-small".
            chat_model: a LangChain chat model for memory work, or a spec such as "openai:gpt-4.1-mini"; None works by rules.
            config: every other setting.
            clock: tells the time; for tests.
            token_counter: counts tokens for budgets; None estimates without a tokenizer's tables.
            router: scores a question's regions in the place of the trained head; it is called with the words and their embedding.

        Raises:
            ConfigError: a setting is wrong.
            MissingExtra: a model that is asked for by name is not installed.
        """
        settings = config or HindsightConfig()
        if path is not None:
            settings = settings.model_copy(update={"path": Path(path)})
        return cls(
            assemble(
                settings,
                embeddings=embeddings,
                chat_model=chat_model,
                clock=clock,
                token_counter=token_counter,
                router=router,
            )
        )

    @classmethod
    def from_env(cls, **overrides: Any) -> Self:
        """Open a memory with the settings of `HINDSIGHT_*` and `OPENAI_*`; `overrides` are parameters of `open`."""
        return cls.open(config=HindsightConfig.from_env(), **overrides)

    @property
    def config(self) -> HindsightConfig:
        """The settings in force."""
        return self._settings.config

    @property
    def clock(self) -> Clock:
        """What tells the time."""
        return self._runtime.clock

    @property
    def space(self) -> EmbeddingSpace:
        """The embedding model and dimension in use."""
        return self._settings.space

    @property
    def semantic(self) -> bool:
        """Whether the embedding model knows meanings; False for the hash embedder, which only sees the same words."""
        return self._runtime.embedder.semantic

    def on_event(self, listener: Callable[[object], None]) -> None:
        """Have `listener` called with each `WriteReport` as it happens, from whatever thread wrote; its errors are logged."""
        self._runtime.listeners.append(listener)

    # --- remembering -----------------------------------------------------------------------------------------------------

    def remember(self, messages: Iterable[Any], *, scope: Scope | str, at: datetime | None = None) -> list[WriteReport]:
        """Write what is worth keeping of a conversation, here and now. Doing it again writes nothing twice (SPEC B9).

        Args:
            messages: LangChain messages, dicts with `role` and `content`, (role, text) pairs, or turns; oldest first.
            scope: whose memory.
            at: when messages without a time of their own were said; None leaves it unknown, and no relative time is resolved.

        Returns:
            One report a session that was written, with each turn's fate and its reasons.
        """
        return self._run(self._call.remember(messages, scope, at, dry_run=False))

    async def aremember(self, messages: Iterable[Any], *, scope: Scope | str, at: datetime | None = None) -> list[WriteReport]:
        """As `remember`."""
        return await self._arun(self._call.remember(messages, scope, at, dry_run=False))

    def explain(self, messages: Iterable[Any], *, scope: Scope | str, at: datetime | None = None) -> list[WriteReport]:
        """What `remember` would decide, and why, without writing anything."""
        return self._run(self._call.remember(messages, scope, at, dry_run=True))

    async def aexplain(self, messages: Iterable[Any], *, scope: Scope | str, at: datetime | None = None) -> list[WriteReport]:
        """As `explain`."""
        return await self._arun(self._call.remember(messages, scope, at, dry_run=True))

    def held(self, *, scope: Scope | str) -> list[MemoryUnit]:
        """Units that wait for the user's decision, because the policy of their kind is "ask" (`config.write.policies`)."""
        return self._run(read_held(as_scope(scope)))

    async def aheld(self, *, scope: Scope | str) -> list[MemoryUnit]:
        """As `held`."""
        return await self._arun(read_held(as_scope(scope)))

    def approve(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """Write held units. Returns how many of them were held."""
        return self._run(self._approve(ids, scope))

    async def aapprove(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """As `approve`."""
        return await self._arun(self._approve(ids, scope))

    def reject(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """Let held units go for good. Returns how many of them were held."""
        return self._run(reject(as_scope(scope), ids, now=self.clock.now()))

    async def areject(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """As `reject`."""
        return await self._arun(reject(as_scope(scope), ids, now=self.clock.now()))

    def annotate(
        self, messages: Iterable[Any], *, scope: Scope | str, recollection: Recollection | None = None, at: datetime | None = None
    ) -> None:
        """Take in what a step added: accepted durably at once, written off the answer's path (SPEC B, E1).

        Args:
            messages: the messages of the present exchange; those that were taken in before are recognised by their ids.
            scope: whose step.
            recollection: what the step was given by `recall`.
            at: when messages without a time of their own were said; None means now.
        """
        self._run(self._call.annotate(messages, scope, recollection, at))

    async def aannotate(
        self, messages: Iterable[Any], *, scope: Scope | str, recollection: Recollection | None = None, at: datetime | None = None
    ) -> None:
        """As `annotate`."""
        await self._arun(self._call.annotate(messages, scope, recollection, at))

    def settle(self, *, scope: Scope | str | None = None, timeout_s: float = 60.0) -> bool:
        """Wait until what was taken in is written, for one user or for all. Returns whether it was in time."""
        return self._run(self._settle(scope, timeout_s))

    async def asettle(self, *, scope: Scope | str | None = None, timeout_s: float = 60.0) -> bool:
        """As `settle`."""
        return await self._arun(self._settle(scope, timeout_s))

    # --- recalling -------------------------------------------------------------------------------------------------------

    def recall(
        self, query: Query | str, *, scope: Scope | str, as_of: datetime | None = None, visible: Collection[str] = ()
    ) -> Recollection:
        """Recall what helps with a question (SPEC D).

        Args:
            query: the words, or a `Query` that carries the task's goal, its present sub-step and the last tool result too.
            scope: whose memory.
            as_of: answer from what was known and valid at this moment; None means now.
            visible: ids of messages that the model sees anyway; the session buffer does not bring them again.

        Returns:
            What is injected (`.text`), the units, and every candidate with its score terms and the reason of its fate.
        """
        return self._run(self._call.recall(query, scope, as_of, visible))

    async def arecall(
        self, query: Query | str, *, scope: Scope | str, as_of: datetime | None = None, visible: Collection[str] = ()
    ) -> Recollection:
        """As `recall`."""
        return await self._arun(self._call.recall(query, scope, as_of, visible))

    def recall_due(self, query: Query, *, before: Recollection | None, failed: bool = False) -> str:
        """Why a step calls for a recall, blank where what was recalled before still serves (SPEC D13).

        Args:
            query: the present step.
            before: what was last recalled in this run; None where it is not at hand.
            failed: whether the last tool call went wrong.
        """
        return recall_trigger(self._call.redacted(query), before=None if before is None else before.query, failed=failed)

    def prompt(self, messages: Sequence[BaseMessage], recollection: Recollection | None) -> list[BaseMessage]:
        """The input of one model call: the messages with what was recalled, fenced, just before the user's (SPEC D11).

        Nothing is written back: `messages` stays as it is. Inside a run, a recollection of another user is left out.
        """
        reader = scope_of_run()
        mine = recollection is not None and (reader is None or recollection.readable_by(reader))
        return inject(messages, recollection.text if recollection is not None and mine else "")

    # --- working memory --------------------------------------------------------------------------------------------------

    def read_task(self, *, scope: Scope | str) -> Fields:
        """The working memory of the task in hand, by field, oldest written first (SPEC A3)."""
        return self._run(read_task(as_scope(scope)))

    async def aread_task(self, *, scope: Scope | str) -> Fields:
        """As `read_task`."""
        return await self._arun(read_task(as_scope(scope)))

    def write_task(self, fields: Mapping[str, JsonValue], *, scope: Scope | str, duration_s: float | None = None) -> None:
        """Set fields of the task in hand: goal, confirmed constraints, tool results, open sub-problems (SPEC A3).

        Args:
            fields: JSON values by name; past 20 the oldest ten are folded into `_summary`.
            scope: whose task.
            duration_s: how long the task is expected to take, in seconds; the memory of it lives 1.5 times as long.
        """
        self._run(self._call.write_task(fields, scope, duration_s))

    async def awrite_task(self, fields: Mapping[str, JsonValue], *, scope: Scope | str, duration_s: float | None = None) -> None:
        """As `write_task`."""
        await self._arun(self._call.write_task(fields, scope, duration_s))

    def read_session(self, *, scope: Scope | str, budget: int | None = None) -> list[Turn]:
        """The thread's last turns that fit a budget in tokens (2,000 by default), newest first (SPEC A4)."""
        return self._run(self._call.read_session(scope, budget))

    async def aread_session(self, *, scope: Scope | str, budget: int | None = None) -> list[Turn]:
        """As `read_session`."""
        return await self._arun(self._call.read_session(scope, budget))

    # --- hindsight -------------------------------------------------------------------------------------------------------

    def outcome(self, *, scope: Scope | str, success: bool | None, feedback: str = "", error: str = "") -> None:
        """Say how the task in hand ended (SPEC E1); what it was worth is judged in the background (SPEC E2).

        Args:
            scope: whose task.
            success: whether the user's goal was reached; None for unknown, which judges nothing.
            feedback: what the user said of it.
            error: what went wrong, where that is known.
        """
        self._run(self._call.outcome(scope, success, feedback, error))

    async def aoutcome(self, *, scope: Scope | str, success: bool | None, feedback: str = "", error: str = "") -> None:
        """As `outcome`."""
        await self._arun(self._call.outcome(scope, success, feedback, error))

    def trajectory(self, *, scope: Scope | str) -> Trajectory:
        """The steps of the task in hand, the memories it was given, and its outcome."""
        return self._run(read_trajectory(as_scope(scope)))

    async def atrajectory(self, *, scope: Scope | str) -> Trajectory:
        """As `trajectory`."""
        return await self._arun(read_trajectory(as_scope(scope)))

    def annotate_due(self, *, limit: int = 10) -> list[AnnotationReport]:
        """Judge finished tasks that still wait for it, of any user: what a crash or an outage left. Returns what was found."""
        return self._run(hindsight.run_due(now=self.clock.now(), settings=self._settings, limit=limit))

    async def aannotate_due(self, *, limit: int = 10) -> list[AnnotationReport]:
        """As `annotate_due`."""
        return await self._arun(hindsight.run_due(now=self.clock.now(), settings=self._settings, limit=limit))

    def annotations(self, *, scope: Scope | str) -> list[AnnotationReport]:
        """What hindsight found of the user's tasks, oldest first: roles, effects and importances with their reasons."""
        return self._run(hindsight.read_reports(as_scope(scope)))

    async def aannotations(self, *, scope: Scope | str) -> list[AnnotationReport]:
        """As `annotations`."""
        return await self._arun(hindsight.read_reports(as_scope(scope)))

    def history(self, unit_id: str, *, scope: Scope | str) -> list[Event]:
        """How outcomes moved a unit of the user, oldest first, each change with its reason (SPEC E5)."""
        return self._run(moving.read_history(unit_id, scope=as_scope(scope)))

    async def ahistory(self, unit_id: str, *, scope: Scope | str) -> list[Event]:
        """As `history`."""
        return await self._arun(moving.read_history(unit_id, scope=as_scope(scope)))

    def undo(self, unit_id: str, event_id: str, *, scope: Scope | str) -> bool:
        """Take one change of a unit's history back. Returns whether it was there and stood."""
        return self._run(moving.undo(unit_id, event_id, scope=as_scope(scope)))

    async def aundo(self, unit_id: str, event_id: str, *, scope: Scope | str) -> bool:
        """As `undo`."""
        return await self._arun(moving.undo(unit_id, event_id, scope=as_scope(scope)))

    def training_set(self, *, scope: Scope | str, seed: int = 0) -> list[Example]:
        """What recall can learn from the user's judged tasks: queries with what helped and what did not (SPEC E6)."""
        return self._run(learning.training_set(as_scope(scope), seed=seed))

    async def atraining_set(self, *, scope: Scope | str, seed: int = 0) -> list[Example]:
        """As `training_set`."""
        return await self._arun(learning.training_set(as_scope(scope), seed=seed))

    def train(self, *, scopes: Sequence[Scope | str], only: Part | None = None) -> Trained:
        """Learn from the judged tasks of some users how to search for what helps, and how to rank it (SPEC E6); seconds on a CPU.

        A query adapter serves every question, a ranker the tasks of its domain (`Scope.domain`). Each is used from now on, by this
        memory and those opened later, if it ranks held-out tasks better; otherwise it is refused and what was in use stays. No stored
        vector changes either way. `untrain` goes back.

        Args:
            scopes: whose tasks.
            only: "adapter" or "ranker"; None learns whatever there is enough for.

        Raises:
            CallError: there is too little to learn from yet; says how much.
            MissingExtra: there is enough for a ranker, and the extra `train` is not installed.
        """
        lessons = [lesson for scope in scopes for lesson in self._run(read_lessons(as_scope(scope)))]
        examples = [example for scope in scopes for example in self.training_set(scope=scope)]
        trained = learn(
            examples, lessons, embed=self._embed, space=self.space, shelves=self._shelves,
            shipped=self._settings.recalling.ranker, only=only,
        )  # fmt: skip
        self._use_learned()
        return trained

    async def atrain(self, *, scopes: Sequence[Scope | str], only: Part | None = None) -> Trained:
        """As `train`, on a thread of its own."""
        return await asyncio.to_thread(self.train, scopes=scopes, only=only)

    def untrain(self) -> int | None:
        """Take back what the last training changed. Returns the version in use now, None for none."""
        version = self._shelves.back()
        self._use_learned()
        return version

    async def auntrain(self) -> int | None:
        """As `untrain`."""
        return await asyncio.to_thread(self.untrain)

    @property
    def _shelves(self) -> Shelves:
        return Shelves.under(self.config.path)

    def _use_learned(self) -> None:
        adapter, learned = self._shelves.adapters.load(self.space), self._shelves.rankers.load()
        self._settings = replace(self._settings, recalling=replace(self._settings.recalling, adapter=adapter, learned=learned))

    def _embed(self, texts: Sequence[str], purpose: str) -> NDArray[np.float32]:
        query = purpose == "query"
        vectors = self._run(ask(Embed(texts=tuple(texts), purpose="query" if query else "document")))
        return np.asarray(vectors, dtype=np.float32)

    # --- keeping it in order ---------------------------------------------------------------------------------------------

    def touch(self, *, scope: Scope | str, decisive: bool = False) -> None:
        """Note that the user was active: the idle pass is put off, and every twentieth call makes a light pass due (SPEC F1).

        Args:
            scope: who was active.
            decisive: something was decided that the memory should be put in order for at once.
        """
        who = as_scope(scope)
        plan = caring.touch(who, now=self.clock.now(), settings=self._settings, decisive=decisive)
        self._wake(who, self._run(plan))

    async def atouch(self, *, scope: Scope | str, decisive: bool = False) -> None:
        """As `touch`."""
        who = as_scope(scope)
        plan = caring.touch(who, now=self.clock.now(), settings=self._settings, decisive=decisive)
        self._wake(who, await self._arun(plan))

    def consolidate(
        self,
        *,
        scope: Scope | str,
        level: Level = "full",
        passes: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> ConsolidationReport:
        """Put a user's memory in order: merge, link, supersede, sum up, promote, forget (SPEC F).

        A run that was killed is finished first. Units that change during a run keep their change, and wait for the next one.

        Args:
            scope: whose memory.
            level: "light" for duplicates and importance, "full" for every pass.
            passes: only these passes, by name; see `changes.PassName`.
            everything: look at all units, not only at those that changed since the last run.
            dry_run: only say what would be done.

        Raises:
            ConfigError: there is no pass of such a name.
            StoreError: a store did not answer; the next run goes on where this one stopped.
        """
        who = as_scope(scope)
        if dry_run:
            return self._run(self._rehearse(who, level, passes, everything=everything))
        with tracing.stage("hindsight.consolidate", lambda: {"level": level}, scope=who) as run:
            report = self._consolidator.consolidate(who, level=level, passes=passes, everything=everything)
            run.end(lambda: {"report": report.lines()})
        return report

    async def aconsolidate(
        self,
        *,
        scope: Scope | str,
        level: Level = "full",
        passes: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> ConsolidationReport:
        """As `consolidate`."""
        who = as_scope(scope)
        if dry_run:
            return await self._arun(self._rehearse(who, level, passes, everything=everything))
        with tracing.stage("hindsight.consolidate", lambda: {"level": level}, scope=who) as run:
            report = await self._consolidator.aconsolidate(who, level=level, passes=passes, everything=everything)
            run.end(lambda: {"report": report.lines()})
        return report

    def consolidation_graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The graph that consolidates, without a checkpointer, for a server that brings its own (see `deploy/langgraph.json`)."""
        return self._consolidator.graph(checkpointer=False)

    def run_due(self, *, limit: int = 10) -> list[ConsolidationReport]:
        """Consolidate the users whose time has come, at most `limit` of them; several processes may do so at once."""
        reports: list[ConsolidationReport] = []
        while len(reports) < limit and (due := self._run(self._claim())) is not None:
            report: ConsolidationReport | None = None
            try:
                report = self._consolidator.consolidate(due.scope, level=due.level, passes=None, everything=False)
                reports.append(report)
            except (StoreError, ModelError, Conflict) as error:
                self._put_off(due, error)
            finally:
                self._run(caring.settle_due(due, report, now=self.clock.now(), settings=self._settings))
        return reports

    async def arun_due(self, *, limit: int = 10) -> list[ConsolidationReport]:
        """As `run_due`."""
        reports: list[ConsolidationReport] = []
        while len(reports) < limit and (due := await self._arun(self._claim())) is not None:
            report: ConsolidationReport | None = None
            try:
                report = await self._consolidator.aconsolidate(due.scope, level=due.level, passes=None, everything=False)
                reports.append(report)
            except (StoreError, ModelError, Conflict) as error:
                self._put_off(due, error)
            finally:
                await self._arun(caring.settle_due(due, report, now=self.clock.now(), settings=self._settings))
        return reports

    def count_due(self) -> int:
        """How many users' time has come; one that a process works on is not counted."""
        return self._run(caring.count_due(now=self.clock.now()))

    async def acount_due(self) -> int:
        """As `count_due`."""
        return await self._arun(caring.count_due(now=self.clock.now()))

    def units(self, *, scope: Scope | str, statuses: Sequence[Status] | None = None, limit: int = 1_000) -> list[MemoryUnit]:
        """The user's own units, of the given statuses or of all."""
        return self._run(caring.list_units(as_scope(scope), statuses=statuses, limit=limit))

    async def aunits(
        self, *, scope: Scope | str, statuses: Sequence[Status] | None = None, limit: int = 1_000
    ) -> list[MemoryUnit]:
        """As `units`."""
        return await self._arun(caring.list_units(as_scope(scope), statuses=statuses, limit=limit))

    def get(self, ids: Sequence[str], *, scope: Scope | str) -> list[MemoryUnit]:
        """Units by id, in the order of the ids; those of other users are not found."""
        return self._run(ask(FetchUnits(where=Where(owners=as_scope(scope).readers, ids=tuple(ids)))))

    async def aget(self, ids: Sequence[str], *, scope: Scope | str) -> list[MemoryUnit]:
        """As `get`."""
        return await self._arun(ask(FetchUnits(where=Where(owners=as_scope(scope).readers, ids=tuple(ids)))))

    def health(self, *, scope: Scope | str) -> Health:
        """Figures of what is stored, and what to do (SPEC F8)."""
        return self._run(examining.health(as_scope(scope), now=self.clock.now()))

    async def ahealth(self, *, scope: Scope | str) -> Health:
        """As `health`."""
        return await self._arun(examining.health(as_scope(scope), now=self.clock.now()))

    def forget(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """Delete the user's units by id for good, with what says the same and what was made of them. Returns how many there were."""
        return self._run(forgetting.forget(ids, scope=as_scope(scope), now=self.clock.now(), settings=self._settings))

    async def aforget(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """As `forget`."""
        return await self._arun(forgetting.forget(ids, scope=as_scope(scope), now=self.clock.now(), settings=self._settings))

    def forget_that(self, words: str, *, scope: Scope | str) -> int:
        """Forget what the user asks to have forgotten: "forget what I told you about my phone", "forget that" (SPEC F7).

        Returns:
            How many memories that were; 0 where nothing is known of it.

        Raises:
            CallError: the words ask to forget nothing.
        """
        return self._run(forgetting.forget_that(words, scope=as_scope(scope), now=self.clock.now(), settings=self._settings))

    async def aforget_that(self, words: str, *, scope: Scope | str) -> int:
        """As `forget_that`."""
        return await self._arun(
            forgetting.forget_that(words, scope=as_scope(scope), now=self.clock.now(), settings=self._settings)
        )

    def bring_back(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """Bring archived units back from cold storage (SPEC F7). Returns how many there were."""
        return self._run(restore(ids, scope=as_scope(scope), now=self.clock.now()))

    async def abring_back(self, ids: Sequence[str], *, scope: Scope | str) -> int:
        """As `bring_back`."""
        return await self._arun(restore(ids, scope=as_scope(scope), now=self.clock.now()))

    def archived(self, *, scope: Scope | str, limit: int = 1_000) -> list[MemoryUnit]:
        """The user's units in cold storage."""
        return self._run(caring.list_units(as_scope(scope), statuses=None, limit=limit, collection="cold"))

    async def aarchived(self, *, scope: Scope | str, limit: int = 1_000) -> list[MemoryUnit]:
        """As `archived`."""
        return await self._arun(caring.list_units(as_scope(scope), statuses=None, limit=limit, collection="cold"))

    def erase(self, *, scope: Scope | str, threads: Collection[str] = ()) -> caring.Erased:
        """Remove everything of a user from every store, and say what it was (SPEC G8).

        Of the conversations on `memory.checkpointer()` those go whose runs named this user, and no other, in `configurable`.
        A thread that has its user from the run's context does not say whose it is: name it in `threads`.
        """
        user = as_scope(scope)
        held = self.checkpointer().delete_user(user.user_id, threads=threads)
        return self._run(caring.erase(user, threads=held, timeout_s=self.config.timeout_s))

    async def aerase(self, *, scope: Scope | str, threads: Collection[str] = ()) -> caring.Erased:
        """As `erase`."""
        user = as_scope(scope)
        held = await self.checkpointer().adelete_user(user.user_id, threads=threads)
        return await self._arun(caring.erase(user, threads=held, timeout_s=self.config.timeout_s))

    def reembed(self) -> int:
        """Embed what has no embedding of the present model: after a change of model, or an outage of it (SPEC A11).

        Recall answers throughout. A run that dies is started again; it loses and doubles nothing. Returns how many were embedded.
        """
        return self._run(reembed())

    async def areembed(self) -> int:
        """As `reembed`."""
        return await self._arun(reembed())

    def export_lines(self, *, scope: Scope | str | None = None) -> Iterator[bytes]:
        """Every unit of a user, or of all users, with its vectors, as JSON lines; the first line says which model they are of."""
        owners = None if scope is None else (as_scope(scope).owner,)
        return export_units(self._runtime.long_term, owners=owners)

    def import_lines(self, lines: Iterable[bytes]) -> int:
        """Store an export. Doing it twice leaves what doing it once left. Returns how many units were stored.

        Raises:
            EmbeddingMismatch: the export's vectors come from another model.
        """
        return import_units(self._runtime.long_term, lines)

    # --- doors -----------------------------------------------------------------------------------------------------------

    def checkpointer(self) -> HindsightSaver:
        """A LangGraph checkpointer on the store that working memory uses. It is closed with the memory."""
        return self._parts.checkpointer()

    def observe(self, saver: BaseCheckpointSaver[Any]) -> ObservingSaver:
        """Any checkpointer, watched: with no change to the graph, the memory keeps each task's trajectory and working memory.

        Compile the graph with what is returned. It costs the graph's own time next to nothing: everything is noted in the
        background, under the user and thread of the run; a run without a user id is not noted.
        """
        from hindsight_langgraph.checkpointers import ObservingSaver

        return ObservingSaver(saver, self._note)

    @overload
    def step(self, function: F, /) -> F: ...

    @overload
    def step(self, /, *, scope: Scope | str | None = None, messages_key: str = "messages") -> Callable[[F], F]: ...

    def step(
        self, function: Callable[..., Any] | None = None, /, *, scope: Scope | str | None = None, messages_key: str = "messages"
    ) -> Any:
        """Decorate a plain function, a node or a functional-API task: recall before it, take in what it did.

        Its first argument is the user's words, a message, a list of messages, or a state that has them. The function sees what was
        recalled just before the user's message, or, if it has a parameter `recollection`, is given that and sees its argument as it is.
        What it returns (words, messages, a state's update, a `Command`) is taken in, an error as a failure; it is returned without
        anything that was injected.

        Args:
            function: blocking or awaiting; not a generator.
            scope: whose memory; None reads it from the run, or from the call's `config`.
            messages_key: where a state has its messages.

        Raises:
            CallError: not such a function; at a call, an argument without messages.
            MissingUser: at a call, neither `scope` nor the run names a user.
        """
        from hindsight_langgraph.step import remembering

        def decorate(decorated: F) -> F:
            return remembering(self, decorated, scope=scope, messages_key=messages_key)

        return decorate if function is None else decorate(function)

    def as_store(self, *, scope: Scope | str | None = None) -> HindsightStore:
        """The memory as a LangGraph store: `compile(store=memory.as_store())`, `runtime.store.search(("memories", user), query=…)`.

        Items that are put are managed memory: found by meaning, recalled, exported and erased with their user. What the memory
        remembered by itself is read under `("memories", USER)`.

        Args:
            scope: whose items outside a run; inside one they are always those of the run's user.
        """
        from hindsight_langgraph.store import as_store

        return as_store(
            run=self._run,
            arun=self._arun,
            clock=self.clock,
            flow=self._settings,
            scope=None if scope is None else as_scope(scope),
        )

    def tools(self) -> list[BaseTool]:
        """`memory_search`, `memory_write` and `memory_forget` for a model; the user is read from the run."""
        from hindsight_langgraph.tools import memory_tools

        return memory_tools(self, note=self.note, anote=self.anote)

    def note(self, text: str, *, scope: Scope, name: str = "") -> WriteReport:
        """Keep one note whatever the gate says of it: what an agent, or its user, chose to keep.

        Args:
            text: one self-contained statement from the user's point of view.
            scope: whose memory.
            name: the same for a call that is repeated; blank names it by its text.
        """
        return self._run(self._call.note(text, name, scope))

    async def anote(self, text: str, *, scope: Scope, name: str = "") -> WriteReport:
        """As `note`."""
        return await self._arun(self._call.note(text, name, scope))

    def review(self, review: Review, *, dry_run: bool = False) -> Applied:
        """Take in what a person said of one answer: what it rested on gains or loses, a corrected answer becomes a memory.

        Taking the same review in again changes nothing more. With `dry_run`, only say what would be done.
        """
        return self._run(apply_review(review, now=self.clock.now(), settings=self._settings, dry_run=dry_run))

    async def areview(self, review: Review, *, dry_run: bool = False) -> Applied:
        """As `review`."""
        return await self._arun(apply_review(review, now=self.clock.now(), settings=self._settings, dry_run=dry_run))

    def _note(self, seen: Observation) -> None:
        scope = scope_from_settings(seen.configurable)
        if scope is None or not (seen.messages or seen.changed or seen.errors):
            return
        call = self._call
        self._run(ask(Later(owner=scope.owner, plan=lambda: call.observed(seen, scope))))

    # --- ending ----------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish background work within the timeout, flush, release everything. What is not written by then stays pending."""
        self._parts.close()

    async def aclose(self) -> None:
        """As `close`, for clients bound to the running loop."""
        await self._parts.aclose()

    # --- plans -----------------------------------------------------------------------------------------------------------

    def _run(self, plan: Plan[R]) -> R:
        return drive(plan, self._runtime.answer)

    async def _arun(self, plan: Plan[R]) -> R:
        return await adrive(plan, self._runtime.aanswer)

    @property
    def _call(self) -> Call:
        return Call(settings=self._settings, now=self.clock.now())

    def _approve(self, ids: Sequence[str], scope: Scope | str) -> Plan[int]:
        return approve(ids, scope=as_scope(scope), now=self.clock.now(), config=self.config.write, tools=self._settings.writing)

    def _settle(self, scope: Scope | str | None, timeout_s: float) -> Plan[bool]:
        if scope is None:
            return ask(Settle(owner=None, timeout_s=timeout_s, idle=True))
        return hindsight.settle(as_scope(scope), timeout_s=timeout_s)

    def _wake(self, scope: Scope, due: bool) -> None:
        """Have what is due run now, off the answer's path, where this process runs consolidation at all."""
        if due and self.config.consolidation.in_process:
            self._runtime.idler.submit(scope.owner, self.run_due)

    def _claim(self) -> Plan[Due | None]:
        return caring.claim_due(now=self.clock.now(), settings=self._settings)

    def _put_off(self, due: Due, error: Exception) -> None:
        if self._settings.strict:
            raise error
        logger.warning("the %s pass over %s stopped and is tried again later: %s", due.level, due.scope.owner, error)

    def _rehearse(
        self, scope: Scope, level: Level, passes: Sequence[str] | None, *, everything: bool
    ) -> Plan[ConsolidationReport]:
        run = yield from consolidating.start(
            scope, level=level, now=self.clock.now(), settings=self._settings, passes=passes, everything=everything
        )
        return (yield from consolidating.rehearse(run, settings=self._settings))
