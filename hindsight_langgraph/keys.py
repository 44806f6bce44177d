"""Keys of the working store: the only place where one is built.

A key always carries its owner, so that isolation and erasure have one place. A backend renders it: Redis as
`{prefix}:{<owner>}:<kind>:<name>` with the owner as hash tag (one slot per owner), SQLite as three columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hindsight_langgraph.records import Scope


class KeyKind(StrEnum):
    """What is kept under a key."""

    WORKING = "wm"
    SESSION = "session"
    PENDING = "pending"
    ACTIVITY = "activity"
    RECALL_LOG = "recall"
    TRAJECTORY = "trajectory"
    ALIASES = "aliases"
    TOMBSTONES = "tombstones"
    HELD = "held"
    HISTORY = "history"
    REVIEWS = "reviews"
    ANNOTATION = "annotation"


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """The address of one value of one owner in the working store."""

    owner: str
    kind: KeyKind
    name: str


def working(scope: Scope) -> Key:
    """Working memory of one task (SPEC A3)."""
    return Key(owner=scope.owner, kind=KeyKind.WORKING, name=scope.task)


def session(scope: Scope) -> Key:
    """Session buffer of one thread (SPEC A4)."""
    return Key(owner=scope.owner, kind=KeyKind.SESSION, name=scope.session_id)


def pending(scope: Scope) -> Key:
    """Turns accepted but not yet turned into units (SPEC B4)."""
    return Key(owner=scope.owner, kind=KeyKind.PENDING, name="turns")


def activity(scope: Scope) -> Key:
    """Counters of what an owner did since the last consolidation (SPEC F1)."""
    return Key(owner=scope.owner, kind=KeyKind.ACTIVITY, name="counters")


def passes(scope: Scope) -> Key:
    """When each kind of consolidation last began for an owner."""
    return Key(owner=scope.owner, kind=KeyKind.ACTIVITY, name="passes")


def consolidating(scope: Scope) -> Key:
    """The right to consolidate an owner: one run at a time (SPEC F9)."""
    return Key(owner=scope.owner, kind=KeyKind.ACTIVITY, name="lease")


def recall_log(scope: Scope) -> Key:
    """What was recalled in one thread, and why (SPEC D15)."""
    return Key(owner=scope.owner, kind=KeyKind.RECALL_LOG, name=scope.session_id)


def trajectory(scope: Scope) -> Key:
    """Steps of one task (SPEC E1)."""
    return Key(owner=scope.owner, kind=KeyKind.TRAJECTORY, name=scope.task)


def judged(scope: Scope) -> Key:
    """What hindsight found of each task (SPEC E2)."""
    return Key(owner=scope.owner, kind=KeyKind.ANNOTATION, name="tasks")


def lessons(scope: Scope) -> Key:
    """What the recalls of judged tasks teach a ranker (SPEC E6)."""
    return Key(owner=scope.owner, kind=KeyKind.ANNOTATION, name="lessons")


def history(owner: str, unit_id: str) -> Key:
    """Changes of one unit's standing, each with its reason (SPEC E5)."""
    return Key(owner=owner, kind=KeyKind.HISTORY, name=unit_id)


def aliases(scope: Scope) -> Key:
    """Entity aliases that one owner taught (SPEC A7)."""
    return Key(owner=scope.owner, kind=KeyKind.ALIASES, name="entities")


def held(scope: Scope) -> Key:
    """Units that wait for the user's decision, because the policy of their kind says to ask."""
    return Key(owner=scope.owner, kind=KeyKind.HELD, name="units")


def tombstones(scope: Scope) -> Key:
    """Ids of what was forgotten, so that a replay never writes it again."""
    return Key(owner=scope.owner, kind=KeyKind.TOMBSTONES, name="units")


def reviews(scope: Scope) -> Key:
    """Which reviews of traced answers were taken in."""
    return Key(owner=scope.owner, kind=KeyKind.REVIEWS, name="langsmith")
