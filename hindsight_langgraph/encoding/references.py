"""Resolve what a chat model refers to: only records and steps that it was shown exist (CASES O06)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from hindsight_langgraph.encoding.answers import Fact, read_fact
from hindsight_langgraph.encoding.json_answers import as_list, as_object
from hindsight_langgraph.records import Record

Action = Literal["add", "update", "delete", "keep"]
_ACTIONS: Mapping[str, Action] = {
    "add": "add", "create": "add", "new": "add", "insert": "add",
    "update": "update", "replace": "update", "merge": "update", "modify": "update",
    "delete": "delete", "remove": "delete", "forget": "delete",
    "keep": "keep", "none": "keep", "noop": "keep", "unchanged": "keep",
}  # fmt: skip


class Change(Record):
    """What the model wants done, with the real id of the record that it means."""

    action: Action
    target: str | None = None
    """Id of a record; None for an addition."""
    fact: Fact | None = None


class Link(Record):
    """One step that caused a later one, by their numbers."""

    cause: int
    effect: int


class Resolved(Record):
    """What was left once inventions were dropped."""

    changes: tuple[Change, ...] = ()
    links: tuple[Link, ...] = ()
    skipped: int = Field(default=0, ge=0)
    """Items that named something that was never shown, or said nothing usable."""


def resolve_references(value: object, *, shown: Sequence[str], steps: int = 0) -> Resolved:
    """The changes and causal links of a model's answer that refer to things it was shown.

    Args:
        value: the answer as JSON: an object with lists under "changes" (or "memory", "actions", "operations") and "links".
        shown: real ids of the records, in the order in which the model saw them as "0", "1", ...; it never sees a real id, so
            that one it writes is an invention or somebody else's.
        steps: how many steps it saw; a link joins two different ones of them.
    """
    changes, links, skipped = list[Change](), list[Link](), 0
    for item in _list(value, ("changes", "memory", "actions", "operations")):
        change = _change(item, shown)
        if change is None:
            skipped += 1
        else:
            changes.append(change)
    for item in _list(value, ("links", "causal links", "causes")):
        link = _link(item, steps)
        if link is None:
            skipped += 1
        else:
            links.append(link)
    return Resolved(changes=tuple(changes), links=tuple(links), skipped=skipped)


def _list(value: object, names: Sequence[str]) -> Sequence[object]:
    named = as_object(value) or {}
    return next((found for name in names if (found := as_list(named.get(name))) is not None), ())


def _change(item: object, shown: Sequence[str]) -> Change | None:
    named = as_object(item) or {}
    action = _ACTIONS.get(str(named.get("action", named.get("event", named.get("op", "")))).strip().lower())
    fact = read_fact(named.get("fact", item))
    if action == "add":
        return Change(action="add", fact=fact) if fact else None
    target = number_of(named.get("id", named.get("target")), len(shown))
    if action is None or target is None or (action == "update" and fact is None):
        return None
    return Change(action=action, target=shown[target], fact=fact if action == "update" else None)


def _link(item: object, steps: int) -> Link | None:
    named = as_object(item) or {}
    cause, effect = number_of(named.get("cause"), steps), number_of(named.get("effect"), steps)
    return None if cause is None or effect is None or cause == effect else Link(cause=cause, effect=effect)


def number_of(value: object, count: int) -> int | None:
    """The index, from 0 below `count`, that a model wrote as 1, "1", "[1]" or "#1"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = re.fullmatch(r"\s*[\[#(]?\s*(\d{1,6})\s*[\])]?\s*", value)
        value = int(match[1]) if match else None
    return value if isinstance(value, int) and 0 <= value < count else None
