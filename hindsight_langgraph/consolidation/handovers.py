"""Finds what a later statement ends under another attribute: a role that someone else has now, a numbered part of a description (SPEC F3).

A role is handed over where the later text names who had it, says that they left it, and gives the role to someone else. A part is what
bears a number of its own: "written in Go 1.22" no longer holds once the Go version is 1.23.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hindsight_langgraph.consolidation.changes import Retire
from hindsight_langgraph.consolidation.comparable import in_time_order, is_comparable
from hindsight_langgraph.consolidation.naming import attribute_keys, same_subject, subject_keys
from hindsight_langgraph.encoding.attributes import USER
from hindsight_langgraph.encoding.cues import is_chinese
from hindsight_langgraph.encoding.wordings import numbered_names, says_it_ended
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit, Triple

_ROLES: Final = frozenset(
    key
    for name in ("role", "job", "position", "title", "function", "occupation", "角色", "职务", "职位", "身份", "岗位", "分工")
    for key in attribute_keys(name)
)
_VERSION: Final = frozenset(terms("version target release 版本 目标"))
"""Words of an attribute that name no part."""


def find_handovers(units: Iterable[MemoryUnit]) -> list[Retire]:
    """What statements among `units` end of earlier ones of another attribute, in time order."""
    able = in_time_order(unit for unit in units if _able(unit))
    found: list[Retire] = []
    gone: set[str] = set()
    ending: list[MemoryUnit] = []
    for newer in able:
        for older in ending:
            if older.id in gone or set(older.sources) & set(newer.sources):
                continue
            reason = _reason(older, newer)
            if reason:
                gone.add(older.id)
                found.append(Retire.of(older, by=newer, reason=reason))
        if newer.triple is not None and (_is_role(newer.triple) or numbered_names(newer.triple.value)):
            ending.append(newer)
    return found


def _reason(older: MemoryUnit, newer: MemoryUnit) -> str:
    one, other = older.triple, newer.triple
    assert one is not None
    assert other is not None
    if same_subject(one, other):
        part = _other_number(one, other)
        if part:
            return f"another {part}"
        return "another role" if _is_role(one) and _is_role(other) and says_it_ended(newer.content) else ""
    return "the role has passed on" if _is_role(one) and _passes_on(one, older.content, newer) else ""


def _other_number(one: Triple, other: Triple) -> str:
    """What bears another number now: the attribute names it, or the value does."""
    before = numbered_names(one.value)
    named = {term for term in terms(other.attribute.replace("_", " ")) if term not in _VERSION}
    after = numbered_names(other.value)
    for name, numbers in before.items():
        own = after.get(name, frozenset({other.value}) if set(terms(name)) & named else frozenset())
        if own and not own & numbers and all(number[:1].isdigit() for number in own):
            return name
    return ""


def _passes_on(one: Triple, said: str, newer: MemoryUnit) -> bool:
    other = newer.triple
    assert other is not None
    name = terms(one.subject)[:1]
    if not name or name[0] not in terms(newer.content) or not says_it_ended(newer.content):
        return False
    return _names_role(other.attribute, f"{one.value} {said}")


def _names_role(attribute: str, said: str) -> bool:
    if is_chinese(attribute):
        return all(sign in said for sign in attribute)
    return bool(set(terms(attribute.replace("_", " "))) & set(terms(said)))


def _is_role(triple: Triple) -> bool:
    return bool(attribute_keys(triple.attribute) & _ROLES)


def _able(unit: MemoryUnit) -> bool:
    triple = unit.triple
    return (
        triple is not None
        and not triple.negated
        and subject_keys(triple.subject) != frozenset({frozenset({USER})})
        and is_comparable(unit)
    )
