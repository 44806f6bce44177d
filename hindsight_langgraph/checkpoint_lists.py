"""Lists of stored items: one version is kept as a splice of the version before it.

A version of n items is named by the digest of its items, so that equal lists are one object. Its node either spells the items out
or says which stretch of another version was replaced by which items. A chain of splices is at most `max(16, n // 2)` long, so
that reading stays O(n) and everything that n appends write together stays O(n) (snapshots at sizes that grow by half).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from hindsight_langgraph.errors import StoreCorrupt

DIGEST_BYTES = 16
_HEAD = struct.Struct(">16sIII")
_NO_BASE = bytes(DIGEST_BYTES)
_MIN_LINKS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class ListNode:
    """One version of a list: the items of `base` with [start:end] replaced by `tail`, or just `tail` when there is no base."""

    base: bytes | None
    start: int
    end: int
    links: int
    """Splices between this version and one that is spelt out; 0 when this one is."""
    tail: bytes
    """Digests, joined."""

    def pack(self) -> bytes:
        """The stored form."""
        return _HEAD.pack(self.base or _NO_BASE, self.start, self.end, self.links) + self.tail


def unpack_node(stored: bytes) -> ListNode:
    """Read a stored node.

    Raises:
        StoreCorrupt: not a node.
    """
    if len(stored) < _HEAD.size or (len(stored) - _HEAD.size) % DIGEST_BYTES:
        raise StoreCorrupt(f"a stored list node of {len(stored)} bytes cannot be read; restore the store from a backup")
    base, start, end, links = _HEAD.unpack_from(stored)
    return ListNode(base=None if base == _NO_BASE else base, start=start, end=end, links=links, tail=stored[_HEAD.size :])


def list_hash(refs: bytes) -> blake2b:
    """The hash whose digest is the name of a list, from the joined digests of its items; of a longer list it is updated."""
    return blake2b(refs, digest_size=DIGEST_BYTES, person=b"list")


def value_digest(typed: bytes) -> bytes:
    """The name of a serialised value."""
    return blake2b(typed, digest_size=DIGEST_BYTES, person=b"value").digest()


def spell_out(refs: bytes) -> ListNode:
    """A node that needs no other."""
    return ListNode(base=None, start=0, end=0, links=0, tail=refs)


def splice(base_digest: bytes, base_refs: bytes, base_links: int, refs: bytes) -> ListNode:
    """The node for `refs` that costs least: a splice of the base, or spelt out when the chain or the splice would be too long."""
    start, end, tail = _difference(base_refs, refs)
    links = base_links + 1
    if links > max(_MIN_LINKS, len(refs) // (2 * DIGEST_BYTES)) or len(tail) * 2 > len(refs):
        return spell_out(refs)
    return ListNode(base=base_digest, start=start, end=end, links=links, tail=tail)


def resolve(digest: bytes, fetch: Callable[[bytes], bytes | None]) -> tuple[bytes, int]:
    """The joined digests of a list and the links of its node; `fetch` gives the stored node of a digest.

    Raises:
        StoreCorrupt: a node of the chain is gone.
    """
    chain: list[ListNode] = []
    wanted: bytes | None = digest
    while wanted is not None:
        stored = fetch(wanted)
        if stored is None:
            raise StoreCorrupt(f"list node {wanted.hex()} is gone; restore the store from a backup")
        node = unpack_node(stored)
        chain.append(node)
        wanted = node.base
    refs = bytearray()
    for node in reversed(chain):
        if node.base is None:
            refs = bytearray(node.tail)
        else:
            refs[node.start * DIGEST_BYTES : node.end * DIGEST_BYTES] = node.tail
    return bytes(refs), chain[0].links


def _difference(old: bytes, new: bytes) -> tuple[int, int, bytes]:
    """The shortest single splice: items [start:end] of the old list become the returned ones."""
    if new.startswith(old):
        length = len(old) // DIGEST_BYTES
        return length, length, new[len(old) :]
    size = DIGEST_BYTES
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head : head + size] == new[head : head + size]:
        head += size
    rest = most - head
    foot = 0
    while foot < rest and old[len(old) - foot - size : len(old) - foot] == new[len(new) - foot - size : len(new) - foot]:
        foot += size
    return head // size, (len(old) - foot) // size, new[head : len(new) - foot]
