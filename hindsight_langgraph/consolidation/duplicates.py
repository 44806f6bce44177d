"""Finds units that say the same thing in other words, or that merely belong together (SPEC F2).

Two units merge when they live in one region, nothing that an embedding overlooks keeps them apart (numbers, names, polarity, codes),
and their embeddings all but agree; a text that says of itself that it only repeats needs less. Such a text is of the kind of what it
repeats, whatever it was read as: "the mill stays our supplier" is the decision again, no fact beside it. So it alone may merge across
kinds and regions, into the earlier unit. Units are linked when they are merely close. Closeness alone never retires anything: both
units of a merge live on in the one that is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.changes import Link, Merge
from hindsight_langgraph.consolidation.comparable import is_comparable
from hindsight_langgraph.consolidation.naming import attribute_keys, subject_keys
from hindsight_langgraph.encoding.cues import cues, is_chinese
from hindsight_langgraph.encoding.facts import is_restated
from hindsight_langgraph.encoding.identity import same_text
from hindsight_langgraph.encoding.repeats import is_another_event, repeats, restates
from hindsight_langgraph.encoding.updates import stand_side_by_side
from hindsight_langgraph.encoding.values import Likeness, compare_values, read_value
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, MemoryUnit
from hindsight_langgraph.similarity import COSINE_FLOORS, similarity

_BLOCK: Final = 256
"""Units whose cosines to all others are held at once."""
_NEAR_BEST: Final = 0.08
"""A repeat is of the closest earlier unit, or of one about as close."""
_ACROSS_LANGUAGES: Final = 0.75
"""How close a repeat in the other language must be: only names and numbers can be compared. Of eleven made-up pairs that name the same
thing and say something else, none is so close."""
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


def find_duplicates(
    units: Sequence[IndexedUnit], *, space: EmbeddingSpace, config: ConsolidationConfig, about: Iterable[str] | None = None
) -> list[Merge | Link]:
    """Merges and links among active units of one owner; each unit takes part in at most one merge a pass.

    Args:
        units: the units to compare, with their embeddings.
        space: what the embeddings come from.
        config: thresholds, on the scale of `similarity.similarity`.
        about: only pairs with one of these ids; None compares all with all.
    """
    able = [item for item in units if _able(item)]
    if len(able) < 2:
        return []
    wanted = None if about is None else set(about)
    merges: list[Merge | Link] = []
    links: list[Merge | Link] = []
    taken: set[str] = set()
    closest: dict[str, float] = {}
    for closeness, one, other in _close_pairs(able, wanted, space=space, least=min(config.link_cosine, config.repeat_cosine)):
        older, newer = sorted((one, other), key=lambda unit: (unit.moment, unit.id))
        best = closest.setdefault(newer.id, closeness)
        one_region = one.region is other.region and not is_another_event(newer, older)
        same = one_region and closeness >= config.merge_cosine and says_the_same(older, newer)
        again = closeness >= max(config.repeat_cosine, best - _NEAR_BEST) and _may_repeat(older, newer, closeness=closeness)
        if same or again:
            if not {one.id, other.id} & taken:
                taken |= {one.id, other.id}
                reason = f"{'says the same' if same else 'says it again'}, {closeness:.2f}"
                merges.append(
                    Merge(kept=older.id, gone=newer.id, kept_text=older.content, gone_text=newer.content, reason=reason)
                )
        elif one_region and closeness >= config.link_cosine and other.id not in one.related:
            unsure = _may_be_one(older, newer)
            links.append(Link(first=older.id, second=newer.id, reason=f"close, {closeness:.2f}", unsure=unsure))
    return merges + [link for link in links if not set(link.ids) & taken]


def says_the_same(older: MemoryUnit, newer: MemoryUnit) -> bool:
    """Whether nothing that an embedding overlooks keeps two close units apart: numbers, names, polarity, statement."""
    if same_text(older.content) == same_text(newer.content):
        return True
    if older.triple and newer.triple:
        return _same_statement(older, newer)
    if older.kind is not newer.kind or same_text(older.content) in same_text(newer.content):
        return False  # the newer one says more, such as a choice among what the older one offered
    if set(_NUMBER.findall(older.content)) != set(_NUMBER.findall(newer.content)) or set(older.entities) != set(newer.entities):
        return False
    return not stand_side_by_side(newer, older) and _same_polarity(older, newer)


def _may_repeat(older: MemoryUnit, newer: MemoryUnit, *, closeness: float) -> bool:
    """Whether the newer one says the older again, by its own words, and no triple speaks against it."""
    if older.speaker is not newer.speaker or (older.triple and newer.triple and not _same_statement(older, newer)):
        return False
    if is_chinese(older.content) != is_chinese(newer.content):
        return closeness >= _ACROSS_LANGUAGES and restates(newer, older)
    return repeats(newer, older) if older.region is newer.region else restates(newer, older)


def _may_be_one(older: MemoryUnit, newer: MemoryUnit) -> bool:
    """Whether nothing certain keeps two close units apart: statements, numbers, polarity, speaker."""
    if older.triple and newer.triple and not _same_statement(older, newer):
        return False
    before, after = set(_NUMBER.findall(older.content)), set(_NUMBER.findall(newer.content))
    return older.speaker is newer.speaker and (before <= after or after <= before) and _same_polarity(older, newer)


def _same_statement(older: MemoryUnit, newer: MemoryUnit) -> bool:
    one, other = older.triple, newer.triple
    assert one is not None
    assert other is not None
    return (
        one.negated == other.negated
        and bool(subject_keys(one.subject) & subject_keys(other.subject))
        and bool(attribute_keys(one.attribute) & attribute_keys(other.attribute))
        and compare_values(one.value, other.value, restated=is_restated(newer)) is Likeness.SAME
    )


def _same_polarity(older: MemoryUnit, newer: MemoryUnit) -> bool:
    """Whether both speak of doing or both of not doing, and neither takes anything back."""
    one, other = read_value(older.content), read_value(newer.content)
    if one.withdrawn != other.withdrawn or "forget" in cues(newer.source_text or newer.content):
        return False
    return bool(one.negated) == bool(other.negated)


def _able(item: IndexedUnit) -> bool:
    return item.dense is not None and is_comparable(item.unit)


def _close_pairs(
    able: Sequence[IndexedUnit], wanted: set[str] | None, *, space: EmbeddingSpace, least: float
) -> list[tuple[float, MemoryUnit, MemoryUnit]]:
    """Pairs at least so close, the closest first; ties in the order of the ids."""
    matrix = np.asarray([item.dense for item in able], dtype=np.float32)
    rows = [i for i, item in enumerate(able) if wanted is None or item.unit.id in wanted]
    lowest = _cosine(least, space)
    found: list[tuple[float, MemoryUnit, MemoryUnit]] = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        cosines = matrix[block] @ matrix.T
        for k, j in np.argwhere(cosines >= lowest).tolist():
            i = block[k]
            one, other = able[i].unit, able[j].unit
            seen = wanted is None or other.id in wanted
            if i == j or (seen and j < i):
                continue
            found.append((min(1.0, similarity(float(cosines[k, j]), space)), one, other))
    return sorted(found, key=lambda pair: (-round(pair[0], 6), *sorted((pair[1].id, pair[2].id))))


def _cosine(closeness: float, space: EmbeddingSpace) -> float:
    """The cosine that comes to a closeness: the inverse of `similarity`, a hair lower."""
    floor = COSINE_FLOORS.get(space.model, 0.0)
    return floor + closeness * (1.0 - floor) - 1e-6
