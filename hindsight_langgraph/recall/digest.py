"""Rewrite a recalled unit as one short entry (SPEC D10)."""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.recall.recollection import Item, Standing, shorten
from hindsight_langgraph.records import Kind, MemoryUnit, Precision, Record, Region

ENTRY_CHARS: Final = 400
"""The most of one entry; a longer unit keeps the sentences that answer the query."""
LABELS: Final[dict[Kind, str]] = {
    Kind.PREFERENCE: "preference", Kind.SENTIMENT: "preference", Kind.FACT: "fact", Kind.ENTITY: "fact", Kind.CORRECTION: "fact",
    Kind.PROCEDURE: "procedure", Kind.DECISION: "episode", Kind.TASK_STATE: "episode", Kind.EPISODE: "episode",
}  # fmt: skip
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")


class Entry(Record):
    """One line of the injected block, before it is made safe."""

    id: str
    label: str
    """preference, fact, procedure or episode (SPEC D11)."""
    date: str
    text: str
    note: str = ""
    """What a reader must know of its standing; blank when it simply holds."""


def digest(item: Item, topics: tuple[str, ...] = ()) -> Entry:
    """The entry of one item: an episode as situation, action, result; anything else as its content, the useful part of it."""
    unit = item.unit
    text = _episode(unit) or _relevant(unit.content, topics)
    if unit.speaker_name and not text.startswith(unit.speaker_name):
        text = f"{unit.speaker_name}: {text}"
    return Entry(id=unit.id, label=label(unit), date=_date(unit), text=text, note=_note(item))


def label(unit: MemoryUnit) -> str:
    """What kind of memory the reader is told it is."""
    return "procedure" if unit.region is Region.PROCEDURAL else LABELS[unit.kind]


def _episode(unit: MemoryUnit) -> str:
    episode = unit.episode
    if episode is None:
        return ""
    actions = "; ".join(event.content for event in episode.events)
    result = episode.outcome or ("succeeded" if episode.success else "failed" if episode.success is False else "")
    if episode.error:
        result = f"{result} ({episode.error})" if result else episode.error
    parts = {"situation": episode.goal, "action": actions, "result": result, "user's correction": episode.user_correction}
    return " / ".join(f"{name}: {shorten(value, ENTRY_CHARS // 2)}" for name, value in parts.items() if value)


def _relevant(text: str, topics: tuple[str, ...]) -> str:
    if len(text) <= ENTRY_CHARS:
        return text
    sentences = [s.strip() for s in _SENTENCE_END.split(text) if s.strip()]
    wanted = set(topics)
    order = sorted(range(len(sentences)), key=lambda i: (-len(wanted & set(lexical.terms(sentences[i]))), i))
    chosen: list[int] = []
    room = ENTRY_CHARS
    for i in order:
        if len(sentences[i]) + 3 <= room:
            chosen.append(i)
            room -= len(sentences[i]) + 3
    return " … ".join(sentences[i] for i in sorted(chosen)) or shorten(text, ENTRY_CHARS)


def _date(unit: MemoryUnit) -> str:
    if unit.anchor is None or unit.anchor.precision not in (Precision.DAY, Precision.INSTANT):
        return f"{unit.moment:%Y-%m-%d}"
    said, due = f"{unit.moment:%Y-%m-%d}", f"{unit.anchor.start:%Y-%m-%d}"
    return said if said == due else f"{said}, about {due}"


def _note(item: Item) -> str:
    if item.standing is Standing.CURRENT:
        return ""
    return f"history, no longer true since {item.unit.valid_to:%Y-%m-%d}" if item.unit.valid_to else "history, no longer true"
