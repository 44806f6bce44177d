"""The plan of writing: from turns to stored units (SPEC B; issue point 1).

redact → split → gate → extract → normalise → match → store. Every stage is a function of its own over plain values; this module only
passes their results on and asks for what they need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.changes import Change, confirm, retire
from hindsight_langgraph.encoding.drafts import draft, raw_unit
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.features import Vector, embedding_text
from hindsight_langgraph.encoding.gate import Verdict, judge, needs_vector
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.learned import read_learned, store_aliases
from hindsight_langgraph.encoding.local_extractor import LocalExtractor
from hindsight_langgraph.encoding.match import Match, Outcome, match, says_the_same
from hindsight_langgraph.encoding.report import StatementReport, TurnReport, WriteReport, WriteStatus
from hindsight_langgraph.encoding.split import clip, pieces, segments
from hindsight_langgraph.encoding.statement import Extraction, ExtractionStatus, Extractor, Statement
from hindsight_langgraph.encoding.store import find_pools, make_changes, put, written_units
from hindsight_langgraph.encoding.updates import Candidate
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.ops import Complete
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.ports import Redactor
from hindsight_langgraph.records import EmbeddingSpace, MemoryUnit, Role, Scope, Status, Turn
from hindsight_langgraph.similarity import similarity

CONTEXT_TURNS: Final = 12
"""How many turns before a turn its extractor sees."""
EMBED_SEGMENTS: Final = 8
"""A turn of more segments is gated by its words alone: embedding a pasted book would take minutes."""
SHOWN: Final = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class WritingTools:
    """What writing works with, for one owner."""

    heads: Heads
    aliases: AliasTable
    """Aliases known besides those that the owner taught, which are read from the working store."""
    redactor: Redactor
    space: EmbeddingSpace | None
    """The space of the embeddings; None when no embedding model is there: units are found by words."""
    extractor: Extractor | None = None
    """None reads turns without a chat model, by `LocalExtractor`."""


@dataclass(kw_only=True, slots=True)
class _Judged:
    """A turn with what the gate said of it."""

    turn: Turn
    before: list[Turn]
    verdict: Verdict
    readable: list[Turn]
    """What the extractor reads of it: the turn, or those parts of a long one that passed."""
    extraction: Extraction | None = None
    drafts: list[MemoryUnit] = field(default_factory=list)

    @property
    def previous(self) -> Turn | None:
        return self.before[-1] if self.before else None

    @property
    def failed(self) -> bool:
        return self.extraction is not None and self.extraction.status is ExtractionStatus.FAILED


@dataclass(kw_only=True, slots=True)
class _Decided:
    """What is to be written, before anything is."""

    new: dict[str, MemoryUnit] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    matches: dict[str, Match] = field(default_factory=dict)


def write_turns(
    turns: Sequence[Turn],
    *,
    context: Sequence[Turn],
    scope: Scope,
    now: datetime,
    config: WriteConfig,
    tools: WritingTools,
    dry_run: bool = False,
) -> Plan[WriteReport]:
    """Write what is worth remembering of `turns`.

    Writing the same turns again, after a crash, a retry, a resume or in a fork, writes nothing a second time.

    Args:
        turns: what was said, in order; blank ones are passed over.
        context: the turns before them, for ellipsis; they are read, not written.
        scope: whose memory it is.
        now: the moment of writing; relative times are resolved against each turn's own moment.
        config: thresholds and limits.
        tools: heads, aliases, redactor, embedding space, extractor.
        dry_run: decide everything and write nothing.

    Raises:
        StoreError: the long-term store did not take it; writing the turns again is safe.
        Conflict: a unit was changed by others again and again; write the turns again.
    """
    clean, redactions = _redact(turns, tools.redactor)
    history = [*_redact(context, tools.redactor)[0], *clean]
    learned = yield from read_learned(scope)
    aliases = AliasTable({**tools.aliases.learned, **learned.aliases})
    for turn in clean:
        if turn.role is Role.USER:
            aliases = aliases.learn(turn.text)
    stored = yield from written_units(scope, [turn.id for turn in clean if turn.text.strip()])
    fresh = [turn for turn in clean if not _is_written(turn, stored) and turn.id not in learned.forgotten]
    vectors = yield from _embed_turns(fresh, history, tools)
    judged = [_judge(turn, history, vectors, tools) for turn in fresh]
    calls = 0
    for one in judged:
        if one.verdict.keep:
            calls += yield from _extract(one, vectors=vectors, scope=scope, aliases=aliases, tools=tools, config=config)
            one.drafts = _drafts(one, scope=scope, aliases=aliases, redactor=tools.redactor, now=now)
    known = {unit.id for unit in stored} | learned.forgotten
    drafts = [unit for one in judged for unit in one.drafts if unit.id not in known]
    unit_vectors = yield from _embed_units(drafts, tools)
    decided = yield from _decide(drafts, unit_vectors, scope=scope, tools=tools, config=config, now=now)
    decided.changes.extend(_unfinished(stored))
    decided.changes.extend(_structured(judged, stored))
    changed: list[str] = []
    if not dry_run:
        yield from put(tuple(decided.new.values()), unit_vectors)
        changed = yield from make_changes(decided.changes, scope=scope, now=now)
        changed += yield from _settle_twins(decided, unit_vectors, scope=scope, tools=tools, config=config, now=now)
        yield from store_aliases(scope, _newly_taught(aliases, learned.aliases, tools.aliases.learned))
    embedded = tools.space is not None and all(unit_id in unit_vectors for unit_id in decided.new)
    return _report(
        clean, judged, decided, redactions=redactions, model_calls=calls, embedded=embedded, changed=changed, dry_run=dry_run
    )


# --- stages --------------------------------------------------------------------------------------------------------------


def _redact(turns: Sequence[Turn], redactor: Redactor) -> tuple[list[Turn], dict[str, int]]:
    clean: list[Turn] = []
    counts: dict[str, int] = {}
    for turn in turns:
        text, found = redactor(turn.text)
        clean.append(turn if text == turn.text else turn.model_copy(update={"text": text}))
        for sort, count in found.items():
            counts[sort] = counts.get(sort, 0) + count
    return clean, counts


def _is_written(turn: Turn, stored: Sequence[MemoryUnit]) -> bool:
    """Whether an earlier run wrote this very text; a message that was edited under its old id is read again."""
    return any(
        turn.id in unit.sources and not unit.raw and bool(unit.source_text) and unit.source_text.removesuffix("…") in turn.text
        for unit in stored
    )


def _parts(turn: Turn, limit: int) -> list[Turn]:
    """The turn whole, or the segments of its pieces."""
    texts = [text for piece in pieces(turn, limit=limit) for text in segments(piece.text)]
    return [turn] if len(texts) <= 1 else [turn.model_copy(update={"text": text}) for text in texts if text.strip()]


def _before(turn: Turn, history: Sequence[Turn]) -> list[Turn]:
    place = next(i for i, other in enumerate(history) if other is turn)
    return [other for other in history[max(0, place - CONTEXT_TURNS) : place] if other.text.strip()]


def _embed_turns(fresh: Sequence[Turn], history: Sequence[Turn], tools: WritingTools) -> Plan[dict[str, Vector]]:
    """Vectors for the heads, by `features.embedding_text`; none where the heads read words only."""
    if tools.space is None or tools.heads.space is None:
        return {}
    wanted: list[str] = []
    for turn in fresh:
        parts = _parts(turn, len(turn.text) + 1) if needs_vector(turn) else []
        if 0 < len(parts) <= EMBED_SEGMENTS:
            wanted.extend(embedding_text(part) for part in parts)
            wanted.extend(embedding_text(before) for before in _before(turn, history)[-1:])
    return (yield from embed_texts(wanted))


def _judge(turn: Turn, history: Sequence[Turn], vectors: Mapping[str, Vector], tools: WritingTools) -> _Judged:
    before = _before(turn, history)
    previous = before[-1] if before else None
    parts = _parts(turn, len(turn.text) + 1)
    verdicts = [
        judge(
            part,
            previous=previous.text if previous is not None and i == 0 else "",
            heads=tools.heads,
            vector=vectors.get(embedding_text(part)),
            previous_vector=vectors.get(embedding_text(previous)) if previous is not None and i == 0 else None,
        )
        for i, part in enumerate(parts)
    ]
    best = max(verdicts, key=lambda verdict: (verdict.keep, verdict.score))
    readable = [part for part, verdict in zip(parts, verdicts, strict=True) if verdict.keep]
    return _Judged(turn=turn, before=before, verdict=best, readable=readable)


def _extract(
    one: _Judged,
    *,
    vectors: Mapping[str, Vector],
    scope: Scope,
    aliases: AliasTable,
    tools: WritingTools,
    config: WriteConfig,
) -> Plan[int]:
    """Let the extractor read one turn. Returns how many requests it made of the chat model."""
    if tools.extractor is None or one.turn.role is Role.TOOL:
        local = LocalExtractor(heads=tools.heads, aliases=aliases, vectors=vectors)
        one.extraction, _ = yield from _counted(local.extract(one.readable, context=one.before, scope=scope))
        return 0
    kept = {part.text for part in one.readable}
    whole = [piece for piece in pieces(one.turn, limit=config.max_turn_chars) if any(text in piece.text for text in kept)]
    one.extraction, calls = yield from _counted(tools.extractor.extract(whole, context=one.before, scope=scope))
    return calls


def _counted(plan: Plan[Extraction]) -> Plan[tuple[Extraction, int]]:
    """Run a plan, counting the requests it makes of the chat model."""
    calls = 0
    reply: Any = None
    error: Exception | None = None
    while True:
        try:
            request = plan.send(reply) if error is None else plan.throw(error)
        except StopIteration as stop:
            return stop.value, calls
        calls += isinstance(request, Complete)
        reply, error = None, None
        try:
            reply = yield request
        except Exception as raised:  # noqa: BLE001 - handed on to the plan that asked
            error = raised


def _drafts(one: _Judged, *, scope: Scope, aliases: AliasTable, redactor: Redactor, now: datetime) -> list[MemoryUnit]:
    if one.extraction is None:
        return []
    if one.failed:
        return [raw_unit(part, previous=one.previous, scope=scope, now=now) for part in one.readable]
    units = [
        draft(_without_secrets(statement, redactor), turn=one.turn, previous=one.previous, scope=scope, aliases=aliases, now=now)
        for statement in one.extraction.statements
    ]
    return list({unit.id: unit for unit in units}.values())


def _without_secrets(statement: Statement, redactor: Redactor) -> Statement:
    """A model may echo what it should never have seen."""
    triple = statement.triple
    if triple is not None:
        triple = triple.model_copy(update={"value": redactor(triple.value)[0] or triple.value})
    return statement.model_copy(update={"content": redactor(statement.content)[0], "triple": triple})


def _embed_units(drafts: Sequence[MemoryUnit], tools: WritingTools) -> Plan[dict[str, Vector]]:
    if tools.space is None:
        return {}
    by_text = yield from embed_texts(index_text(unit) for unit in drafts)
    return {unit.id: by_text[index_text(unit)] for unit in drafts if index_text(unit) in by_text}


def _decide(
    drafts: Sequence[MemoryUnit],
    vectors: Mapping[str, Vector],
    *,
    scope: Scope,
    tools: WritingTools,
    config: WriteConfig,
    now: datetime,
) -> Plan[_Decided]:
    """Match each draft with the store and with the drafts before it."""
    pools = yield from find_pools(drafts, vectors, scope=scope, space=tools.space)
    decided = _Decided()
    for unit, pool in zip(drafts, pools, strict=True):
        gone = {change.unit_id for change in decided.changes if change.verb == "retire"}
        candidates = [candidate for candidate in pool if candidate.unit.id not in gone]
        candidates += [
            Candidate(unit=other, similarity=_closeness(vectors.get(unit.id), vectors.get(other.id), tools.space))
            for other in decided.new.values()
            if other.status is Status.ACTIVE
        ]
        found = match(unit, candidates, heads=tools.heads.reading(vectors.get(unit.id)), config=config)
        decided.matches[unit.id] = found
        _take(decided, unit, found, now=now)
    return decided


def _take(decided: _Decided, unit: MemoryUnit, found: Match, *, now: datetime) -> None:
    """Add what was decided about one unit to what is to be written."""
    if found.outcome is Outcome.DUPLICATE and found.same_as is not None:
        if found.same_as in decided.new:
            decided.new[found.same_as] = _unstored(confirm(decided.new[found.same_as], unit, now=now))
        else:
            decided.changes.append(Change(unit_id=found.same_as, verb="confirm", by=unit))
        return
    update: dict[str, object] = {"related": found.related, "supersedes": found.supersedes}
    if found.superseded_by is not None:
        update |= {"status": Status.SUPERSEDED, "superseded_by": found.superseded_by}
    decided.new[unit.id] = unit = unit.model_copy(update=update)
    for old in found.supersedes:
        if old in decided.new:
            decided.new[old] = _unstored(retire(decided.new[old], unit, now=now))
        else:
            decided.changes.append(Change(unit_id=old, verb="retire", by=unit))


def _unstored(unit: MemoryUnit) -> MemoryUnit:
    """A unit that is not stored yet has no revisions, however often it changes on the way."""
    return unit.model_copy(update={"revision": 0})


def _closeness(one: Vector | None, other: Vector | None, space: EmbeddingSpace | None) -> float:
    if one is None or other is None or space is None:
        return 0.0
    return min(1.0, similarity(sum(a * b for a, b in zip(one, other, strict=True)), space))


def _unfinished(stored: Sequence[MemoryUnit]) -> list[Change]:
    """What an earlier run that died between its two writes still owes: a unit is stored before what it replaces is retired."""
    return [
        Change(unit_id=old, verb="retire", by=unit) for unit in stored if unit.status is Status.ACTIVE for old in unit.supersedes
    ]


def _structured(judged: Sequence[_Judged], stored: Sequence[MemoryUnit]) -> list[Change]:
    """Raw units whose turn has now been read give way to what was read."""
    return [
        Change(unit_id=unit.id, verb="retire", by=one.drafts[0])
        for one in judged
        if one.drafts and not one.failed
        for unit in stored
        if unit.raw and one.turn.id in unit.sources
    ]


def _settle_twins(
    decided: _Decided, vectors: Mapping[str, Vector], *, scope: Scope, tools: WritingTools, config: WriteConfig, now: datetime
) -> Plan[list[str]]:
    """Look once more after writing: another writer may have stored the same meanwhile (CASES O18).

    Both writers see both units and agree which one stays, the one with the lower id; the other confirms it and is retired.
    """
    mine = [unit for unit in decided.new.values() if unit.status is Status.ACTIVE and not unit.raw]
    pools = yield from find_pools(mine, vectors, scope=scope, space=tools.space)
    changes: list[Change] = []
    for unit, pool in zip(mine, pools, strict=True):
        for candidate in pool:
            other = candidate.unit
            if other.id in decided.new or other.id == unit.id or not says_the_same(unit, candidate, config=config):
                continue
            kept, gone = sorted((unit, other), key=lambda twin: twin.id)
            changes += [Change(unit_id=kept.id, verb="confirm", by=gone), Change(unit_id=gone.id, verb="retire", by=kept)]
    return (yield from make_changes(changes, scope=scope, now=now))


def _newly_taught(aliases: AliasTable, *known: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in aliases.learned.items() if all(other.get(name) != value for other in known)}


def _report(
    turns: Sequence[Turn],
    judged: Sequence[_Judged],
    decided: _Decided,
    *,
    redactions: dict[str, int],
    model_calls: int,
    embedded: bool,
    changed: Sequence[str],
    dry_run: bool,
) -> WriteReport:
    by_turn = {id(one.turn): one for one in judged}
    failed = tuple(one.turn.id for one in judged if one.failed)
    rejected = sum(one.extraction.rejected for one in judged if one.extraction is not None)
    partial = any(one.extraction is not None and one.extraction.status is ExtractionStatus.PARTIAL for one in judged)
    done = set(changed) if not dry_run else {change.unit_id for change in decided.changes}
    return WriteReport(
        status=WriteStatus.FAILED if failed else WriteStatus.PARTIAL if partial else WriteStatus.OK,
        turns=tuple(_turn_report(turn, by_turn.get(id(turn)), decided) for turn in turns),
        written=tuple(decided.new),
        bumped=tuple(dict.fromkeys(c.unit_id for c in decided.changes if c.verb == "confirm" and c.unit_id in done)),
        superseded=tuple(
            dict.fromkeys(
                [unit.id for unit in decided.new.values() if unit.status is Status.SUPERSEDED]
                + [c.unit_id for c in decided.changes if c.verb == "retire" and c.unit_id in done]
            )
        ),
        redactions=redactions,
        failed_turns=failed,
        rejected=rejected,
        model_calls=model_calls,
        embedded=embedded,
        dry_run=dry_run,
    )


def _turn_report(turn: Turn, one: _Judged | None, decided: _Decided) -> TurnReport:
    text = clip(" ".join(turn.text.split()), SHOWN)
    if one is None:
        return TurnReport(turn_id=turn.id, kept=True, already_written=True, reasons=("written before",), text=text)
    statements = tuple(
        StatementReport(
            unit_id=unit.id,
            content=unit.content,
            kind=unit.kind,
            region=unit.region,
            anchor=unit.anchor,
            outcome=found.outcome,
            same_as=found.same_as,
            supersedes=found.supersedes,
            reasons=found.reasons,
        )
        for unit in one.drafts
        if (found := decided.matches.get(unit.id)) is not None
    )
    return TurnReport(
        turn_id=turn.id,
        kept=one.verdict.keep,
        score=one.verdict.score,
        reasons=one.verdict.reasons,
        statements=statements,
        failed=one.failed,
        text=text,
    )
