"""What a thread keeps when checkpoints are dropped: pure decisions over its content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from hindsight_langgraph.checkpoint_lists import DIGEST_BYTES, ListNode, resolve, spell_out, splice, unpack_node
from hindsight_langgraph.checkpoint_ops import Address, CheckpointRow, Sweep, ThreadContent


class Kept(Protocol):
    """What has to be known of a checkpoint to decide about it."""

    @property
    def row(self) -> CheckpointRow:
        """The stored row."""
        ...

    @property
    def refs(self) -> Mapping[str, bytes]:
        """Channel to reference."""
        ...

    @property
    def open_deltas(self) -> set[str]:
        """Delta channels that ancestors are needed for."""
        ...


Checkpoints = Mapping[Address, Kept]


def latest(checkpoints: Checkpoints) -> set[Address]:
    """The newest checkpoint of each namespace."""
    heads: dict[str, str] = {}
    for ns, checkpoint_id in checkpoints:
        heads[ns] = max(heads.get(ns, ""), checkpoint_id)
    return set(heads.items())


def not_of_runs(checkpoints: Checkpoints, run_ids: Collection[str]) -> set[Address]:
    """Checkpoints that none of these runs made."""
    return {address for address, kept in checkpoints.items() if kept.row.run_id not in run_ids}


def with_chains(checkpoints: Checkpoints, wanted: Iterable[Address]) -> set[Address]:
    """Checkpoints with the ancestors that their delta channels are built from, each back to its snapshot."""
    keep = set(wanted)
    for ns, checkpoint_id in tuple(keep):
        kept = checkpoints[ns, checkpoint_id]
        missing = kept.open_deltas
        walked = {checkpoint_id}
        while missing and kept.row.parent not in walked and (ns, kept.row.parent) in checkpoints:
            kept = checkpoints[ns, kept.row.parent]
            walked.add(kept.row.id)
            keep.add((ns, kept.row.id))
            missing = missing - kept.refs.keys()
    return keep


def sweep(
    thread: str,
    content: ThreadContent,
    checkpoints: Checkpoints,
    keep: Collection[Address],
    *,
    write_refs: Callable[[Address], list[bytes]],
    names_of: Callable[[Iterable[bytes]], Iterable[bytes]],
) -> Sweep | None:
    """The request that drops everything but `keep` and what it refers to; None when there is nothing to drop.

    Writes that are newer than every checkpoint stay: theirs may be on its way.

    Args:
        thread: Its id.
        content: All that is stored of it.
        checkpoints: Its rows, parsed.
        keep: Which of them stay.
        write_refs: The references in the writes of a checkpoint.
        names_of: The objects that references name.
    """
    newest = max((checkpoint_id for _, checkpoint_id in checkpoints), default="")
    drop_rows = tuple(address for address in checkpoints if address not in keep)
    kept_writes = {at for at in content.writes if at in keep or (at not in checkpoints and at[1] > newest)}
    drop_writes = tuple(content.writes.keys() - kept_writes)
    names = {name for address in keep for name in names_of(checkpoints[address].refs.values())}
    names |= {name for address in kept_writes for name in names_of(write_refs(address))}
    rewritten = _rebased(content.nodes, {name for name in names if name[:1] == b"l"})
    alive = _alive({**content.nodes, **rewritten}, names)
    drop_objects = tuple(content.keys - alive)
    if not (drop_rows or drop_writes or drop_objects):
        return None
    return Sweep(
        thread=thread,
        revision=content.revision,
        drop_rows=drop_rows,
        drop_writes=drop_writes,
        put_objects=rewritten,
        drop_objects=drop_objects,
        keep_runs=tuple({checkpoints[address].row.run_id for address in keep} - {""}),
    )


def _rebased(nodes: Mapping[bytes, bytes], lists: set[bytes]) -> dict[bytes, bytes]:
    """New nodes for the lists that are built on one that goes, so that none is kept for another's sake."""

    def fetch(digest: bytes) -> bytes | None:
        return nodes.get(b"l" + digest)

    parsed = {key: unpack_node(stored) for key, stored in nodes.items()}
    links: dict[bytes, int] = {}
    new: dict[bytes, bytes] = {}
    # A list has more links than what it is built on, so that its base is settled before it.
    for key in sorted(lists & parsed.keys(), key=lambda key: parsed[key].links):
        node = parsed[key]
        base = _nearest(parsed, node, lists)
        if node.base is None or base == b"l" + node.base:
            links[key] = node.links
            continue
        refs, _ = resolve(key[1:], fetch)
        node = spell_out(refs) if base is None else splice(base[1:], resolve(base[1:], fetch)[0], links[base], refs)
        links[key] = node.links
        new[key] = node.pack()
    return new


def _nearest(parsed: Mapping[bytes, ListNode], node: ListNode, lists: set[bytes]) -> bytes | None:
    """The nearest list under this one that stays."""
    while node.base is not None:
        key = b"l" + node.base
        if key in lists:
            return key
        node = parsed[key]
    return None


def _alive(nodes: Mapping[bytes, bytes], names: Iterable[bytes]) -> set[bytes]:
    """Names of every object that is reached from these."""
    alive = set(names)
    for key in [name for name in alive if name[:1] == b"l" and name in nodes]:
        alive.update(_values(unpack_node(nodes[key]).tail))
    return alive


def _values(digests: bytes) -> Iterable[bytes]:
    return (b"v" + digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES))
