"""The closed list of requests that the checkpointer makes of its store: bytes in, bytes out.

A store keeps, for each thread, checkpoint rows, write rows and objects. An object is named by its content: `v` + digest for a
serialised value, `l` + digest for a list node (see `checkpoint_lists`). Whatever a row refers to is stored with it or before it,
in one atomic step, so that a reader never finds half a checkpoint. Every op may be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from hindsight_langgraph.plan import Op

Reply = TypeVar("Reply")


class CheckpointOp(Op[Reply], Generic[Reply]):
    """A request to the checkpoint store."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointRow:
    """One checkpoint as stored; ids sort by age within a namespace."""

    ns: str
    id: str
    parent: str = ""
    """Empty at the root of a thread."""
    run_id: str = ""
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteRow:
    """One write of a task; negative `idx` are special writes that replace what was there, others keep what came first."""

    task_id: str
    idx: int
    body: bytes


Address = tuple[str, str]
"""Namespace and checkpoint id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PutCheckpoint(CheckpointOp[bool]):
    """Store a checkpoint with the objects that it adds. Reply: False, with nothing stored, when one of `needs` is not there."""

    thread: str
    row: CheckpointRow
    objects: Mapping[bytes, bytes]
    needs: tuple[bytes, ...] = ()
    ttl_s: float | None = None
    """The whole thread lives this long from now; None keeps it until it is deleted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PutWrites(CheckpointOp[None]):
    """Store writes of a checkpoint, which may come later."""

    thread: str
    ns: str
    checkpoint_id: str
    writes: tuple[WriteRow, ...]
    objects: Mapping[bytes, bytes]
    ttl_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A checkpoint with its writes, in no particular order."""

    row: CheckpointRow
    writes: tuple[WriteRow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadCheckpoint(CheckpointOp[Found | None]):
    """One checkpoint of a namespace, the one with the highest id when `id` is None."""

    thread: str
    ns: str
    id: str | None = None
    ttl_s: float | None = None
    """Restart the time to live of the thread; None leaves it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Objects:
    """What `ReadObjects` found."""

    values: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    """Object key (`v…`) to serialised value; those that are gone are missing."""
    lists: Mapping[bytes, tuple[bytes, int]] = field(default_factory=dict[bytes, tuple[bytes, int]])
    """Object key (`l…`) to joined item digests and chain links; those that are gone are missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadObjects(CheckpointOp[Objects]):
    """Values by key, and lists by key together with the values of all their items."""

    thread: str
    keys: tuple[bytes, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadPage(CheckpointOp[list[CheckpointRow]]):
    """Checkpoints of a thread, highest id first, ties by namespace; `ns` None takes all namespaces."""

    thread: str
    ns: str | None
    before: str | None = None
    """Only ids below this one."""
    after: Address | None = None
    """Only what comes after this row in the order; the last row of the page before."""
    limit: int = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadWrites(CheckpointOp[list[tuple[WriteRow, ...]]]):
    """The writes of several checkpoints of a thread, one entry an address."""

    thread: str
    addresses: tuple[Address, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadChain(CheckpointOp[list[Found]]):
    """A checkpoint and its ancestors with their writes, child before parent, at most `limit`; empty when it is gone."""

    thread: str
    ns: str
    id: str
    limit: int = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class ListThreads(CheckpointOp[list[str]]):
    """Ids of the threads that are stored, sorted; only those with a checkpoint of one of `run_ids` when given."""

    run_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteThread(CheckpointOp[None]):
    """Delete everything of a thread."""

    thread: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadContent:
    """Everything of one thread."""

    revision: int
    """Moves with every write to the thread."""
    rows: tuple[CheckpointRow, ...]
    writes: Mapping[Address, tuple[WriteRow, ...]]
    keys: frozenset[bytes]
    """Of all objects."""
    nodes: Mapping[bytes, bytes]
    """List nodes by key."""
    values: Mapping[bytes, bytes]
    """Serialised values by key; empty unless asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadThread(CheckpointOp[ThreadContent]):
    """Everything of a thread as it was at one revision."""

    thread: str
    with_values: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteThread(CheckpointOp[None]):
    """Add everything of another thread to this one: objects, then writes, then checkpoints."""

    thread: str
    content: ThreadContent
    ttl_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweep(CheckpointOp[bool]):
    """Drop rows and objects in one atomic step. Reply: False, with nothing changed, when the thread is at another revision."""

    thread: str
    revision: int
    drop_rows: tuple[Address, ...] = ()
    drop_writes: tuple[Address, ...] = ()
    put_objects: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    drop_objects: tuple[bytes, ...] = ()
    keep_runs: tuple[str, ...] = ()
    """Run ids that still have a checkpoint."""


class CheckpointStore(Protocol):
    """Answers every `CheckpointOp`; `run` and `arun` give the same reply and raise only errors of this library."""

    def run(self, op: CheckpointOp[Reply]) -> Reply:
        """Answer one request, blocking."""
        ...

    async def arun(self, op: CheckpointOp[Reply]) -> Reply:
        """Answer one request on the running loop."""
        ...

    def close(self) -> None:
        """Release every client; later requests raise `StoreClosed`."""
        ...

    async def aclose(self) -> None:
        """As `close`, for clients bound to the running loop."""
        ...
