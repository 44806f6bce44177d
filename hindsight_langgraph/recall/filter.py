"""Take out candidates that may not or should not be recalled, each with its reason (SPEC D7, D8, D9, A9)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.recollection import Cues, Dropped, Stage, Standing
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.records import CausalRole, MemoryUnit, Record, Scope, Status

MIN_CONFIDENCE: Final = 0.1
"""SPEC C9 keeps confidence at 0.1 or above; a unit at the floor has been corrected away."""


class Kept(Record):
    """A candidate that may be recalled, with whether it still holds."""

    scored: Scored
    standing: Standing
    why: tuple[str, ...] = ()

    @property
    def unit(self) -> MemoryUnit:
        """The candidate's unit."""
        return self.scored.unit


def standing_at(unit: MemoryUnit, moment: datetime) -> Standing | None:
    """Whether a unit holds, is history, or was not known yet (None) at a moment.

    A superseded unit without an end of validity ended when it was last changed.
    """
    if unit.moment > moment:
        return None
    ended = unit.valid_to or (unit.updated_at if unit.status is Status.SUPERSEDED else None)
    return Standing.HISTORY if ended is not None and ended <= moment else Standing.CURRENT


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
    moment = as_of or now
    kept: list[Kept] = []
    dropped: list[Dropped] = []
    sharing = [s for s in scored if s.terms["entity"] > 0] if cues.entities else []
    for candidate in scored:
        standing = _standing(candidate.unit, moment, now=now, as_of=as_of)
        reason = (
            _forbidden(candidate.unit, scope=scope, forgotten=forgotten)
            or _out_of_time(standing, cues)
            or _unfit(candidate, cues, sharing=bool(sharing), scope=scope)
        )
        if reason:
            dropped.append(_dropped(candidate, reason))
        else:
            kept.append(
                Kept(
                    scored=_discounted(candidate, scope, config),
                    standing=standing or Standing.CURRENT,
                    why=_reasons(candidate, standing),
                )
            )
    return sorted(kept, key=lambda k: -k.scored.score), dropped


def _standing(unit: MemoryUnit, moment: datetime, *, now: datetime, as_of: datetime | None) -> Standing | None:
    # a message clock ahead of ours makes no unit unknown; only a question about an earlier moment does
    return standing_at(unit, moment) if as_of is not None else standing_at(unit, max(now, unit.moment))


def _forbidden(unit: MemoryUnit, *, scope: Scope, forgotten: frozenset[str]) -> str:
    if unit.owner not in scope.readers:
        return "belongs to someone else"
    if unit.id in forgotten or (unit.sources and forgotten.issuperset(unit.sources)):
        return "forgotten on request"
    return ""


def _out_of_time(standing: Standing | None, cues: Cues) -> str:
    if standing is None:
        return "not known at that moment"
    if standing is Standing.HISTORY and not cues.history:
        return "superseded or expired"
    return ""


def _unfit(candidate: Scored, cues: Cues, *, sharing: bool, scope: Scope) -> str:
    unit = candidate.unit
    if unit.role is CausalRole.NOISE:
        return "judged to be noise"
    if unit.confidence < MIN_CONFIDENCE:
        return "confidence below the floor"
    if scope.domain and unit.domain and unit.domain != scope.domain:
        return f"of another domain: {unit.domain}"
    if sharing and unit.entities and not candidate.terms["entity"]:
        return "shares no entity that the query names"
    if cues.times and unit.anchor is not None and not candidate.terms["date"] and not candidate.terms["entity"]:
        return "its time contradicts the query's"
    return ""


def _discounted(candidate: Scored, scope: Scope, config: RecallConfig) -> Scored:
    if scope.domain is None and candidate.unit.domain:
        factor = config.foreign_domain_factor
        return candidate.model_copy(update={"score": candidate.score * factor, "terms": candidate.terms | {"domain": factor}})
    return candidate


def _reasons(candidate: Scored, standing: Standing | None) -> tuple[str, ...]:
    found = [f"found by {', '.join(candidate.candidate.channels)}"]
    told = {
        "speaker": "said by the one named",
        "date": "of the time asked about",
        "entity": "about the thing named",
        "chain": "its place in the chain fits",
    }
    found += [words for name, words in told.items() if candidate.terms.get(name)]
    found += ["shown as history"] * (standing is Standing.HISTORY)
    return tuple(found)


def _dropped(candidate: Scored, reason: str) -> Dropped:
    return Dropped(unit=candidate.unit, score=candidate.score, terms=candidate.terms, stage=Stage.FILTER, reason=reason)
