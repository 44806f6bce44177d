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
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol

from hindsight_langgraph.checkpoint_lists import DIGEST_BYTES, list_digest, spell_out, splice, value_digest
from hindsight_langgraph.checkpoint_ops import Objects
from hindsight_langgraph.checkpointers.cache import Cache
from hindsight_langgraph.checkpointers.items import Fingerprint, Recipe, fingerprint, rebuild, same_state, worth_itemising
from hindsight_langgraph.errors import StoreCorrupt, StoreRejected

_SHORT_VALUE = 48
"""Bytes of a serialised value that are no more than naming it would cost."""
_SHORT_LIST = 8
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
    links: int
    recipes: tuple[Recipe, ...]
    print: Fingerprint | None = None
    """Of the items as they were put; None until they are needed."""
    exact: bool = False
    """Whether the fingerprint describes the items as they are parsed, in full."""

    def build(self) -> list[Any]:
        """The list, made anew."""
        if self.print is not None and self.exact:
            return rebuild(self.print, self.recipes)
        items = [recipe.parse() for recipe in self.recipes]
        if self.print is None:
            self.print = fingerprint(items)
            self.exact = self.print is not None and all(recipe.shape is not None for recipe in self.recipes)
        return items

    @property
    def weight(self) -> int:
        """Roughly the bytes that it holds."""
        return 64 * len(self.recipes) + (len(self.print) if self.print else 0)


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
        if worth_itemising(value):
            return self._encode_list(thread, value, out, base)
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

    def _bring(self, typed: bytes, out: Outgoing) -> bytes:
        """Add a value to what is sent; its digest."""
        digest = value_digest(typed)
        key = b"v" + digest
        if key not in out.objects:
            out.objects[key] = typed
            out.recipes[key] = Recipe(typed, self.loads)
        return digest

    def _encode_list(self, thread: str, items: list[Any], out: Outgoing, base: bytes | None) -> bytes:
        known = self._known(thread, base)
        seen = fingerprint(items)
        same = 0
        if known is not None and seen is not None and known.print is not None and known.print.begins(seen):
            same = len(known.recipes)
        digests = [self._bring(self.dumps(item), out) for item in items[same:]]
        refs = (known.refs if known is not None and same else b"") + b"".join(digests)
        if len(items) <= _SHORT_LIST:
            return b"s" + refs  # of a list this short nothing is ever known: every item comes along
        key = b"l" + list_digest(refs)
        if known is not None and base is not None:
            # With the version before there are all of its items, whether the new node is a splice of it or not.
            out.needs[base] = None
            out.outgrown[base] = None
            for digest in _pieces(known.refs) if not same else ():
                out.objects.pop(b"v" + digest, None)
            node = splice(base[1:], known.refs, known.links, refs)
        else:
            node = spell_out(refs)
        if key != base:
            out.objects[key] = node.pack()
        new = [out.recipes[b"v" + digest] for digest in digests]
        exact = known.exact if known is not None and same else True
        exact = exact and all(
            same_state(item, recipe.parse()) and recipe.shape is not None for item, recipe in zip(items[same:], new, strict=True)
        )
        recipes = known.recipes if known is not None and same else ()
        out.lists[key] = ListState(refs=refs, links=node.links, recipes=(*recipes, *new), print=seen, exact=exact)
        return key

    def _known(self, thread: str, base: bytes | None) -> ListState | None:
        """The state of the version before, with its fingerprint."""
        if base is None or base[:1] != b"l":
            return None
        state = self._lists.get((thread, base))
        if state is not None and state.print is None:
            state.build()
            self._lists.put((thread, base), state, state.weight)
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
                state = ListState(refs=refs, links=links, recipes=tuple(cast("list[Recipe]", recipes)))
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


def _pieces(refs: bytes) -> Iterator[bytes]:
    return (refs[at : at + DIGEST_BYTES] for at in range(0, len(refs), DIGEST_BYTES))
