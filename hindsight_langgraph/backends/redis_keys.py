"""How keys of the working store are written in Redis, reversibly for any text.

`{prefix}:{<owner>}:<kind>:<name>`: the braces make the owner the hash tag, so that all keys of one owner live in one slot of a
cluster. A log has two more keys, `...:order` and `...:bodies`; `{prefix}:{<owner>}:index` knows every key of the owner with its
expiry. A queue is `{prefix}:{<queue>}:due` with `...:items`. A name keeps its letters of any script; only what would be read as
part of the form is percent-encoded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from hindsight_langgraph.backends.working_values import kind_of
from hindsight_langgraph.keys import Key

_MEANT = re.compile(r"[%:{}\x00-\x20\x7f]")
_EMPTY_TAG = "%"
"""Redis reads an empty tag as none; a percent sign alone is never an encoded text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyNames:
    """The keys under one prefix."""

    prefix: str

    def index(self, owner: str) -> str:
        """The sorted set of an owner's keys, scored by expiry in milliseconds."""
        return f"{self._base(owner)}:index"

    def of(self, key: Key) -> tuple[str, str, str, str]:
        """Index of the owner, hash of fields, sorted set of log entries, hash of their bodies."""
        return (self.index(key.owner), *self.of_member(key.owner, member(key)))

    def of_member(self, owner: str, name: str) -> tuple[str, str, str]:
        """The three keys behind one member of an owner's index."""
        key = f"{self._base(owner)}:{name}"
        return key, f"{key}:order", f"{key}:bodies"

    def queue(self, queue: str) -> tuple[str, str]:
        """Sorted set of due items, hash of what is known about them."""
        return f"{self._base(queue)}:due", f"{self._base(queue)}:items"

    def _base(self, tag: str) -> str:
        return f"{self.prefix}:{{{_encoded(tag) or _EMPTY_TAG}}}"


def member(key: Key) -> str:
    """A key as its owner's index lists it."""
    return f"{key.kind.value}:{_encoded(key.name)}"


def key_of_member(owner: str, name: str) -> Key:
    """Read a member of an index back."""
    kind, _, encoded = name.partition(":")
    return Key(owner=owner, kind=kind_of(kind), name=unquote(encoded, errors="strict"))


def _encoded(text: str) -> str:
    return _MEANT.sub(lambda found: f"%{ord(found[0]):02X}", text)
