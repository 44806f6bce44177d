"""HindsightSaver: every capability of a LangGraph checkpointer, on plain Redis or SQLite."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Self, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from pydantic import BaseModel

from hindsight_langgraph import records
from hindsight_langgraph.checkpoint_ops import CheckpointStore, ReadCheckpoint
from hindsight_langgraph.checkpointers.continuing import Continuing
from hindsight_langgraph.checkpointers.flows import Flows, Lifetime
from hindsight_langgraph.checkpointers.listing import Listing
from hindsight_langgraph.checkpointers.opening import open_store
from hindsight_langgraph.checkpointers.ownership import delete_user
from hindsight_langgraph.checkpointers.values import ValueCodec
from hindsight_langgraph.clock import SystemClock
from hindsight_langgraph.closing import Closing
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.outages import Outage
from hindsight_langgraph.plan import Op, Plan, adrive, drive

R = TypeVar("R")
_ANY_READ = ReadCheckpoint(thread="", ns="")


class HindsightSaver(Closing, BaseCheckpointSaver[int]):
    """A checkpointer for sync and async graphs alike; one object serves threads, several event loops and processes.

    Values are stored once per thread by content, and a list of messages as what changed since the version before, so that a
    thread grows with what is said in it and not with its square. Reading any checkpoint gives exactly what was put.

    Two writers on one thread: each checkpoint is written whole or not at all, and none replaces another's, since ids are unique.
    The thread then forks at the checkpoint that both started from; reading without an id gives the one with the highest id.
    Nothing is lost, and no error is raised: LangGraph gives a saver no way to know which run owns a thread.

    Args:
        store: Where checkpoints are kept; see `from_url` for the usual ones.
        serde: Every value goes through it; by default LangGraph's own, which in strict mode also accepts this library's records.
        ttl_s: Seconds that a thread lives after the last write to it; None keeps threads until they are deleted.
        refresh_on_read: Reading a checkpoint restarts the time to live of its thread.
        encrypted_only: With an encrypting `serde`, refuse to read what was stored without encryption.
        when_down: What a run meets while the store cannot be reached. "raise" raises `StoreUnavailable`. "continue" lets the run
            go on without durability: it finds no history, nothing of it is stored, and it cannot be resumed. One warning an
            outage says so, another how many requests were lost. A run that knows its history is stored again as soon as the
            store is back; one that began without it is not, lest it hides the conversation before it: the thread's next run is.
            Listing, copying and deleting always raise.
        retry_after_s: With "continue", how long a store that failed is left alone before it is tried again.

    Raises:
        ConfigError: `ttl_s` is not positive, or `when_down` is neither.
    """

    def __init__(
        self,
        store: CheckpointStore,
        *,
        serde: SerializerProtocol | None = None,
        ttl_s: float | None = None,
        refresh_on_read: bool = False,
        encrypted_only: bool = False,
        when_down: Literal["raise", "continue"] = "raise",
        retry_after_s: float = 10.0,
    ) -> None:
        super().__init__(serde=serde)
        if when_down not in {"raise", "continue"}:
            raise ConfigError(f"when_down is {when_down!r}; give 'raise' or 'continue'")
        if ttl_s is not None and ttl_s <= 0:
            raise ConfigError(f"ttl_s is {ttl_s}; give a number of seconds above 0, or None to keep threads")
        self._store = store
        self._lifetime = Lifetime(ttl_s=ttl_s, refresh_on_read=refresh_on_read)
        self._encrypted_only = encrypted_only
        self._continuing = _continuing(retry_after_s) if when_down == "continue" else None
        self._current: Flows | None = None
        if serde is None:
            self.serde = self.with_allowlist(_record_types()).serde

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        serde: SerializerProtocol | None = None,
        ttl_s: float | None = None,
        refresh_on_read: bool = False,
        encrypted_only: bool = False,
        when_down: Literal["raise", "continue"] = "raise",
        retry_after_s: float = 10.0,
        prefix: str = "hindsight",
        timeout_s: float = 5.0,
        durable: bool = False,
    ) -> Self:
        """A saver with a store of its own; nothing is connected before the first use.

        Args:
            url: `redis://`, `rediss://`, `unix://`, `redis+cluster://`, `rediss+cluster://`, or `sqlite:///FILE` (four slashes
                for an absolute path).
            serde: see the class.
            ttl_s: see the class.
            refresh_on_read: see the class.
            encrypted_only: see the class.
            when_down: see the class.
            retry_after_s: see the class.
            prefix: Begins every key in Redis, so that deployments on one server do not see each other.
            timeout_s: The most that one request waits for the store.
            durable: With SQLite, wait for the disk at each commit, so that a power cut loses nothing that was acknowledged; it
                costs up to several ms a put. A killed process loses nothing either way. Redis decides this by its own settings.

        Raises:
            ConfigError: the URL is of no such form.
        """
        store = open_store(url, prefix=prefix, timeout_s=timeout_s, durable=durable)
        return cls(
            store,
            serde=serde,
            ttl_s=ttl_s,
            refresh_on_read=refresh_on_read,
            encrypted_only=encrypted_only,
            when_down=when_down,
            retry_after_s=retry_after_s,
        )

    # --- life

    def setup(self) -> None:
        """Check that the store can be used, making what is missing; may be called any number of times, or never."""
        self._store.run(_ANY_READ)

    async def asetup(self) -> None:
        """As `setup`."""
        await self._store.arun(_ANY_READ)

    def close(self) -> None:
        """Release the store; later calls raise `StoreClosed`. May be called twice."""
        self._store.close()

    async def aclose(self) -> None:
        """As `close`."""
        await self._store.aclose()

    # --- the contract, blocking

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that `config` names, the newest of its namespace when it names none."""
        return self._run(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 — the base class's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints newest first; without a namespace those of all, without a config those of all threads."""
        listing = Listing(self._flows, config, where=filter, before=before, limit=limit)
        while not listing.done:
            yield from self._run(listing.page())

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Store a checkpoint as a child of the one that `config` names."""
        return self._run(self._put(config, checkpoint, metadata, new_versions))

    def put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Store writes of a task; its checkpoint may come later."""
        self._run(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Delete everything of a thread."""
        self._run(self._flows.delete_thread(thread_id))

    def delete_user(self, user_id: str, *, threads: Collection[str] = ()) -> int:
        """Delete every thread whose runs named this user, and no other, in `configurable`; and the threads named.

        Returns how many there were.
        """
        return self._run(delete_user(self._flows, user_id, threads=threads))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that runs made, but those that a later one's delta channels are built from."""
        self._run(self._flows.delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Add every checkpoint and write of one thread to another."""
        self._run(self._flows.copy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the newest checkpoint of each namespace with what its delta channels need ("keep_latest"), or none ("delete")."""
        self._run(self._flows.prune(thread_ids, strategy))

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        """Writes of ancestors for delta channels, in a few round trips however long the chain is."""
        return self._run(self._delta_history(config, channels))

    # --- the contract, awaiting

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        return await self._arun(self._get(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 — the base class's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        listing = Listing(self._flows, config, where=filter, before=before, limit=limit)
        while not listing.done:
            for found in await self._arun(listing.page()):
                yield found

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """As `put`."""
        return await self._arun(self._put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`."""
        await self._arun(self._put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await self._arun(self._flows.delete_thread(thread_id))

    async def adelete_user(self, user_id: str, *, threads: Collection[str] = ()) -> int:
        """As `delete_user`."""
        return await self._arun(delete_user(self._flows, user_id, threads=threads))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """As `delete_for_runs`."""
        await self._arun(self._flows.delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """As `copy_thread`."""
        await self._arun(self._flows.copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As `prune`."""
        await self._arun(self._flows.prune(thread_ids, strategy))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """As `get_delta_channel_history`."""
        return await self._arun(self._delta_history(config, channels))

    # --- what a run needs, which may go on without the store

    def _get(self, config: RunnableConfig) -> Plan[CheckpointTuple | None]:
        reading = self._flows.get(config)
        return reading if self._continuing is None else self._continuing.get(config, reading)

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> Plan[RunnableConfig]:
        storing = self._flows.put(config, checkpoint, metadata, new_versions)
        return storing if self._continuing is None else self._continuing.put(config, checkpoint["id"], storing)

    def _put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str) -> Plan[None]:
        storing = self._flows.put_writes(config, writes, task_id, task_path)
        return storing if self._continuing is None else self._continuing.put_writes(config, storing)

    def _delta_history(self, config: RunnableConfig, channels: Sequence[str]) -> Plan[Mapping[str, DeltaChannelHistory]]:
        reading = self._flows.delta_history(config, channels)
        return reading if self._continuing is None else self._continuing.delta_history(channels, reading)

    # --- drivers

    @property
    def _flows(self) -> Flows:
        """The flows of the serializer that the saver has now: LangGraph copies savers and gives the copy another one."""
        flows = self._current
        if flows is None or flows.codec.serde is not self.serde:
            flows = Flows(ValueCodec(self.serde, encrypted_only=self._encrypted_only), self._lifetime)
            self._current = flows
        return flows

    def _run(self, plan: Plan[R]) -> R:
        return drive(plan, cast("Callable[[Op[Any]], Any]", self._store.run))

    async def _arun(self, plan: Plan[R]) -> R:
        return await adrive(plan, cast("Callable[[Op[Any]], Awaitable[Any]]", self._store.arun))


def _continuing(retry_after_s: float) -> Continuing:
    meanwhile = "runs go on without durability: nothing of them is stored until it is back"
    # A step's writes and its checkpoint come at the same time: if one tried for all, the other would be lost to a store that is up.
    outage = Outage("checkpoint store", retry_after_s=retry_after_s, clock=SystemClock(), meanwhile=meanwhile, one_tries=False)
    return Continuing(outage)


def _record_types() -> list[tuple[str, str]]:
    """Module and name of the library's own record types, as the serializer's list of allowed types has them."""
    found = inspect.getmembers(records, lambda member: inspect.isclass(member) and issubclass(member, (BaseModel, Enum)))
    return [(kind.__module__, kind.__name__) for _, kind in found if kind.__module__ == records.__name__]
