"""Turn a statement into the unit that would be stored (issue point 1, "normalise" and "score")."""

from __future__ import annotations

from datetime import datetime

from hindsight_langgraph.encoding.attributes import USER, canonical
from hindsight_langgraph.encoding.entities import AliasTable, normalise
from hindsight_langgraph.encoding.identity import unit_id
from hindsight_langgraph.encoding.orders import is_instruction_to_assistant
from hindsight_langgraph.encoding.score import base_importance, tier_of
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.encoding.statement import QUOTED_CLAIM, Statement
from hindsight_langgraph.records import REGION_OF, Kind, MemoryUnit, Region, Scope, Triple, Turn

PRECEDING_WEIGHT = 300
SOURCE_WEIGHT = 4_000
RAW_CONFIDENCE = 0.3


def draft(
    statement: Statement, *, turn: Turn, previous: Turn | None, scope: Scope, aliases: AliasTable, now: datetime
) -> MemoryUnit:
    """The unit of a statement: names under one id, the attribute under one slug, importance by kind, an id that a retry repeats.

    `turn` is the turn that said it, `previous` the one before; `now` becomes `created_at`.
    """
    triple = None if statement.triple is None else _normal(statement.triple, aliases)
    kind, tags, content = statement.kind, statement.tags, statement.content
    if QUOTED_CLAIM not in tags and is_instruction_to_assistant(content):
        kind, tags, triple = Kind.FACT, (*tags, QUOTED_CLAIM), None
        content = f'The {turn.role} wrote: "{content}"'
    importance = base_importance(kind) if statement.importance is None else statement.importance
    key = content if triple is None else f"{content}\x1e{triple.subject}\x1e{triple.attribute}\x1e{triple.value}"
    moment = turn.at or now
    anchor = statement.anchor
    return MemoryUnit(
        id=unit_id(scope.owner, sources=statement.turn_ids, content=key),
        owner=scope.owner,
        content=content,
        region=REGION_OF[kind],
        kind=kind,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        domain=scope.domain,
        source_text=clip(_said_in(statement.source_text, turn), SOURCE_WEIGHT),
        sources=statement.turn_ids,
        speaker=statement.speaker,
        speaker_name=turn.speaker or "",
        preceding=clip(previous.text.strip(), PRECEDING_WEIGHT) if previous is not None else "",
        triple=triple,
        entities=tuple(dict.fromkeys(aliases.resolve(name) for name in statement.entities)),
        relations=statement.relations,
        attachments=turn.attachments,
        tags=tags,
        anchor=anchor,
        said_at=turn.at,
        created_at=now,
        updated_at=now,
        valid_from=anchor.start if anchor is not None and triple is not None else moment,
        base_importance=importance,
        importance=importance,
        confidence=statement.confidence,
        tier=tier_of(kind, triple),
    )


def raw_unit(turn: Turn, *, previous: Turn | None, scope: Scope, now: datetime) -> MemoryUnit:
    """A turn kept whole because its extraction failed: found by its words, structured later (SPEC B4)."""
    importance = base_importance(Kind.EPISODE)
    return MemoryUnit(
        id=unit_id(scope.owner, sources=(turn.id,), content=f"raw\x1e{turn.text}"),
        owner=scope.owner,
        content=turn.text.strip(),
        region=Region.EPISODIC,
        kind=Kind.EPISODE,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        domain=scope.domain,
        source_text=clip(turn.text, SOURCE_WEIGHT),
        sources=(turn.id,),
        speaker=turn.role,
        speaker_name=turn.speaker or "",
        preceding=clip(previous.text.strip(), PRECEDING_WEIGHT) if previous is not None else "",
        attachments=turn.attachments,
        said_at=turn.at,
        created_at=now,
        updated_at=now,
        valid_from=turn.at or now,
        base_importance=importance,
        importance=importance,
        confidence=RAW_CONFIDENCE,
        raw=True,
    )


def _normal(triple: Triple, aliases: AliasTable) -> Triple:
    named = canonical(triple)
    subject = aliases.resolve(named.subject)
    if named.subject == USER or subject == normalise(named.subject):  # no other name is known: it stays as it was written
        return named
    return named.model_copy(update={"subject": subject})


def _said_in(source_text: str, turn: Turn) -> str:
    """The words that were read, if they are in the turn; else the turn: a model may quote what nobody said."""
    return source_text if source_text and source_text in turn.text else turn.text
