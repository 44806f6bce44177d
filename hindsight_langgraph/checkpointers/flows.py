"""What the saver does, each as a plan of store requests that a blocking and an awaiting driver run alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from hindsight_langgraph.checkpoint_ops import (
    Address,
    CheckpointRow,
    DeleteThread,
    Found,
    ListThreads,
    Objects,
    PutCheckpoint,
    PutWrites,
    ReadChain,
    ReadCheckpoint,
    ReadObjects,
    ReadThread,
    ThreadContent,
    WriteRow,
    WriteThread,
)
from hindsight_langgraph.checkpointers import retention
from hindsight_langgraph.checkpointers.cache import Cache
from hindsight_langgraph.checkpointers.documents import (
    Document,
    WriteDocument,
    config_of,
    pack_checkpoint,
    pack_write,
    pending_write,
    to_tuple,
    unpack_checkpoint,
    unpack_writes,
)
from hindsight_langgraph.checkpointers.values import Outgoing, ValueCodec, named
from hindsight_langgraph.errors import Conflict, StoreCorrupt
from hindsight_langgraph.plan import Plan, ask

_KNOWN_CHECKPOINTS = 1024
_READ_TRIES = 3
_SWEEP_TRIES = 100
_CHAIN_PAGE = 32
_CHAIN_PAGE_MAX = 512


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifetime:
    """How long threads live."""

    ttl_s: float | None = None
    """From the last write; None keeps them."""
    refresh_on_read: bool = False

    @property
    def on_read_s(self) -> float | None:
        """The time to live that a read restarts."""
        return self.ttl_s if self.refresh_on_read else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """What is remembered of a checkpoint; none of its values, which would stay in memory with it."""

    versions: Mapping[str, Any]
    """Channel to version."""
    refs: Mapping[str, bytes]
    """Channel to reference."""


class Flows:
    """The flows of one serializer over one store's threads."""

    def __init__(self, codec: ValueCodec, lifetime: Lifetime) -> None:
        self.codec = codec
        self._lifetime = lifetime
        self._known: Cache[_Known] = Cache(_KNOWN_CHECKPOINTS)
        """Checkpoints that were put or read here."""

    # --- writing

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> Plan[RunnableConfig]:
        """Store a checkpoint: one round trip, or two when what is known here of its parent is no longer stored."""
        thread_id, ns, parent = address_in(config)
        thread = str(thread_id)
        full_metadata = get_checkpoint_metadata(config, metadata)
        before = self._known.get((thread, ns, parent)) if parent else None
        for known in (before, None):
            out = Outgoing()
            refs = self._refs(thread, checkpoint, new_versions, known, out)
            row = CheckpointRow(
                ns=ns,
                id=checkpoint["id"],
                parent=parent or "",
                run_id=str(full_metadata.get("run_id") or ""),
                body=pack_checkpoint(self.codec, checkpoint, full_metadata, refs),
            )
            request = PutCheckpoint(thread=thread, row=row, objects=out.objects, needs=out.wanted(), ttl_s=self._lifetime.ttl_s)
            if (yield from ask(request)):
                self.codec.remember(thread, out)
                self._known.put((thread, ns, row.id), _Known(versions=dict(checkpoint["channel_versions"]), refs=refs))
                return config_of(thread_id, ns, row.id)
        raise StoreCorrupt(f"thread {thread!r} does not take a checkpoint that comes with all it needs")

    def _refs(
        self, thread: str, checkpoint: Checkpoint, new_versions: ChannelVersions, parent: _Known | None, out: Outgoing
    ) -> dict[str, bytes]:
        versions = checkpoint["channel_versions"]
        refs: dict[str, bytes] = {}
        for channel, value in checkpoint["channel_values"].items():
            if channel not in versions:
                continue
            before = parent.refs.get(channel) if parent is not None else None
            unchanged = channel not in new_versions and parent is not None and parent.versions.get(channel) == versions[channel]
            if before is not None and unchanged:
                refs[channel] = self.codec.keep(before, out)
            else:
                refs[channel] = self.codec.encode(thread, value, out, base=before)
        return refs

    def put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str) -> Plan[None]:
        """Store writes of a task: one round trip."""
        thread_id, ns, checkpoint_id = address_in(config)
        thread = str(thread_id)
        out = Outgoing()
        rows: list[WriteRow] = []
        for place, (channel, value) in enumerate(writes):
            body = pack_write(self.codec, task_path, channel, self.codec.encode(thread, value, out))
            rows.append(WriteRow(task_id=task_id, idx=WRITES_IDX_MAP.get(channel, place), body=body))
        if not rows:
            return
        yield from ask(
            PutWrites(
                thread=thread,
                ns=ns,
                checkpoint_id=checkpoint_id or "",
                writes=tuple(rows),
                objects=out.objects,
                ttl_s=self._lifetime.ttl_s,
            )
        )
        self.codec.remember(thread, out)

    # --- reading

    def get(self, config: RunnableConfig) -> Plan[CheckpointTuple | None]:
        """Read one checkpoint: one round trip, or two when it has values that are not known here."""
        thread_id, ns, checkpoint_id = address_in(config)
        request = ReadCheckpoint(thread=str(thread_id), ns=ns, id=checkpoint_id or None, ttl_s=self._lifetime.on_read_s)
        for left in reversed(range(_READ_TRIES)):
            found = yield from ask(request)
            if found is None:
                return None
            try:
                tuples = yield from self.tuples(thread_id, [found])
            except StoreCorrupt:
                # Between the two round trips the checkpoint may have been pruned; then the next try finds another, or none.
                if not left:
                    raise
            else:
                return tuples[0]
        return None

    def tuples(self, thread_id: Any, found: Sequence[Found]) -> Plan[list[CheckpointTuple]]:
        """Checkpoints as LangGraph reads them, with at most one more round trip for all."""
        thread = str(thread_id)
        documents = [self.open(thread, one.row) for one in found]
        writes = [unpack_writes(self.codec, one) for one in found]
        refs = [ref for document in documents for ref in document.refs.values()]
        refs += [write.ref for some in writes for write in some]
        objects = yield from self._read_objects(thread, refs)
        return [to_tuple(self.codec, thread_id, doc, some, objects) for doc, some in zip(documents, writes, strict=True)]

    def open(self, thread: str, row: CheckpointRow) -> Document:
        """Parse a checkpoint that was read."""
        document = unpack_checkpoint(self.codec, row)
        self._known.put((thread, row.ns, row.id), _Known(versions=document.versions, refs=document.refs))
        return document

    def _read_objects(self, thread: str, refs: Sequence[bytes]) -> Plan[Objects]:
        missing = self.codec.missing(thread, refs)
        if not missing:
            return Objects()
        return (yield from ask(ReadObjects(thread=thread, keys=missing)))

    def delta_history(self, config: RunnableConfig, channels: Sequence[str]) -> Plan[Mapping[str, DeltaChannelHistory]]:
        """Writes of ancestors for delta channels, each back to the nearest checkpoint that holds a value of it."""
        thread_id, ns, checkpoint_id = address_in(config)
        thread = str(thread_id)
        if channels and not checkpoint_id:
            newest = yield from ask(ReadCheckpoint(thread=thread, ns=ns))
            checkpoint_id = newest.row.id if newest is not None else None
        walk = _DeltaWalk(self.codec, channels)
        limit, seen = _CHAIN_PAGE, set[str]()
        wanted = checkpoint_id or ""
        while walk.open and wanted and wanted not in seen:
            chain = yield from ask(ReadChain(thread=thread, ns=ns, id=wanted, limit=limit))
            for found in chain:
                seen.add(found.row.id)
                if found.row.id != checkpoint_id:
                    walk.step(found)
            wanted = chain[-1].row.parent if chain else ""
            limit = min(2 * limit, _CHAIN_PAGE_MAX)
        objects = yield from self._read_objects(thread, walk.refs)
        return walk.history(thread, objects)

    # --- whole threads

    def delete_thread(self, thread_id: str) -> Plan[None]:
        """Delete everything of a thread."""
        yield from ask(DeleteThread(thread=str(thread_id)))

    def copy_thread(self, source: str, target: str) -> Plan[None]:
        """Add all of one thread to another, values and all."""
        if str(source) == str(target):
            return
        content = yield from ask(ReadThread(thread=str(source), with_values=True))
        if content.rows or content.writes:
            yield from ask(WriteThread(thread=str(target), content=content, ttl_s=self._lifetime.ttl_s))

    def prune(self, thread_ids: Sequence[str], strategy: str) -> Plan[None]:
        """Keep the newest checkpoint of each namespace, or nothing.

        Raises:
            ValueError: no such strategy.
        """
        if strategy not in {"keep_latest", "delete", "delete_all"}:  # the platform calls "delete" by its old name
            raise ValueError(f"prune strategy {strategy!r} is neither 'keep_latest' nor 'delete'")
        for thread_id in thread_ids:
            if strategy != "keep_latest":
                yield from self.delete_thread(thread_id)
            else:
                yield from self._sweep(str(thread_id), retention.latest)

    def delete_for_runs(self, run_ids: Sequence[str]) -> Plan[None]:
        """Delete the checkpoints that runs made, in all threads, but those that a later one's delta channels are built from."""
        runs = frozenset(str(run_id) for run_id in run_ids)
        if runs:
            for thread in (yield from ask(ListThreads(run_ids=tuple(runs)))):
                yield from self._sweep(thread, lambda checkpoints: retention.not_of_runs(checkpoints, runs))

    def _sweep(self, thread: str, choose: Callable[[retention.Checkpoints], Collection[Address]]) -> Plan[None]:
        for _ in range(_SWEEP_TRIES):
            content = yield from ask(ReadThread(thread=thread))
            checkpoints = {(row.ns, row.id): unpack_checkpoint(self.codec, row) for row in content.rows}
            keep = retention.with_chains(checkpoints, choose(checkpoints))
            request = retention.sweep(thread, content, checkpoints, keep, write_refs=self._write_refs(content), names_of=names_in)
            if request is None or (yield from ask(request)):
                return
        raise Conflict(f"thread {thread!r} is written to all the time and could not be pruned; prune it when it is quiet")

    def _write_refs(self, content: ThreadContent) -> Callable[[Address], list[bytes]]:
        def refs(address: Address) -> list[bytes]:
            return [self.codec.loads(write.body)[2] for write in content.writes[address]]

        return refs


class _DeltaWalk:
    """Collects the writes of delta channels on the way from a checkpoint to its ancestors."""

    def __init__(self, codec: ValueCodec, channels: Sequence[str]) -> None:
        self._codec = codec
        self._writes: dict[str, list[WriteDocument]] = {channel: [] for channel in channels}
        self._seeds: dict[str, bytes] = {}
        self.open = set(channels)
        """Channels whose value was not met yet."""

    def step(self, found: Found) -> None:
        """Take one ancestor: its writes came after its values."""
        if not self.open:
            return
        for write in reversed(unpack_writes(self._codec, found)):
            if write.channel in self.open:
                self._writes[write.channel].append(write)
        refs = unpack_checkpoint(self._codec, found.row).refs
        for channel in self.open & refs.keys():
            self._seeds[channel] = refs[channel]
            self.open.discard(channel)

    @property
    def refs(self) -> list[bytes]:
        """References of everything collected."""
        return [*self._seeds.values(), *(write.ref for writes in self._writes.values() for write in writes)]

    def history(self, thread: str, objects: Objects) -> Mapping[str, DeltaChannelHistory]:
        """What was collected, oldest write first."""
        reader = self._codec.reader(thread, objects)
        result: dict[str, DeltaChannelHistory] = {}
        for channel, writes in self._writes.items():
            result[channel] = {"writes": [pending_write(reader, write) for write in reversed(writes)]}
            if channel in self._seeds:
                result[channel]["seed"] = reader.decode(self._seeds[channel])
        return result


def names_in(refs: Iterable[bytes]) -> Iterator[bytes]:
    """Names of the objects that references need directly."""
    return (name for ref in refs for name in named(ref))


def address_in(config: RunnableConfig) -> tuple[Any, str, str | None]:
    """Thread id as it was given, namespace, and checkpoint id if there is one."""
    configurable = cast("Mapping[str, Any]", config.get("configurable") or {})
    if "thread_id" not in configurable:
        raise ValueError("the config names no thread: set config['configurable']['thread_id']")
    return configurable["thread_id"], configurable.get("checkpoint_ns") or "", get_checkpoint_id(config)
