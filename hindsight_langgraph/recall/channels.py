"""Turn cues into the probes of one search, then its replies into candidates (SPEC D3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.ops import Probe, SearchUnits, Where
from hindsight_langgraph.recall.recollection import Cues, Route
from hindsight_langgraph.records import Hit, Kind, MemoryUnit, Region, Scope, Status, Turn

RANKED: Final = ("dense", "text", "context")
"""Channels whose score says how well a unit fits; the others say only that it belongs."""
ADAPTED: Final = "adapted"
"""The channel of the query's adapted vector, where an adapter was learnt. Its cosines are of a scale of their own."""
UNSCORED: Final = ("newest", "story_end")
"""Channels that rank by time alone."""
OVERTAKEN: Final = "overtaken"
"""Asked beside the channels: superseded units of the session's turns, which are no candidates."""
OVERTAKEN_TOP: Final = 200
NEWEST_TOP: Final = 5
DAY_SLACK: Final = timedelta(days=3)
"""People misremember days: a time cue reaches this far to either side."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A unit with what each channel said of it."""

    unit: MemoryUnit
    channels: Mapping[str, float]
    """Raw score by channel: cosine for "dense" and "adapted", BM25 for "text" and "context", presence (1.0) for the others."""


def readable(route: Route, *, scope: Scope, config: RecallConfig, as_of: datetime | None) -> Where:
    """What this recall may read at all, bound to the scope's readers (SPEC A10).

    What was superseded is read even where it may not be told: what replaced it is found by its words.
    """
    return Where(
        owners=scope.readers,
        regions=route.regions if config.route_only or route.by == "caller" else None,
        statuses=(Status.ACTIVE, Status.SUPERSEDED),
        said_before=as_of + timedelta(microseconds=1) if as_of is not None else None,
    )


def build_probes(cues: Cues, vector: tuple[float, ...] | None, *, where: Where, config: RecallConfig) -> dict[str, Probe]:
    """The probe of each channel that the cues feed, within what is readable."""
    words = lexical.query_vector(cues.text)
    probes: dict[str, Probe] = {}
    if vector is not None:
        probes["dense"] = Probe(where=where, limit=config.dense_top, dense=vector)
    if words.indices:
        probes["text"] = Probe(where=where, limit=config.lexical_top, text=words)
        probes["context"] = Probe(where=where, limit=config.lexical_top, context=words)
    ranked = Probe(where=where, limit=config.entity_top, dense=vector) if vector is not None else None
    ranked = ranked or (Probe(where=where, limit=config.entity_top, text=words) if words.indices else None)
    if ranked is not None and config.entity_top:
        if cues.entities:
            probes["entities"] = replace(ranked, where=replace(where, entities=cues.entities))
        if cues.times:
            start, end = min(t.start for t in cues.times) - DAY_SLACK, max(t.end for t in cues.times) + DAY_SLACK
            latest = min(end, where.said_before) if where.said_before else end
            probes["said"] = replace(ranked, where=replace(where, said_from=start, said_before=latest))
            probes["anchored"] = replace(ranked, where=replace(where, anchor_from=start, anchor_before=end))
    if cues.past:
        probes["newest"] = Probe(where=where, limit=NEWEST_TOP, newest=True)
    return probes


def adapted_probe(vector: tuple[float, ...], *, where: Where, config: RecallConfig) -> dict[str, Probe]:
    """The probe of the adapted vector, which is asked beside the query's own: it knows what helped before, not all that fits."""
    return {ADAPTED: Probe(where=where, limit=config.dense_top, dense=vector)}


def overtaken_probe(turns: Sequence[Candidate], *, scope: Scope) -> dict[str, Probe]:
    """The probe for what was superseded since it was said in one of the turns; none where there are no turns."""
    said = tuple(turn.unit.id for turn in turns)
    where = Where(owners=(scope.owner,), sources=said, statuses=(Status.SUPERSEDED,))
    return {OVERTAKEN: Probe(where=where, limit=OVERTAKEN_TOP, newest=True)} if said else {}


def not_overtaken(turns: Sequence[Candidate], superseded: Sequence[Hit]) -> list[Candidate]:
    """The session's turns without those that say what was superseded since: a whole turn would tell it as if it still held."""
    gone = {source for hit in superseded for source in hit.unit.sources}
    return [turn for turn in turns if turn.unit.id not in gone]


def search(probes: Mapping[str, Probe], *, cold: bool = False) -> SearchUnits:
    """All probes as one request."""
    return SearchUnits(probes=tuple(probes.values()), collection="cold" if cold else "live")


def merge(replies: Mapping[str, Sequence[Hit]], *, walks_by: str) -> list[Candidate]:
    """One candidate a unit, whatever channels found it, in the order of first sight.

    Args:
        replies: the hits of each channel.
        walks_by: "dense" or "text": what the walks (entities, times) were ranked by, so that their scores are used as well.
    """
    units: dict[str, MemoryUnit] = {}
    scores: dict[str, dict[str, float]] = {}
    for channel, hits in replies.items():
        if channel == OVERTAKEN:
            continue
        ranked, scored = channel in RANKED or channel == ADAPTED, channel not in UNSCORED
        for hit in hits:
            unit = hit.unit
            told = scores.get(unit.id)
            if told is None:
                units[unit.id] = unit
                told = scores[unit.id] = {}
            told[channel] = hit.score if ranked else 1.0
            if scored and not ranked:
                told.setdefault(walks_by, hit.score)
    return [Candidate(unit=unit, channels=scores[id_]) for id_, unit in units.items()]


def session_candidates(
    turns: Sequence[Turn], cues: Cues, *, scope: Scope, now: datetime, config: RecallConfig
) -> list[Candidate]:
    """Turns of the session buffer within the window as raw candidates, scored by the share of the query's terms they hold."""
    oldest, wanted = now - timedelta(days=config.window_days), set(cues.topics)
    found: list[Candidate] = []
    for turn in turns:
        said = turn.at or now
        shared = len(wanted & set(lexical.terms(turn.text))) / len(wanted) if wanted else 0.0
        if said >= oldest and turn.text.strip() and shared:
            found.append(Candidate(unit=_unit_of(turn, scope=scope, said=said), channels={"session": shared}))
    return found


def _unit_of(turn: Turn, *, scope: Scope, said: datetime) -> MemoryUnit:
    return MemoryUnit(
        id=turn.id, owner=scope.owner, content=turn.text, region=Region.EPISODIC, kind=Kind.EPISODE, raw=True, session_id=scope.session_id,
        sources=(turn.id,), speaker=turn.role, speaker_name=turn.speaker or "", said_at=turn.at, created_at=said, updated_at=said,
    )  # fmt: skip


def without_repeats(units: Sequence[Candidate], turns: Sequence[Candidate]) -> list[Candidate]:
    """Units, then the turns that no unit was read from."""
    covered = {source for candidate in units for source in candidate.unit.sources} | {candidate.unit.id for candidate in units}
    return [*units, *(turn for turn in turns if turn.unit.id not in covered)]
