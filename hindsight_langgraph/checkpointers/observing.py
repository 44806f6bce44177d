"""ObservingSaver: any checkpointer with an observer, and nothing else about it changes."""

from __future__ import annotations

import copy
import functools
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any, Self, cast

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

from hindsight_langgraph.checkpointers.observations import Observer, Watch


class ObservingSaver(BaseCheckpointSaver[Any]):
    """Any checkpointer with an observer: it stores, reads and raises as the one inside does, and can what that one can.

    Each checkpoint, each write of a task and each message of a thread is shown once, also when a graph is replayed, a node is
    tried again or a thread is forked. After a restart only what was read or put since is known; the ids of observations stay the
    same. An observer that raises is logged once and costs the graph nothing.

    Args:
        inner: The checkpointer that does the work.
        observer: Called after each checkpoint and each set of writes that was stored.
    """

    _inner: BaseCheckpointSaver[Any]
    _watch: Watch

    def __new__(cls, inner: BaseCheckpointSaver[Any] | None = None, observer: Observer | None = None) -> Self:
        """An instance of a class that overrides exactly the methods that the inner saver's class overrides."""
        del observer
        made = cls if inner is None else _observing_class(type(inner))  # a copy is made without arguments
        return cast("Self", object.__new__(made))

    def __init__(  # pyright: ignore[reportInconsistentConstructor] — only a copy is made without arguments, and it skips this
        self, inner: BaseCheckpointSaver[Any], observer: Observer
    ) -> None:
        self._inner = inner
        self._watch = Watch(observer)

    @property
    def inner(self) -> BaseCheckpointSaver[Any]:
        """The checkpointer that does the work."""
        return self._inner

    @property
    def serde(self) -> SerializerProtocol:
        """The serializer of the inner saver."""
        return self._inner.serde

    @serde.setter
    def serde(self, serde: SerializerProtocol) -> None:  # pyright: ignore[reportIncompatibleVariableOverride] — was an attribute
        self._inner = copy.copy(self._inner)
        self._inner.serde = serde

    @property
    def config_specs(self) -> list[Any]:
        """Those of the inner saver."""
        return cast("list[Any]", cast("Any", self._inner).config_specs)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The inner saver's next version."""
        return self._inner.get_next_version(current, channel)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[Any]:
        """A clone round a clone of the inner saver."""
        inner = self._inner.with_allowlist(extra_allowlist)
        if inner is self._inner:
            return self
        clone = copy.copy(self)
        clone.__dict__["_inner"] = inner
        return clone

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy looks for its own attributes before it has any
            raise AttributeError(name)
        return getattr(self._inner, name)


class _Everything(ObservingSaver):
    """Every method that an inner saver may have; the class of an observing saver takes those that the inner one's has."""

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = self._inner.get_tuple(config)
        self._watch.safely(lambda: self._watch.was_read(found))
        return found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await self._inner.aget_tuple(config)
        self._watch.safely(lambda: self._watch.was_read(found))
        return found

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        stored = self._inner.put(config, checkpoint, metadata, new_versions)
        self._watch.safely(lambda: self._watch.was_put(config, checkpoint, metadata, new_versions))
        return stored

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        stored = await self._inner.aput(config, checkpoint, metadata, new_versions)
        self._watch.safely(lambda: self._watch.was_put(config, checkpoint, metadata, new_versions))
        return stored

    def put_writes(  # older savers take no task_path, so that it is passed on only when it was given
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, *path: Any, **named: Any
    ) -> None:
        self._inner.put_writes(config, writes, task_id, *path, **named)
        self._watch.safely(lambda: self._watch.was_written(config, writes, task_id))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, *path: Any, **named: Any
    ) -> None:
        await self._inner.aput_writes(config, writes, task_id, *path, **named)
        self._watch.safely(lambda: self._watch.was_written(config, writes, task_id))

    def list(self, config: RunnableConfig | None, **named: Any) -> Iterator[CheckpointTuple]:
        return self._inner.list(config, **named)

    async def alist(self, config: RunnableConfig | None, **named: Any) -> AsyncIterator[CheckpointTuple]:
        async for found in self._inner.alist(config, **named):
            yield found

    def delete_thread(self, thread_id: str) -> None:
        self._inner.delete_thread(thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        await self._inner.adelete_thread(thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._inner.delete_for_runs(run_ids)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._inner.adelete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._inner.copy_thread(source_thread_id, target_thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._inner.acopy_thread(source_thread_id, target_thread_id)

    def prune(self, thread_ids: Sequence[str], **named: Any) -> None:
        self._inner.prune(thread_ids, **named)

    async def aprune(self, thread_ids: Sequence[str], **named: Any) -> None:
        await self._inner.aprune(thread_ids, **named)

    def get_delta_channel_history(self, *, config: RunnableConfig, channels: Sequence[str]) -> Mapping[str, DeltaChannelHistory]:
        return self._inner.get_delta_channel_history(config=config, channels=channels)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self._inner.aget_delta_channel_history(config=config, channels=channels)

    def __enter__(self) -> Self:
        cast("Any", self._inner).__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return cast("Any", self._inner).__exit__(*error)

    async def __aenter__(self) -> Self:
        await cast("Any", self._inner).__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await cast("Any", self._inner).__aexit__(*error)


def _observing_class(inner: type[BaseCheckpointSaver[Any]]) -> type[ObservingSaver]:
    """A class that overrides what `inner` overrides, since that is how capabilities are detected."""
    members: dict[str, Any] = {}
    for name, method in vars(_Everything).items():
        theirs = getattr(inner, name, None)
        if callable(method) and theirs is not None and theirs is not getattr(BaseCheckpointSaver, name, None):
            members[name] = functools.wraps(theirs)(method)
    return type(f"Observing{inner.__name__}", (ObservingSaver,), members)
