"""Joins episodes of one thread, goal or thing on a timeline (SPEC F4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from itertools import pairwise
from typing import Final

from hindsight_langgraph.consolidation.changes import Link
from hindsight_langgraph.consolidation.made import is_made
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit, Region, Status

GAP: Final = timedelta(days=60)
"""Two episodes of one thing that lie further apart are two stories."""
_COMMON: Final = 40
"""A thing that so many episodes name tells nothing about which belong together."""


def find_chains(units: Iterable[MemoryUnit]) -> list[Link]:
    """Links between neighbours on the timeline of each goal and thing; an episode that has none joins its thread's timeline."""
    episodes = [unit for unit in units if unit.region is Region.EPISODIC and unit.status is Status.ACTIVE and not is_made(unit)]
    lines: defaultdict[str, list[MemoryUnit]] = defaultdict(list)
    for unit in episodes:
        for name in _storylines(unit):
            lines[name].append(unit)
    found: dict[frozenset[str], Link] = {}
    for name, line in sorted(lines.items()):
        if len(line) <= _COMMON:
            _join(line, name, found)
    joined = {key for pair in found for key in pair} | {unit.id for unit in episodes if unit.related}
    threads: defaultdict[str, list[MemoryUnit]] = defaultdict(list)
    for unit in episodes:
        threads[unit.session_id].append(unit)
    for name, line in sorted(threads.items()):
        if any(unit.id not in joined for unit in line):
            _join(line, f"thread {name}", found, only={unit.id for unit in line} - joined)
    return list(found.values())


def _storylines(unit: MemoryUnit) -> list[str]:
    goal = [f"goal {' '.join(terms(unit.episode.goal))}"] if unit.episode is not None and unit.episode.goal else []
    return [*goal, *unit.entities]


def _join(line: list[MemoryUnit], name: str, found: dict[frozenset[str], Link], *, only: set[str] | None = None) -> None:
    ordered = sorted(line, key=lambda unit: (unit.moment, unit.id))
    for one, other in pairwise(ordered):
        wanted = only is None or one.id in only or other.id in only
        if wanted and other.moment - one.moment <= GAP and other.id not in one.related:
            found.setdefault(frozenset({one.id, other.id}), Link(first=one.id, second=other.id, reason=f"chain of {name}"))
