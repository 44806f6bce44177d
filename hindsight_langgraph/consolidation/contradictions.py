"""Finds statements that later ones contradict, by subject, attribute and value, never by closeness (SPEC F3).

A unit is retired only by a statement of the same owner about the same thing: the same subject and attribute with another value, or the
same value said with the opposite polarity. Several values of one attribute stand side by side where the attribute or the words say so
("also"). What was said later wins, whenever it arrives; two intervals that do not meet contradict nothing. Whether values of two languages
are the same thing ("柏林", "Berlin") no rule can tell; it is asked of the embeddings of the values alone, and given to the rules here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Final

from hindsight_langgraph.consolidation.changes import Merge, Retire
from hindsight_langgraph.consolidation.comparable import in_time_order, is_comparable
from hindsight_langgraph.consolidation.naming import Key, attribute_keys, same_subject, subject_keys
from hindsight_langgraph.encoding.cues import is_chinese
from hindsight_langgraph.encoding.facts import is_restated
from hindsight_langgraph.encoding.match import replaces
from hindsight_langgraph.encoding.repeats import is_another_event
from hindsight_langgraph.encoding.values import Likeness, compare_values, read_value
from hindsight_langgraph.encoding.wordings import BESIDES
from hindsight_langgraph.records import MemoryUnit, Triple

_LATIN: Final = re.compile(r"[A-Za-z0-9]")
_DIGIT: Final = re.compile(r"\d")


Alike = AbstractSet[frozenset[str]]
"""Pairs of values, of two languages, that mean the same."""


def find_contradictions(units: Iterable[MemoryUnit], *, alike: Alike = frozenset()) -> list[Merge | Retire]:
    """What the statements among `units` do to each other, in time order: repeats merge, contradicted ones are retired."""
    able = in_time_order(unit for unit in units if _speaks(unit))
    found: list[Merge | Retire] = []
    gone: set[str] = set()
    for older, newer in _pairs(able):
        if older.id in gone or newer.id in gone:
            continue
        change = judge_pair(older, newer, alike=alike)
        if change is not None:
            found.append(change)
            gone.add(change.gone if isinstance(change, Merge) else change.old)
    return found


def foreign_values(units: Iterable[MemoryUnit]) -> list[tuple[str, str]]:
    """Pairs of values, one Chinese and one not, that two statements give one attribute of one thing; each once, in time order.

    Values with numbers, codes or names of both scripts are left out: rules compare those, and embeddings overlook them.
    """
    able = in_time_order(unit for unit in units if _speaks(unit))
    pairs: dict[tuple[str, str], None] = {}
    for older, newer in _pairs(able):
        one, other = older.triple, newer.triple
        assert one is not None
        assert other is not None
        if _are_foreign(one.value, other.value) and attribute_keys(one.attribute) & attribute_keys(other.attribute):
            pairs.setdefault((one.value, other.value))
    return list(pairs)


def _are_foreign(one: str, other: str) -> bool:
    chinese, latin = (one, other) if is_chinese(one) else (other, one)
    plain = is_chinese(chinese) and not _LATIN.search(chinese) and not is_chinese(latin) and not _DIGIT.search(latin)
    return plain and read_value(one).withdrawn == read_value(other).withdrawn


def judge_pair(older: MemoryUnit, newer: MemoryUnit, *, alike: Alike = frozenset()) -> Merge | Retire | None:
    """What a newer statement does to an older one; None where they stand side by side."""
    one, other = older.triple, newer.triple
    if one is None or other is None or not same_subject(one, other) or set(older.sources) & set(newer.sources):
        return None
    likeness = compare_values(one.value, other.value, restated=is_restated(newer))
    if likeness is Likeness.OTHER and frozenset((one.value, other.value)) in alike:
        likeness = Likeness.SAME
    if not attribute_keys(one.attribute) & attribute_keys(other.attribute):
        ends = likeness is Likeness.SAME and replaces(newer, older.model_copy(update={"triple": _named(one, other)}))
        return Retire.of(older, by=newer, reason="the same value no longer holds") if ends else None
    if one.negated != other.negated:
        return Retire.of(older, by=newer, reason="the opposite of the same") if likeness is not Likeness.OTHER else None
    if likeness is not Likeness.OTHER and is_another_event(newer, older):
        return None
    if likeness is Likeness.SAME and older.region is newer.region:
        return _merge(kept=older, gone=newer, reason="the same statement")
    if likeness is Likeness.MORE and older.region is newer.region and not one.negated:
        return _merge(kept=newer, gone=older, reason="the same statement in more detail")
    if one.negated or one.multi_valued or other.multi_valued or _stands_beside(newer) or _apart(older, newer):
        return None
    return Retire.of(older, by=newer, reason=f"{other.attribute}: {one.value} → {other.value}")


def _pairs(units: Sequence[MemoryUnit]) -> list[tuple[MemoryUnit, MemoryUnit]]:
    """Pairs (older, newer) with a subject in common, the newer ones in time order, each against the latest before it first."""
    rooms: defaultdict[Key, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        assert unit.triple is not None
        for key in _rooms(unit.triple):
            rooms[key].append(place)
    pairs = {pair for places in rooms.values() for pair in combinations(places, 2)}
    return [(units[i], units[j]) for i, j in sorted(pairs, key=lambda pair: (pair[1], -pair[0]))]


def _rooms(triple: Triple) -> list[Key]:
    """Where a statement meets those that it may contradict: the same thing's attribute, and a value that no longer holds."""
    subjects = subject_keys(triple.subject)
    attributes = attribute_keys(triple.attribute)
    value = frozenset({"=", triple.value.casefold().strip()})
    return [s | {"\0"} | {f"a:{term}" for term in a} for s in subjects for a in attributes] + [s | value for s in subjects]


def _speaks(unit: MemoryUnit) -> bool:
    return unit.triple is not None and is_comparable(unit)


def _named(triple: Triple, like: Triple) -> Triple:
    """The triple with the names that another one uses for the same subject and value."""
    return triple.model_copy(update={"subject": like.subject, "value": like.value})


def _stands_beside(newer: MemoryUnit) -> bool:
    return bool(BESIDES.search(newer.content))


def _apart(older: MemoryUnit, newer: MemoryUnit) -> bool:
    """Whether the older one had an end of its own before the newer one began to hold."""
    return older.valid_to is not None and newer.valid_from is not None and older.valid_to <= newer.valid_from


def _merge(*, kept: MemoryUnit, gone: MemoryUnit, reason: str) -> Merge:
    return Merge(kept=kept.id, gone=gone.id, kept_text=kept.content, gone_text=gone.content, reason=reason)
