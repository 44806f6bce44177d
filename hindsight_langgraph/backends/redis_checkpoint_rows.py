"""Rows of the Redis checkpoint store as members of its sorted sets.

A part of an address is escaped so that it holds no zero byte and keeps its order; a zero byte ends each part.
"""

from __future__ import annotations

from hindsight_langgraph.checkpoint_ops import Address, CheckpointRow, WriteRow

_IDX_SHIFT = 1 << 16
"""Special writes have negative places; a shifted one is a plain hexadecimal number of fixed width."""


def escape(part: str) -> bytes:
    """A part of an address without zero bytes, in the order of the original."""
    return part.encode("utf-8", "surrogatepass").replace(b"\x01", b"\x01\x02").replace(b"\x00", b"\x01\x01")


def unescape(part: bytes) -> str:
    """The original of an escaped part."""
    return part.replace(b"\x01\x01", b"\x00").replace(b"\x01\x02", b"\x01").decode("utf-8", "surrogatepass")


def address_of(ns: str, *parts: str) -> bytes:
    """The beginning of every member under an address."""
    return b"".join(escape(part) + b"\x00" for part in (ns, *parts))


def row_member(row: CheckpointRow) -> bytes:
    """A checkpoint as a member."""
    return address_of(row.ns, row.id, row.parent, row.run_id) + row.body


def row_of(member: bytes) -> CheckpointRow:
    """The checkpoint of a member."""
    ns, checkpoint_id, parent, run_id, body = member.split(b"\x00", 4)
    return CheckpointRow(ns=unescape(ns), id=unescape(checkpoint_id), parent=unescape(parent), run_id=unescape(run_id), body=body)


def write_address(address: Address, write: WriteRow) -> bytes:
    """The beginning of the one member of a write."""
    return address_of(*address, write.task_id) + b"%08x\x00" % (write.idx + _IDX_SHIFT)


def write_of(member: bytes) -> tuple[Address, WriteRow]:
    """The write of a member and the checkpoint that it belongs to."""
    ns, checkpoint_id, task_id, idx, body = member.split(b"\x00", 4)
    write = WriteRow(task_id=unescape(task_id), idx=int(idx, 16) - _IDX_SHIFT, body=body)
    return (unescape(ns), unescape(checkpoint_id)), write
