"""Units to bytes and back, with a schema version.

Stored form: `{"v": 1, "unit": {...}}` as UTF-8 JSON. A reader upgrades every older version; a newer one than it knows is an error
that says to upgrade the library. `tests/data/` keeps bytes of each version ever written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.records import MemoryUnit, Turn

UNIT_VERSION = 1
"""Goes up whenever the stored form of a unit changes; add the step to `_UPGRADES`."""

_UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""version n -> a function that turns the stored form n into n + 1."""


def encode_unit(unit: MemoryUnit) -> bytes:
    """The stored form of a unit; fields at their default are left out."""
    return orjson.dumps({"v": UNIT_VERSION, "unit": unit.model_dump(mode="json", exclude_defaults=True)})


def decode_unit(stored: bytes | str) -> MemoryUnit:
    """Read a stored unit of this version or an older one.

    Raises:
        StoreCorrupt: not JSON, not a unit, or written by a newer library.
    """
    try:
        document = orjson.loads(stored)
        version, body = int(document["v"]), document["unit"]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt(f"a stored unit cannot be read: {error}; restore it from an export") from error
    if version > UNIT_VERSION:
        raise StoreCorrupt(
            f"a stored unit has schema version {version}, this library reads up to {UNIT_VERSION}; upgrade langgraph-hindsight"
        )
    for step in range(version, UNIT_VERSION):
        body = _UPGRADES[step](body)
    try:
        return MemoryUnit.model_validate(body)
    except ValidationError as error:
        raise StoreCorrupt(f"a stored unit does not have the fields of a unit: {error}") from error


def encode_turn(turn: Turn) -> bytes:
    """The stored form of a turn in a session buffer or among the pending turns."""
    return orjson.dumps(turn.model_dump(mode="json", exclude_defaults=True))


def decode_turn(stored: bytes) -> Turn:
    """Read a stored turn.

    Raises:
        StoreCorrupt: not a turn.
    """
    try:
        return Turn.model_validate_json(stored)
    except ValidationError as error:
        raise StoreCorrupt(f"a stored turn cannot be read: {error}") from error
