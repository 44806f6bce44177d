"""The stored body of a checkpoint or a write: what LangGraph gave, with references in place of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, CheckpointTuple, PendingWrite, writes_sort_key

from hindsight_langgraph.checkpoint_ops import CheckpointRow, Found, Objects, WriteRow
from hindsight_langgraph.checkpointers.values import ValueCodec, ValueReader
from hindsight_langgraph.errors import StoreCorrupt

_DELTA_COUNTERS = "counters_since_delta_snapshot"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A checkpoint without its values."""

    row: CheckpointRow
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    refs: Mapping[str, bytes]
    """Channel to reference."""

    @property
    def versions(self) -> Mapping[str, Any]:
        """Channel to version."""
        return self.checkpoint["channel_versions"]

    @property
    def open_deltas(self) -> set[str]:
        """Delta channels whose value is built from the writes of ancestors, back to one that holds a snapshot."""
        counters = cast("Mapping[str, Any]", self.metadata.get(_DELTA_COUNTERS) or {})
        return {channel for channel in counters if channel in self.versions and channel not in self.refs}


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteDocument:
    """A write without its value."""

    row: WriteRow
    task_path: str
    channel: str
    ref: bytes

    @property
    def order(self) -> tuple[str, str, int]:
        """Where LangGraph applies it within its step."""
        return writes_sort_key(self.task_path, self.row.task_id, self.row.idx)


def pack_checkpoint(codec: ValueCodec, checkpoint: Checkpoint, metadata: CheckpointMetadata, refs: Mapping[str, bytes]) -> bytes:
    """The stored body of a checkpoint."""
    return codec.dumps([{**checkpoint, "channel_values": refs}, metadata])


def unpack_checkpoint(codec: ValueCodec, row: CheckpointRow) -> Document:
    """Read the stored body of a checkpoint.

    Raises:
        StoreCorrupt: it is none.
    """
    try:
        checkpoint, metadata = codec.loads(row.body)
    except (TypeError, ValueError) as error:
        raise StoreCorrupt(f"the stored checkpoint {row.id!r} cannot be read: {error}; restore a backup") from error
    return Document(row=row, checkpoint=checkpoint, metadata=metadata, refs=checkpoint["channel_values"])


def pack_write(codec: ValueCodec, task_path: str, channel: str, ref: bytes) -> bytes:
    """The stored body of a write."""
    return codec.dumps([task_path, channel, ref])


def unpack_writes(codec: ValueCodec, found: Found) -> list[WriteDocument]:
    """The writes of a checkpoint in the order in which LangGraph applies them."""
    documents: list[WriteDocument] = []
    for row in found.writes:
        task_path, channel, ref = codec.loads(row.body)
        documents.append(WriteDocument(row=row, task_path=task_path, channel=channel, ref=ref))
    documents.sort(key=lambda document: document.order)
    return documents


def pending_write(reader: ValueReader, write: WriteDocument) -> PendingWrite:
    """A write as LangGraph reads it."""
    return (write.row.task_id, write.channel, reader.decode(write.ref))


def to_tuple(
    codec: ValueCodec, thread_id: Any, document: Document, writes: list[WriteDocument], objects: Objects
) -> CheckpointTuple:
    """A checkpoint as LangGraph reads it."""
    reader = codec.reader(str(thread_id), objects)
    values = {channel: reader.decode(ref) for channel, ref in document.refs.items()}
    row = document.row
    return CheckpointTuple(
        config=config_of(thread_id, row.ns, row.id),
        checkpoint={**document.checkpoint, "channel_values": values},
        metadata=document.metadata,
        parent_config=config_of(thread_id, row.ns, row.parent) if row.parent else None,
        pending_writes=[pending_write(reader, write) for write in writes],
    )


def config_of(thread_id: Any, ns: str, checkpoint_id: str) -> RunnableConfig:
    """The configuration that names a checkpoint."""
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}
