"""Sums up what happened around one thing or goal over several conversations (SPEC F5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.consolidation.changes import Add
from hindsight_langgraph.consolidation.made import SUMMARY, is_made, made_from
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.records import Kind, MemoryUnit, Region, Status

LEAST: Final = 4
"""Episodes that make a summary worth having; from at least two conversations."""
_LATEST: Final = 6
_ENTRY: Final = 110
_IMPORTANCE: Final = 0.5


def find_summaries(units: Iterable[MemoryUnit], *, now: datetime) -> list[Add]:
    """One summary for each thing that several conversations speak of, by rules: the dated course of events, oldest first.

    Conclusions that conflict stay side by side, each with its date; the latest stands last. Never made of a single conversation.
    """
    made: list[Add] = []
    for name, evidence in sorted(summed(units).items()):
        course = "; ".join(f"{unit.moment:%Y-%m-%d}: {clip(' '.join(unit.content.split()), _ENTRY)}" for unit in evidence)
        unit = made_from(
            evidence, tag=SUMMARY, name=name, content=f"{name}: {course}", kind=Kind.EPISODE, importance=_IMPORTANCE, now=now
        )
        made.append(
            Add(
                made=unit, about=name, reason=f"{len(evidence)} episodes of {len({e.session_id for e in evidence})} conversations"
            )
        )
    return made


def summed(units: Iterable[MemoryUnit]) -> dict[str, list[MemoryUnit]]:
    """The episodes that each summary is made of, in time order, the latest few."""
    groups: defaultdict[str, list[MemoryUnit]] = defaultdict(list)
    for unit in units:
        if unit.region is Region.EPISODIC and unit.status is Status.ACTIVE and not unit.raw and not is_made(unit):
            for name in (unit.episode.goal,) if unit.episode is not None else unit.entities:
                groups[name].append(unit)
    return {name: _latest(group) for name, group in groups.items() if name and _spans(group)}


def _spans(group: Sequence[MemoryUnit]) -> bool:
    return len(group) >= LEAST and len({unit.session_id for unit in group}) >= 2


def _latest(group: Sequence[MemoryUnit]) -> list[MemoryUnit]:
    return sorted(group, key=lambda unit: (unit.moment, unit.id))[-_LATEST:]
