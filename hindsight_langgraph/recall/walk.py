"""Go on from the first hits to what they lead to: what to search a second time, then what each walk adds (SPEC D3, D4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.ops import Probe, Where
from hindsight_langgraph.recall.event_walk import find_event, walk_event
from hindsight_langgraph.recall.landscape import Landscape, linked_to, named_by, survey
from hindsight_langgraph.recall.recollection import Cues, Question
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.recall.thing_walk import bridging_things, named_words, walk_things

TERM: Final = "walk"
WEIGHT: Final = 0.20
"""What a walk adds at the most: about half of what the best unit of a recall scores."""
HEAD: Final = 60
"""How many of the first hits a walk starts from; those behind are searched no further."""
THINGS: Final = 8
"""Things that one walk follows at the most."""


def walks(cues: Cues, scored: Sequence[Scored]) -> bool:
    """Whether the question goes from one thing or event to another, and there are statements to walk over."""
    return (cues.through or bool(cues.event)) and any(not s.unit.raw for s in scored)


def second_probes(
    scored: Sequence[Scored], cues: Cues, vector: tuple[float, ...] | None, *, where: Where, config: RecallConfig
) -> dict[str, Probe]:
    """What to search for after the first hits, as one request; empty where they lead nowhere else.

    Args:
        scored: the first hits, best first.
        cues: what the query gave.
        vector: the query's embedding.
        where: what may be read, as in the first search.
        config: settings of recall; `entity_top` limits each walk.
    """
    if not config.entity_top or not walks(cues, scored):
        return {}
    land = survey(scored[:HEAD], (*cues.topics, *cues.event, *named_words(cues)))
    ranked = Probe(where=where, limit=config.entity_top, dense=vector) if vector is not None else None
    ranked = ranked or Probe(where=where, limit=config.entity_top, text=lexical.query_vector(cues.text))
    return _from_event(land, cues, ranked) | _from_things(land, cues, ranked)


def _from_event(land: Landscape, cues: Cues, ranked: Probe) -> dict[str, Probe]:
    """Units linked to the event, and the event's story on the side of time that the question looks to."""
    start = [land.unit(place) for place in find_event(land, cues)]
    if not start:
        return {}
    known = {scored.unit.id for scored in land.scored}
    linked = {key for unit in start for key in linked_to(unit)} - known
    things = tuple(dict.fromkeys(thing for unit in start for thing in sorted(named_by(unit))))[:THINGS]
    sessions = tuple(dict.fromkeys(unit.session_id for unit in start))[:THINGS]
    where = _beyond([unit.moment for unit in start], cues, ranked.where)
    probes: dict[str, Probe] = {}
    if linked:
        probes["linked"] = replace(ranked, where=replace(ranked.where, ids=tuple(sorted(linked))))
    if things:
        probes["story"] = replace(ranked, where=replace(where, entities=things))
        if cues.question in (Question.OUTCOME, Question.LATEST):
            probes["story_end"] = Probe(where=replace(where, entities=things), limit=ranked.limit, newest=True)
    probes["thread"] = replace(ranked, where=replace(where, sessions=sessions))
    return probes


def _beyond(moments: Sequence[datetime], cues: Cues, where: Where) -> Where:
    """The part of `where` that lies after the event, or before it."""
    if cues.question in (Question.BEFORE, Question.EARLIEST):
        latest = max(moments) + timedelta(microseconds=1)
        return replace(where, said_before=min(latest, where.said_before) if where.said_before else latest)
    return replace(where, said_from=min(moments))


def _from_things(land: Landscape, cues: Cues, ranked: Probe) -> dict[str, Probe]:
    """Units about the things that the first hits name and the question does not."""
    things = bridging_things(land, cues, most=THINGS)
    if not things:
        return {}
    words = lexical.query_vector(" ".join(things))
    probes = {"beyond": replace(ranked, where=replace(ranked.where, entities=things))}
    return probes | ({"beyond_words": Probe(where=ranked.where, limit=ranked.limit, text=words)} if words.indices else {})


def walked(scored: Sequence[Scored], cues: Cues) -> list[Scored]:
    """The candidates in their new order; those that a walk leads to gain the term "walk", from 0 to 1."""
    if not walks(cues, scored):
        return list(scored)
    land = survey(scored, (*cues.topics, *cues.event, *named_words(cues)))
    values = [max(pair) for pair in zip(walk_event(land, cues), walk_things(land, cues), strict=True)]
    lifted = [
        replace(s, score=s.score + WEIGHT * value, terms=s.terms | {TERM: value}) if value else s
        for s, value in zip(scored, values, strict=True)
    ]
    return sorted(lifted, key=lambda s: (-s.score, -s.unit.moment.timestamp(), s.unit.id))
