"""Take out candidates that may not or should not be recalled, each with its reason (SPEC D7, D8, D9, A9)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall import phrases
from hindsight_langgraph.recall.recollection import Cues, Dropped, Stage, Standing
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Scope, Status

_WORD = re.compile(r"\w+")
RETRACTION_TAG: Final = "retraction"
"""What writing tags such a unit with."""
MIN_CONFIDENCE: Final = 0.1
"""SPEC C9 keeps confidence at 0.1 or above; a unit at the floor has been corrected away."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A candidate that may be recalled, with whether it still holds."""

    scored: Scored
    standing: Standing

    @property
    def unit(self) -> MemoryUnit:
        """The candidate's unit."""
        return self.scored.unit

    @property
    def why(self) -> tuple[str, ...]:
        """What speaks for it, for people."""
        return _reasons(self.scored, self.standing)


def standing_at(unit: MemoryUnit, moment: datetime) -> Standing | None:
    """Whether a unit holds, is history, or was not known yet (None) at a moment.

    A superseded unit ended when what replaced it took effect, and no later than it was marked: an announced change counts at once.
    A mark from before it was said comes from a clock that lags behind those of the messages, and tells nothing.
    """
    if unit.moment > moment:
        return None
    ends = [unit.valid_to] if unit.valid_to is not None else []
    ends += [unit.updated_at] if unit.status is Status.SUPERSEDED and (unit.updated_at > unit.moment or not ends) else []
    return Standing.HISTORY if any(end <= moment for end in ends) else Standing.CURRENT


def overtaken(units: Sequence[MemoryUnit]) -> frozenset[str]:
    """Ids of units that a later one of the same subject speaks over, though nobody marked them superseded.

    The later one names the same attribute, maybe among others ("status and quantity" after "quantity"), with another value.
    """
    told = [unit for unit in units if unit.triple is not None and not unit.triple.multi_valued and not unit.triple.negated]
    by_subject: dict[str, list[MemoryUnit]] = {}
    for unit in told:
        by_subject.setdefault(_subject(unit), []).append(unit)
    return frozenset(
        old.id for kin in by_subject.values() for old in kin for new in kin if new.moment > old.moment and _speaks_over(new, old)
    )


def takes_back(unit: MemoryUnit) -> bool:
    """Whether a unit only withdraws something or asks to forget it: it says nothing that holds, and repeats what must not be told."""
    return RETRACTION_TAG in unit.tags or (unit.kind is Kind.CORRECTION and bool(phrases.RETRACTION.search(unit.content)))


def _subject(unit: MemoryUnit) -> str:
    assert unit.triple is not None
    return unit.triple.subject.casefold()


def _speaks_over(new: MemoryUnit, old: MemoryUnit) -> bool:
    if new.triple is None or old.triple is None or new.status is Status.SUPERSEDED:
        return False
    ours, theirs = (set(_WORD.findall(unit.attribute.casefold())) for unit in (new.triple, old.triple))
    return bool(theirs) and theirs <= ours and new.triple.value.casefold() != old.triple.value.casefold()


def sift(
    scored: Sequence[Scored],
    cues: Cues,
    *,
    scope: Scope,
    now: datetime,
    as_of: datetime | None,
    config: RecallConfig,
    forgotten: frozenset[str] = frozenset(),
) -> tuple[list[Kept], list[Dropped]]:
    """What may be recalled, best first, and what may not, with the reason.

    `now` is the present; with `as_of`, a unit is judged by what was known and valid at that moment.
    """
    moment, readers, domains = as_of or now, frozenset(scope.readers), scope.domains
    kept: list[Kept] = []
    dropped: list[Dropped] = []
    spoken_over = overtaken([s.unit for s in scored])
    sharing = config.entity_filter and any(s.terms["entity"] > 0 for s in scored)
    for candidate in scored:
        unit = candidate.unit
        standing = _standing(unit, moment, now=now, as_of=as_of)
        reason = (
            _forbidden(unit, readers=readers, forgotten=forgotten)
            or _out_of_time(standing, cues)
            or _unfit(unit, cues, domains=domains)
            or (_unshared(candidate) if sharing else "")
            or (_contradiction(candidate, cues) if cues.times else "")
        )
        if reason:
            dropped.append(_dropped(candidate, reason))
        else:
            shown = Standing.HISTORY if unit.id in spoken_over else standing or Standing.CURRENT
            foreign = unit.domain and not domains
            kept.append(Kept(scored=_discounted(candidate, config) if foreign else candidate, standing=shown))
    return sorted(kept, key=lambda k: -k.scored.score), dropped


def _standing(unit: MemoryUnit, moment: datetime, *, now: datetime, as_of: datetime | None) -> Standing | None:
    if as_of is not None:
        return standing_at(unit, moment)
    if unit.status is Status.SUPERSEDED:  # whenever the change takes effect, nobody wants the old plan told as the present one
        return Standing.HISTORY
    if unit.valid_to is None:
        return Standing.CURRENT
    return standing_at(unit, max(now, unit.moment))  # a message clock ahead of ours makes no unit unknown


def _forbidden(unit: MemoryUnit, *, readers: frozenset[str], forgotten: frozenset[str]) -> str:
    if unit.owner not in readers:
        return "belongs to someone else"
    if forgotten and (unit.id in forgotten or (unit.sources and forgotten.issuperset(unit.sources))):
        return "forgotten on request"
    return ""


def _out_of_time(standing: Standing | None, cues: Cues) -> str:
    if standing is None:
        return "not known at that moment"
    if standing is Standing.HISTORY and not cues.backward:
        return "superseded or expired"
    return ""


def _unfit(unit: MemoryUnit, cues: Cues, *, domains: Collection[str]) -> str:
    if unit.role is CausalRole.NOISE:
        return "judged to be noise"
    if unit.confidence < MIN_CONFIDENCE:
        return "confidence below the floor"
    if not cues.history and takes_back(unit):
        return "only takes something back"
    if domains and unit.domain and unit.domain not in domains:
        return f"of another domain: {unit.domain}"
    return ""


def _unshared(candidate: Scored) -> str:
    return "shares no entity that the query names" if candidate.unit.entities and not candidate.terms["entity"] else ""


def _contradiction(candidate: Scored, cues: Cues) -> str:
    """Why a unit's time contradicts the one asked about (SPEC D7): it had ended by then, or speaks of another time.

    What held over the time asked about contradicts nothing, whenever it was said to begin.
    """
    unit = candidate.unit
    if unit.status is Status.SUPERSEDED and unit.valid_to is not None and all(unit.valid_to <= t.start for t in cues.times):
        return "had ended by the time asked about"
    begun = unit.valid_from or unit.moment
    if any(begun <= t.end and (unit.valid_to is None or unit.valid_to > t.start) for t in cues.times) and unit.triple is not None:
        return ""
    if unit.anchor is not None and not candidate.terms["date"] and not candidate.terms["entity"]:
        return "its time contradicts the query's"
    return ""


def _discounted(candidate: Scored, config: RecallConfig) -> Scored:
    factor = config.foreign_domain_factor
    return replace(candidate, score=candidate.score * factor, terms={**candidate.terms, "domain": factor})


def _reasons(candidate: Scored, standing: Standing) -> tuple[str, ...]:
    found = [f"found by {', '.join(candidate.candidate.channels)}"]
    told = {
        "speaker": "said by the one named",
        "date": "of the time asked about",
        "entity": "about the thing named",
        "chain": "its place in the chain fits",
        "walk": "where the walk from the first hits leads",
    }
    found += [words for name, words in told.items() if candidate.terms.get(name)]
    found += ["shown as history"] * (standing is Standing.HISTORY)
    return tuple(found)


def _dropped(candidate: Scored, reason: str) -> Dropped:
    return Dropped(unit=candidate.unit, score=candidate.score, terms=candidate.terms, stage=Stage.FILTER, reason=reason)
