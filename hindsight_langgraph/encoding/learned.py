"""What an owner's working store keeps for writing: taught aliases, and the ids of what was forgotten.

Stored form: one field an alias, its value the id in UTF-8; one field a tombstone, named by the id of a unit or of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hindsight_langgraph import keys
from hindsight_langgraph.errors import StoreError
from hindsight_langgraph.ops import ReadFields, WriteFields
from hindsight_langgraph.plan import Plan, ask, together
from hindsight_langgraph.records import Scope


class Learned(NamedTuple):
    """Aliases by key, and ids that must never be written again."""

    aliases: Mapping[str, str]
    forgotten: frozenset[str]


def read_learned(scope: Scope) -> Plan[Learned]:
    """Read both; a working store that is down costs them, not the write."""
    replies = yield from together(ReadFields(key=keys.aliases(scope)), ReadFields(key=keys.tombstones(scope)))
    found: list[dict[str, bytes]] = []
    for reply in replies:
        if isinstance(reply, StoreError):
            return Learned({}, frozenset())
        if isinstance(reply, Exception):
            raise reply
        found.append(reply)
    aliases, forgotten = found
    return Learned({name: value.decode() for name, value in aliases.items()}, frozenset(forgotten))


def store_aliases(scope: Scope, learned: Mapping[str, str]) -> Plan[None]:
    """Keep newly taught aliases; losing them in an outage loses no memory, so that none is raised."""
    if not learned:
        return
    fields = {name: value.encode() for name, value in learned.items()}
    try:
        yield from ask(WriteFields(key=keys.aliases(scope), fields=fields))
    except StoreError:
        return
