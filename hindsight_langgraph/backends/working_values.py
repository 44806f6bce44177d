"""How every working store writes down instants, lifetimes, amounts: exactly, refusing what no store can keep."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta

from hindsight_langgraph.errors import StoreCorrupt, StoreRejected
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import DeleteKeys

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST_S = 100 * 366 * 86_400.0
_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,18}")
_MOST = 2**63 - 1


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970; exact, where a float of seconds is not.

    Raises:
        StoreRejected: the moment has no timezone.
    """
    if moment.tzinfo is None:
        raise StoreRejected(f"the moment {moment.isoformat()} has no timezone; give it one, for example UTC")
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The UTC moment that `to_micros` wrote."""
    return _EPOCH + timedelta(microseconds=micros)


def checked_ttl(ttl_s: float | None) -> float | None:
    """A time to live in seconds, or None for a key that stays.

    Raises:
        StoreRejected: not a number of seconds between 0 and 100 years.
    """
    if ttl_s is None:
        return None
    if not (math.isfinite(ttl_s) and 0 < ttl_s <= _LONGEST_S):
        raise StoreRejected(f"a time to live of {ttl_s} s; give seconds above 0 and up to 100 years, or None to keep the key")
    return ttl_s


def checked_amount(amount: int | None, *, what: str) -> int | None:
    """How many at most, None for all.

    Raises:
        StoreRejected: a negative number, which stores would read as "count from the end".
    """
    if amount is not None and amount < 0:
        raise StoreRejected(f"{what}={amount}; give 0 or more, or None for all")
    return amount


def checked_owner(op: DeleteKeys) -> tuple[Key, ...] | None:
    """The keys to delete, None for every one of the owner.

    Raises:
        StoreRejected: a key belongs to another owner.
    """
    for key in op.keys or ():
        if key.owner != op.owner:
            raise StoreRejected(f"a request to delete keys of {op.owner!r} names a key of another owner; delete it as that owner")
    return op.keys


def kind_of(stored: str) -> KeyKind:
    """The kind of a stored key.

    Raises:
        StoreCorrupt: a kind that this version does not know.
    """
    try:
        return KeyKind(stored)
    except ValueError as error:
        raise StoreCorrupt(f"a stored key has the unknown kind {stored!r}; upgrade langgraph-hindsight") from error


def added(stored: bytes | None, by: int, *, name: str) -> int:
    """A stored counter plus `by`; a counter that is absent counts as 0.

    Raises:
        StoreRejected: the field holds no integer, or the sum needs more than 64 bits.
    """
    if stored is not None and not _INTEGER.fullmatch(stored):
        raise StoreRejected(f"the field {name!r} holds {stored[:40]!r}, which is no integer to add to; write the field anew")
    total = int(stored or b"0") + by
    if not -_MOST - 1 <= total <= _MOST:
        raise StoreRejected(f"the counter {name!r} would pass 64 bits; write the field anew")
    return total
