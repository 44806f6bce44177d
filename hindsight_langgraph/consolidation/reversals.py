"""Finds what a later text takes back in so many words (SPEC F3): "forget what I said about X", "I've gone off X", "别再提 X".

No triple is needed, and no closeness: the text itself names the thing and says that it no longer holds. Only statements that name
all of it are retired, and of those that merely state a taste or wish only the positive ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hindsight_langgraph.consolidation.changes import Retire
from hindsight_langgraph.consolidation.comparable import in_time_order, is_comparable
from hindsight_langgraph.consolidation.forget_request import about, read_forget_request
from hindsight_langgraph.encoding.cues import cues, is_chinese
from hindsight_langgraph.encoding.wordings import numbered_names, things_ended
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit, Role

_POINTED: Final = re.compile(
    r"\b(?:that|the|this|my) (?P<en>[\w'-]+(?: [\w'-]+)?) (?:has|have|is|was|were|got|'s|isn't|turned|leaked|expired)\b.{0,60}?[,.;!]\s*(?:so |please |just )*"
    r"(?:forget|delete|erase|drop|remove|ignore|scrap) (?:it|that|them|those)\b"
    r"|(?:那个|这个|那条|这条|之前的|刚才的|上次的)(?P<zh>[^，。；！？,的]{1,8}?)(?:已经|已|也|是|不|没|有|就|都|泄露|过期|失效|错|作废)[^。！？]{0,20}[，。；,]\s*(?:你|就|请|都|把它|快)*"
    r"(?:忘掉|忘了|删掉|删了|删除|别记|别用|别留着|作废)",
    re.IGNORECASE,
)
"""A thing that is named first and then asked to be forgotten by "it"."""
_NAME: Final = re.compile(r"\b[A-Z][\w-]+")
_MOST: Final = 3
"""A text that would take back more than this says something else."""


def find_reversals(units: Iterable[MemoryUnit]) -> list[Retire]:
    """What texts among `units` take back of what the same speaker said before them."""
    able = in_time_order(unit for unit in units if _able(unit))
    found: list[Retire] = []
    gone: set[str] = set()
    for place, newer in enumerate(able):
        if newer.id in gone:
            continue
        older = [unit for unit in able[:place] if unit.id not in gone and not set(unit.sources) & set(newer.sources)]
        for unit, reason in taken_back(newer, older):
            gone.add(unit.id)
            found.append(Retire.of(unit, by=newer, reason=reason))
    return found


def taken_back(newer: MemoryUnit, older: Iterable[MemoryUnit]) -> list[tuple[MemoryUnit, str]]:
    """The older units that the newer one's text takes back, with the reason."""
    text = newer.source_text or newer.content
    pool = list(older)
    for sentence in re.split(r"(?<=[.!?。！？\n])\s*", text):
        request = read_forget_request(sentence)
        if request is not None and request.topic:
            meant = about(request, pool)
            if 0 < len(meant) <= _MOST:
                return [(unit, f"asked to be forgotten: {' '.join(request.topic)}") for unit in meant]
    for match in _POINTED.finditer(text):
        thing = match["en"] or match["zh"]
        wanted = set(terms(thing)) - _POINTERS
        meant = [unit for unit in pool if wanted and wanted <= set(terms(unit.content))]
        if 0 < len(meant) <= _MOST:
            return [(unit, f"asked to be forgotten: {thing}") for unit in meant]
    renumbered = _renumbered(newer, pool)
    if renumbered:
        return renumbered
    for thing in things_ended(text):
        wanted = set(terms(thing)) - _POINTERS
        meant = [unit for unit in pool if wanted and wanted <= set(terms(unit.content)) and _is_wish(unit)]
        if 0 < len(meant) <= _MOST:
            return [(unit, f"no longer holds: {thing}") for unit in meant]
    return []


def _renumbered(newer: MemoryUnit, pool: list[MemoryUnit]) -> list[tuple[MemoryUnit, str]]:
    """The latest unit that gives the same name another number, where both speak of the same thing besides and the newer one of a change."""
    after = numbered_names(newer.source_text or newer.content)
    if not after or "change" not in cues(newer.source_text or newer.content):
        return []
    for unit in reversed(pool):
        before = numbered_names(unit.source_text or unit.content)
        for name in after.keys() & before.keys():
            if not after[name] & before[name] and (_things(newer) & _things(unit)) - set(terms(name)):
                return [(unit, f"{name} has another number")]
    return []


def _things(unit: MemoryUnit) -> set[str]:
    """The names that a text gives its things; in Chinese any of its words may be one."""
    text = unit.source_text or unit.content
    return (
        set(terms(text))
        if is_chinese(text)
        else {name for word in _NAME.findall(text) for name in terms(word)} | set(unit.entities)
    )


_POINTERS: Final = frozenset(terms("it that this them those these one thing way lot him")) | {"这个", "那个"}


def _is_wish(unit: MemoryUnit) -> bool:
    """Whether a text states a taste or wish in favour of something."""
    said = unit.source_text or unit.content
    return bool({"preference", "instruction"} & cues(said)) and not things_ended(said)


def _able(unit: MemoryUnit) -> bool:
    return unit.speaker is Role.USER and is_comparable(unit)
