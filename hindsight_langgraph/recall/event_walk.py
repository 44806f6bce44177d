"""Walk from the event that a question names to its outcome, or to what came after or before (SPEC D4)."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.recall.cues import WALKING
from hindsight_langgraph.recall.landscape import SETTLED, Landscape
from hindsight_langgraph.recall.recollection import Cues, Question
from hindsight_langgraph.records import Kind, MemoryUnit

NAMED: Final = 0.5
"""How closely a unit must match the event to be taken for it: half its words, or the thing that it is about."""
TOLD: Final = 0.55
"""The same where a certain telling is asked for, a last one or what followed it: the thing alone is not enough."""
AS_GOOD: Final = 0.7
"""Units that match it so well, the best being 1, tell of the same event."""
STEPS: Final = 4
FADE: Final = 0.85
"""How far a story is followed, and what each step is worth of the one before."""
MEMBER: Final = 0.25
"""From this sureness on a unit is part of the event's story."""
DECIDED: Final = (*SETTLED, Kind.EPISODE, Kind.TASK_STATE)
ASKED, NEAR = 0.5, 0.25
"""What it counts on the far side of an event to hold what is asked, and to be near; the rest is for what decides."""


def find_event(land: Landscape, cues: Cues) -> list[int]:
    """Places of the candidates that tell of the event asked about; empty when none does, or the question goes from none."""
    if cues.question not in WALKING or not cues.event:
        return []
    things = _things_of(cues)
    close = [
        _closeness(land, place, cues.event, things) if land.states(place) and scored.unit.kind is not Kind.ENTITY else 0.0
        for place, scored in enumerate(land.scored)
    ]
    least = max(NAMED if cues.question is Question.OUTCOME or not things else TOLD, AS_GOOD * max(close, default=0.0))
    return [place for place, value in enumerate(close) if value >= least]


def _things_of(cues: Cues) -> frozenset[str]:
    """The named things that the event is about; all of them where its words name none."""
    own = frozenset(thing for thing in cues.entities if not lexical.distinct_terms(thing).isdisjoint(cues.event))
    return own or frozenset(cues.entities)


def _closeness(land: Landscape, place: int, event: tuple[str, ...], things: frozenset[str]) -> float:
    """How closely a unit matches an event, 0 to 1: by its words, and by the things it is about where there are any."""
    names = {term for thing in things for term in lexical.distinct_terms(thing)}
    rest = [term for term in event if term not in names]
    words = land.share(rest or event, land.held[place])
    return (words + len(things & land.things[place]) / len(things)) / 2 if things else words


def walk_event(land: Landscape, cues: Cues) -> list[float]:
    """For each candidate how well it ends the walk, 0 to 1; all 0 where nothing is walked.

    A last or a first time is the newest or oldest of the event's own tellings. An outcome is what decides the event's story at its end,
    what came after or before a part of the story on that side. The story is followed over stored links, things named by both, wording
    and sessions.
    """
    start = find_event(land, cues)
    if not start:
        return [0.0] * len(land.scored)
    if cues.question in (Question.LATEST, Question.EARLIEST):
        return _by_time(land, start, newest=cues.question is Question.LATEST)
    if cues.question is Question.OUTCOME:
        return _endings(land, start)
    return _beside(land, _story(land, start), start, cues)


def _by_time(land: Landscape, start: list[int], *, newest: bool) -> list[float]:
    moments = sorted({land.unit(place).moment for place in start}, reverse=newest)
    if len(moments) < 2:
        return [0.0] * len(land.scored)
    return [1 / (1 + moments.index(land.unit(place).moment)) if place in start else 0.0 for place in range(len(land.scored))]


def _story(land: Landscape, start: list[int]) -> dict[int, float]:
    """The units of the event's story with how surely each belongs to it, step by step from those that tell of the event."""
    steps = land.steps()
    story = dict.fromkeys(start, 1.0)
    edge = dict(story)
    for number in range(STEPS):
        reached: dict[int, float] = {}
        for place, sure in edge.items():
            for other, step in steps[place].items():
                if (value := sure * step * (FADE if number else 1.0)) >= MEMBER and value > story.get(other, 0.0):
                    reached[other] = max(reached.get(other, 0.0), value)
        story |= reached
        edge = reached
    return story


def _endings(land: Landscape, start: list[int]) -> list[float]:
    """What decides the story, the later the better. A decision that tells of the event itself is its end: nothing else is walked to."""
    own = [place for place in start if land.unit(place).kind in SETTLED or _ended(land.unit(place))]
    first = min(land.unit(place).moment for place in own or start)
    story = dict.fromkeys(own, 1.0) or _story(land, start)
    later = [place for place in story if land.unit(place).moment >= first]
    ends = [place for place in later if _decides(land.unit(place))] or later
    moments = sorted({land.unit(place).moment for place in later})
    walked = [0.0] * len(land.scored)
    for place in ends:
        late = (1 + moments.index(land.unit(place).moment)) / len(moments)
        walked[place] = math.sqrt(story[place]) * late**2
    return _spread(walked) if own or set(ends) - set(start) else walked


def _beside(land: Landscape, story: dict[int, float], start: list[int], cues: Cues) -> list[float]:
    """What lies on the asked side of the event: what holds the words asked for, what is near, what decides."""
    back, own = cues.question is Question.BEFORE, set(start)
    edge = (max if back else min)(land.unit(place).moment for place in start)
    asked = [term for term in cues.topics if term not in cues.event and any(term in held for held in land.held)]
    away = {place: _seconds(edge, land.unit(place).moment, back=back) for place in story}
    order = sorted({gap for place, gap in away.items() if gap >= 0 and place not in own})
    walked = [0.0] * len(land.scored)
    told = max((land.share(asked, land.held[place]) for place in start), default=0.0)
    for place, gap in away.items():
        fits = land.share(asked, land.held[place])
        if place in own or gap < 0 or (asked and fits <= told):  # a telling of the event may tell what followed as well
            continue
        near = 1 / (1 + order.index(gap))
        walked[place] = story[place] * (
            ASKED * (fits if asked else 1.0) + NEAR * near + (1 - ASKED - NEAR) * _decides(land.unit(place))
        )
    return _spread(walked)


def _seconds(edge: datetime, moment: datetime, *, back: bool) -> float:
    """How far a moment lies on the asked side of the edge; negative on the other side."""
    return (edge - moment if back else moment - edge).total_seconds()


def _spread(walked: list[float]) -> list[float]:
    best = max(walked)
    return [value / best for value in walked] if best else walked


def _decides(unit: MemoryUnit) -> bool:
    return unit.kind in DECIDED and not unit.raw


def _ended(unit: MemoryUnit) -> bool:
    return unit.episode is not None and bool(unit.episode.outcome)
