"""A unit as the flat payload of a point: the fields that requests filter by, beside the unit itself as JSON."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Final

from pydantic_core import PydanticSerializationError

from hindsight_langgraph.codec import decode_unit, encode_unit
from hindsight_langgraph.errors import StoreCorrupt, StoreRejected
from hindsight_langgraph.records import MemoryUnit

Payload = dict[str, "str | int | float | list[str]"]
"""Field name to value; a field without a value is absent. Times are seconds since the epoch."""

UNIT: Final = "unit"
WRITES: Final = "writes"
REVISION: Final = "revision"
MOMENT: Final = "moment"

TENANT: Final = "owner"
KEYWORDS: Final = (
    "region",
    "kind",
    "status",
    "tier",
    "entities",
    "subject",
    "attribute",
    "sources",
    "session",
    "domain",
    "agent",
    WRITES,
)
"""Text fields that requests filter by; the tenant's is indexed apart."""
INTEGERS: Final = (REVISION, "raw")
FLOATS: Final = (MOMENT, "anchor_start", "anchor_end", "updated")

_POINTS: Final = uuid.UUID("6f0f5a3e-2c57-4e0c-9d39-0f5f6c1d7a11")
_KEPT_WRITES: Final = 16
"""Names of the last writes that a payload remembers, see `ReviseUnits` in `long_term.py`."""
_INSTANT_S: Final = 1e-6
"""Length given to an anchor that starts and ends at once, so that it overlaps the interval that it lies in."""


def point_id(owner: str, unit_id: str) -> str:
    """The engine's id of a unit.

    It is derived from the owner as well, so that two owners can never address the same point, whatever ids they use.
    """
    return str(uuid.uuid5(_POINTS, f"{owner}\x00{unit_id}"))


def encode_payload(unit: MemoryUnit, *, write: str, earlier_writes: tuple[str, ...] = ()) -> Payload:
    """The payload of a unit; `write` names this write, so that its writer can tell afterwards whether it took place.

    Raises:
        StoreRejected: the unit holds text that is not Unicode, such as a lone surrogate.
    """
    try:
        stored = encode_unit(unit).decode()
    except (TypeError, PydanticSerializationError) as error:
        raise StoreRejected(f"unit {unit.id!r} cannot be stored: {error}; clean the text before writing it") from error
    payload: Payload = {
        "id": unit.id,
        TENANT: unit.owner,
        "region": unit.region.value,
        "kind": unit.kind.value,
        "status": unit.status.value,
        "tier": unit.tier.value,
        "entities": list(unit.entities),
        "sources": [*unit.sources, *(unit.item.labels if unit.item is not None else ())],
        "session": unit.session_id,
        "raw": int(unit.raw),
        MOMENT: unit.moment.timestamp(),
        "updated": unit.updated_at.timestamp(),
        "importance": unit.importance,
        REVISION: unit.revision,
        WRITES: [*earlier_writes, write][-_KEPT_WRITES:],
        UNIT: stored,
    }
    return payload | _optional_fields(unit)


def _optional_fields(unit: MemoryUnit) -> Payload:
    fields: Payload = {}
    if unit.triple is not None:
        fields |= {"subject": unit.triple.subject, "attribute": unit.triple.attribute}
    if unit.domain is not None:
        fields["domain"] = unit.domain
    if unit.agent_id is not None:
        fields["agent"] = unit.agent_id
    if unit.anchor is not None:
        start, end = _seconds(unit.anchor.start), _seconds(unit.anchor.end)
        fields |= {"anchor_start": start, "anchor_end": end if end > start else start + _INSTANT_S}
    return fields


def _seconds(moment: datetime) -> float:
    return moment.timestamp()


def writes_of(payload: Payload) -> tuple[str, ...]:
    """The names of the last writes to a point, newest last."""
    found = payload.get(WRITES, [])
    return tuple(found) if isinstance(found, list) else ()


def revision_of(payload: Payload) -> int:
    """The revision of a point."""
    return int(_scalar(payload, REVISION))


def text_of(payload: Payload, name: str) -> str:
    """A text field of a point; "" when it has no value there."""
    found = payload.get(name, "")
    return found if isinstance(found, str) else ""


def moment_of(payload: Payload) -> float:
    """When a point's unit was said, else stored, in seconds since the epoch."""
    return float(_scalar(payload, MOMENT))


def _scalar(payload: Payload, name: str) -> str | int | float:
    found = payload.get(name)
    if found is None or isinstance(found, list):
        raise StoreCorrupt(f"a stored unit has no {name}; restore it from an export")
    return found


def unit_reader(remembered: int = 8_192) -> Callable[[Payload], MemoryUnit]:
    """A function that reads the unit of a payload, remembering the last ones.

    Validating a unit costs some ten microseconds, reading a remembered one under one. It is remembered by its stored text, never by
    its id: what was changed in between, or by another process, is read anew, and the owner is part of the text.
    """
    read = lru_cache(maxsize=remembered)(decode_unit)

    def read_unit(payload: Payload) -> MemoryUnit:
        stored = payload.get(UNIT)
        if not isinstance(stored, str):
            raise StoreCorrupt("a point without a unit was found; restore it from an export, or delete it")
        return read(stored)

    return read_unit
