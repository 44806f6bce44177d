"""Channel values to references, with the objects that they name, and back.

A reference is one letter and what follows it:
`i` a serialised value itself, when it is short; `v` the digest of one kept as an object; `s` the digests of a list's few items;
`l` the digest of a list with more items, kept as a node (see `checkpoint_lists`); `m` the keys of a mapping that holds such
lists, serialised, and a reference for each of its values. `v…` and `l…` are the names of objects as well.
A serialised value is the type that the serializer gave, a zero byte, and its bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from hindsight_langgraph.checkpoint_lists import DIGEST_BYTES, list_hash, spell_out, splice, value_digest
from hindsight_langgraph.checkpoint_ops import Objects
from hindsight_langgraph.checkpointers.cache import Cache
from hindsight_langgraph.checkpointers.chunks import Chunks
from hindsight_langgraph.checkpointers.items import Recipe, worth_itemising
from hindsight_langgraph.checkpointers.snapshots import Shape, Snapshot
from hindsight_langgraph.errors import StoreCorrupt, StoreRejected

_SHORT_VALUE = 48
"""Bytes of a serialised value that are no more than naming it would cost."""
_SHORT_LIST = 8
_MOULDS = 1024
_LENGTH = struct.Struct(">I")
_CACHE_BYTES = 32 * 1024 * 1024
"""Each of the caches of one serializer: values, and lists."""


@dataclass(kw_only=True, slots=True)
class Outgoing:
    """What a request has to bring along, and what it counts on being stored already."""

    objects: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    needs: dict[bytes, None] = field(default_factory=dict[bytes, None])
    lists: dict[bytes, ListState] = field(default_factory=dict[bytes, "ListState"])
    recipes: dict[bytes, Recipe] = field(default_factory=dict[bytes, "Recipe"])
    """Of the values among the objects."""
    outgrown: dict[bytes, None] = field(default_factory=dict[bytes, None])
    """Lists that have a newer version now."""

    def wanted(self) -> tuple[bytes, ...]:
        """What must be stored already."""
        return tuple(key for key in self.needs if key not in self.objects)


@dataclass(kw_only=True, slots=True)
class ListState:
    """One version of a list that is known here."""

    refs: bytes
    name: blake2b
    """Hash of `refs`, which a longer version goes on with."""
    links: int
    recipes: Chunks[Recipe]
    weight: int
    """Roughly the bytes that it holds."""
    snapshot: Snapshot | None = None
    """Of the items as they were put; None until they are needed."""
    shapes: tuple[Shape | None, ...] = ()
    """Of those leading items that were compared with what their bytes are parsed to."""
    exact: bool = True
    """Whether those were the same, and the snapshot describes them in full."""

    def build(self) -> list[Any]:
        """The list, made anew."""
        if self.snapshot is None:
            items = [recipe.parse() for recipe in self.recipes]
            self.snapshot = _NOTHING.continued(items)
            self.shapes = tuple(recipe.shape for recipe in self.recipes)
            self.exact = self.snapshot is not None and None not in self.shapes
            return items
        if self.exact and len(self.shapes) < len(self.recipes):
            # Only now: most versions are never read here, and parsing a message costs as much as all the rest of putting it.
            new = tuple(self.recipes.after(len(self.shapes)))
            self.exact = all(recipe.comes_back() for recipe in new)
            self.shapes += tuple(recipe.shape for recipe in new)
        if self.exact:
            return self.snapshot.rebuild(self.shapes)
        return [recipe.parse() for recipe in self.recipes]


_NOTHING = Snapshot()


class ValueCodec:
    """Turns values into references and back for one serializer.

    Args:
        serde: Every byte of a value goes through it.
        encrypted_only: Refuse what was stored without encryption.
    """

    def __init__(self, serde: SerializerProtocol, *, encrypted_only: bool = False) -> None:
        self.serde = serde
        self._encrypted_only = encrypted_only
        self._values: Cache[Recipe] = Cache(_CACHE_BYTES)
        self._lists: Cache[ListState] = Cache(_CACHE_BYTES)
        # Another serializer may do anything with a text: hide a secret, say.
        self._shapes: Cache[Shape] | None = Cache(_MOULDS) if type(serde) is JsonPlusSerializer else None

    # --- serialised values

    def dumps(self, value: Any) -> bytes:
        """A value as bytes that begin with its type."""
        kind, content = self.serde.dumps_typed(value)
        return kind.encode() + b"\x00" + content

    def loads(self, typed: bytes) -> Any:
        """The value of such bytes.

        Raises:
            StoreRejected: it is not encrypted, and only encrypted values are accepted.
        """
        kind, _, content = typed.partition(b"\x00")
        if self._encrypted_only and b"+" not in kind:
            raise StoreRejected(
                f"a stored value of type {kind.decode(errors='replace')!r} is not encrypted, and encrypted_only is set;"
                " migrate the thread by copying it with a saver that accepts both"
            )
        return self.serde.loads_typed((kind.decode(), content))

    # --- to references

    def encode(self, thread: str, value: Any, out: Outgoing, *, base: bytes | None = None) -> bytes:
        """The reference of a value; what it names is added to `out`.

        Args:
            thread: The thread that it is stored in.
            value: Anything that the serializer takes.
            out: Collects objects and needs.
            base: The reference of the version before, when there is one that may be built on.
        """
        known, seen = self._continued(thread, value, base)
        if worth_itemising(value, after=len(known.recipes) if seen is not None and known is not None else 0):
            return self._encode_list(value, out, base, known, seen)
        if _holds_lists(value):
            refs = [self.encode(thread, inner, out) for inner in value.values()]
            return b"m" + _join([self.dumps(list(value)), *refs])
        typed = self.dumps(value)
        if len(typed) <= _SHORT_VALUE:
            return b"i" + typed
        return b"v" + self._bring(typed, out)

    def keep(self, ref: bytes, out: Outgoing) -> bytes:
        """A reference that is used again: what it names has to be there."""
        out.needs.update(dict.fromkeys(named(ref)))
        return ref

    def remember(self, thread: str, out: Outgoing) -> None:
        """Note what was stored, once it was."""
        for key in out.outgrown:
            self._lists.drop((thread, key))  # old versions are seldom read, and hundreds of them are much for the collector
        for key, state in out.lists.items():
            self._lists.put((thread, key), state, state.weight)
        for key, recipe in out.recipes.items():
            self._values.put((thread, key), recipe, len(recipe.typed))

    def _bring(self, typed: bytes, out: Outgoing, put: Snapshot | None = None) -> bytes:
        """Add a value to what is sent; its digest."""
        digest = value_digest(typed)
        key = b"v" + digest
        if key not in out.objects:
            out.objects[key] = typed
            out.recipes[key] = Recipe(typed, self.loads, put, self._shapes)
        return digest

    def _encode_list(
        self, items: list[Any], out: Outgoing, base: bytes | None, known: ListState | None, seen: Snapshot | None
    ) -> bytes:
        """The reference of a list.

        Args:
            items: The list.
            out: Collects objects and needs.
            base: The reference of the version before.
            known: The state of that version.
            seen: The snapshot of the items, when they begin with those of that version.
        """
        head = known if seen is not None else None
        same = len(head.recipes) if head is not None else 0
        short = len(items) <= _SHORT_LIST
        if seen is None and not short:
            seen = _NOTHING.continued(items)
        digests = [
            self._bring(self.dumps(item), out, None if short or seen is None else _NOTHING.continued([item]))
            for item in items[same:]
        ]
        added = b"".join(digests)
        refs = head.refs + added if head is not None else added
        if short:
            return b"s" + refs  # of a list this short nothing is ever known: every item comes along
        name = head.name.copy() if head is not None else list_hash(b"")
        name.update(added)
        key = b"l" + name.digest()
        if known is not None and base is not None:
            # With the version before there are all of its items, whether the new node is a splice of it or not.
            out.needs[base] = None
            out.outgrown[base] = None
            for digest in _pieces(known.refs) if head is None else ():
                out.objects.pop(b"v" + digest, None)
            node = splice(base[1:], known.refs, known.links, refs)
        else:
            node = spell_out(refs)
        if key != base:
            out.objects[key] = node.pack()
        new = tuple(out.recipes[b"v" + digest] for digest in digests)
        out.lists[key] = ListState(
            refs=refs,
            name=name,
            links=node.links,
            recipes=(head.recipes if head is not None else Chunks[Recipe]()).plus(new),
            weight=(head.weight if head is not None else 0) + _weight(new),
            snapshot=seen,
            shapes=head.shapes if head is not None else (),
            exact=head.exact if head is not None else True,
        )
        return key

    def _continued(self, thread: str, value: Any, base: bytes | None) -> tuple[ListState | None, Snapshot | None]:
        """The state of the version before, and the snapshot of a list that begins with its items."""
        known = self._known(thread, base) if type(value) is list else None
        if known is None or known.snapshot is None:
            return known, None
        return known, known.snapshot.continued(cast("list[Any]", value))

    def _known(self, thread: str, base: bytes | None) -> ListState | None:
        """The state of the version before, with its snapshot."""
        if base is None or base[:1] != b"l":
            return None
        state = self._lists.get((thread, base))
        if state is not None and state.snapshot is None:
            state.build()
        return state

    # --- from references

    def missing(self, thread: str, refs: Iterable[bytes]) -> tuple[bytes, ...]:
        """Names of the objects that have to be read before these references can be decoded."""
        wanted: dict[bytes, None] = {}
        for ref in refs:
            for key in named(ref):
                cache: Cache[Any] = self._lists if key[:1] == b"l" else self._values
                if key not in wanted and cache.get((thread, key)) is None:
                    wanted[key] = None
        return tuple(wanted)

    def reader(self, thread: str, objects: Objects) -> ValueReader:
        """Decodes references with the help of objects that were read."""
        return ValueReader(self, thread, objects)

    def list_state(self, thread: str, key: bytes, objects: Objects) -> ListState | None:
        """What is known of a list, from here or from what was read; None when neither has all of it."""
        state = self._lists.get((thread, key))
        if state is None and key in objects.lists:
            refs, links = objects.lists[key]
            recipes = [self.recipe(thread, b"v" + digest, objects) for digest in _pieces(refs)]
            if None not in recipes:
                known = Chunks((tuple(cast("list[Recipe]", recipes)),))
                state = ListState(refs=refs, name=list_hash(refs), links=links, recipes=known, weight=_weight(known))
                self._lists.put((thread, key), state, state.weight)
        return state

    def recipe(self, thread: str, key: bytes, objects: Objects) -> Recipe | None:
        """How to make a value, from here or from what was read; None when it is in neither."""
        recipe = self._values.get((thread, key))
        if recipe is None and key in objects.values:
            typed = objects.values[key]
            recipe = Recipe(typed, self.loads)
            self._values.put((thread, key), recipe, len(typed))
        return recipe


class ValueReader:
    """Decodes references of one thread."""

    def __init__(self, codec: ValueCodec, thread: str, objects: Objects) -> None:
        self._codec = codec
        self._thread = thread
        self._objects = objects

    def decode(self, ref: bytes) -> Any:
        """The value of a reference.

        Raises:
            StoreCorrupt: what it names is gone.
        """
        kind, rest = ref[:1], ref[1:]
        if kind == b"i":
            return self._codec.loads(rest)
        if kind == b"s":
            return [self._recipe(key).parse() for key in named(ref)]
        if kind == b"l":
            state = self._codec.list_state(self._thread, ref, self._objects)
            if state is None:
                raise self._gone(ref)
            return state.build()
        if kind == b"v":
            return self._recipe(ref).parse()
        if kind == b"m":
            keys, *values = _split(rest)
            return dict(zip(self._codec.loads(keys), map(self.decode, values), strict=True))
        raise StoreCorrupt(f"thread {self._thread!r} holds a reference of unknown kind {kind!r}; upgrade langgraph-hindsight")

    def _recipe(self, key: bytes) -> Recipe:
        recipe = self._codec.recipe(self._thread, key, self._objects)
        if recipe is None:
            raise self._gone(key)
        return recipe

    def _gone(self, key: bytes) -> StoreCorrupt:
        return StoreCorrupt(f"thread {self._thread!r} refers to object {key.hex()}, which is gone; restore it from a backup")


def named(ref: bytes) -> list[bytes]:
    """Names of the objects that a reference needs directly."""
    kind = ref[:1]
    if kind == b"s":
        return [b"v" + digest for digest in _pieces(ref[1:])]
    if kind == b"m":
        return [name for inner in _split(ref[1:])[1:] for name in named(inner)]
    return [ref] if kind in {b"v", b"l"} else []


def _holds_lists(value: object) -> bool:
    """Whether a value is a plain mapping of which some values are kept item by item."""
    return type(value) is dict and any(map(worth_itemising, cast("dict[object, object]", value).values()))


def _join(parts: Iterable[bytes]) -> bytes:
    return b"".join(_LENGTH.pack(len(part)) + part for part in parts)


def _split(joined: bytes) -> list[bytes]:
    parts: list[bytes] = []
    at = 0
    while at < len(joined):
        (length,) = _LENGTH.unpack_from(joined, at)
        at += _LENGTH.size
        parts.append(joined[at : at + length])
        at += length
    return parts


def _weight(recipes: Iterable[Recipe]) -> int:
    """Roughly the bytes of items: their text, and some 500 for the objects that hold it."""
    return sum(500 + len(recipe.typed) for recipe in recipes)


def _pieces(refs: bytes) -> Iterator[bytes]:
    return (refs[at : at + DIGEST_BYTES] for at in range(0, len(refs), DIGEST_BYTES))
