"""Read turns: the gate judges them, the extractor reads what passed (SPEC B1 to B3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.choices import find_choice
from hindsight_langgraph.encoding.drafts import draft, raw_unit
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.features import Vector, embedding_text, prompt_of
from hindsight_langgraph.encoding.gate import Verdict, judge, needs_vector
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.local_extractor import LocalExtractor
from hindsight_langgraph.encoding.redact import REDACTED, redact_text, scrub
from hindsight_langgraph.encoding.split import pieces, segments
from hindsight_langgraph.encoding.statement import Extraction, ExtractionStatus, Extractor, Statement
from hindsight_langgraph.ops import Complete
from hindsight_langgraph.plan import Plan, Together
from hindsight_langgraph.ports import Redactor
from hindsight_langgraph.records import EmbeddingSpace, MemoryUnit, Role, Scope, Turn

CONTEXT_TURNS: Final = 12
"""How many turns before a turn its extractor sees."""
EMBED_SEGMENTS: Final = 8
"""A turn of more segments is gated by its words alone: embedding a pasted book would take minutes."""


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
    redactions: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    """By turn, how many secrets of each sort were taken out of it before it came here."""


@dataclass(kw_only=True, slots=True)
class Judged:
    """A turn with what the gate said of it."""

    turn: Turn
    before: list[Turn]
    verdict: Verdict
    readable: list[Turn]
    """What the extractor reads of it: the turn, or those parts of a long one that passed."""
    extraction: Extraction | None = None
    replaced_values: dict[str, str] = field(default_factory=dict[str, str])
    """By draft, the value that its text says it replaces."""
    drafts: list[MemoryUnit] = field(default_factory=list[MemoryUnit])

    @property
    def previous(self) -> Turn | None:
        """The turn before, if there is one."""
        return self.before[-1] if self.before else None

    @property
    def failed(self) -> bool:
        """Whether nothing usable was said of it, so that it is kept raw."""
        return self.extraction is not None and self.extraction.status is ExtractionStatus.FAILED

    @property
    def cut(self) -> bool:
        """Whether the answer about it was cut short, so that it is kept raw beside what was read (CASES O04)."""
        return self.extraction is not None and self.extraction.cut


def embed_turns(fresh: Sequence[Turn], history: Sequence[Turn], tools: WritingTools) -> Plan[dict[str, Vector]]:
    """Vectors for the heads, by `features.embedding_text`; none where the heads read words only."""
    if tools.space is None or tools.heads.space is None:
        return {}
    wanted: list[str] = []
    for turn in fresh:
        parts = _parts(turn) if needs_vector(turn) else []
        if 0 < len(parts) <= EMBED_SEGMENTS:
            wanted.extend(embedding_text(part) for part in parts)
            wanted.extend(embedding_text(before) for before in _before(turn, history)[-1:])
    return (yield from embed_texts(wanted))


def judge_turn(turn: Turn, history: Sequence[Turn], vectors: Mapping[str, Vector], tools: WritingTools) -> Judged:
    """Let the gate judge a turn, a long one segment by segment; it is kept when one of them is."""
    before = _before(turn, history)
    previous = prompt_of(before)
    parts = _parts(turn)
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
    if turn.role is Role.USER and len(parts) == 1 and not verdicts[0].keep and find_choice(turn.text, before) is not None:
        verdicts = [Verdict(keep=True, score=tools.heads.gate.threshold, reasons=("chooses",))]
    best = max(verdicts, key=lambda verdict: (verdict.keep, verdict.score))
    readable = [part for part, verdict in zip(parts, verdicts, strict=True) if verdict.keep]
    return Judged(turn=turn, before=before, verdict=best, readable=readable)


def extract(
    one: Judged,
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


def asked(judged: Sequence[Judged], vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    """By unit, the vector of the turn before the one that it was read from, unless the same speaker said both, where the gate had it embedded."""
    found: dict[str, Vector] = {}
    for one in judged:
        own = one.previous is not None and (one.previous.role, one.previous.speaker) == (one.turn.role, one.turn.speaker)
        vector = vectors.get(embedding_text(one.previous)) if one.previous is not None and not own else None
        if vector is not None:
            found.update({unit.id: vector for unit in one.drafts})
    return found


def drafts(
    one: Judged, *, scope: Scope, aliases: AliasTable, redactor: Redactor, secrets: Sequence[str], now: datetime
) -> list[MemoryUnit]:
    """The units that a turn would become; the turn itself, raw, where its extraction failed or may have missed some (SPEC B4)."""
    if one.extraction is None:
        return []
    whole = (
        [raw_unit(part, previous=one.previous, scope=scope, now=now) for part in one.readable] if one.failed or one.cut else []
    )
    if one.failed:
        return whole
    units: dict[str, MemoryUnit] = {}
    for statement in one.extraction.statements:
        clean = _without_secrets(statement, redactor, secrets)
        unit = draft(clean, turn=one.turn, previous=one.previous, scope=scope, aliases=aliases, now=now)
        units[unit.id] = unit
        one.replaced_values[unit.id] = statement.supersedes_hint
    return [*units.values(), *whole]


def _without_secrets(statement: Statement, redactor: Redactor, secrets: Sequence[str]) -> Statement:
    """The statement without secrets in any of its texts: a model may echo what it should never have seen."""

    def clean(text: str) -> str:
        return redactor(scrub(text, secrets))[0]

    triple = statement.triple
    if triple is not None:
        parts = {name: clean(getattr(triple, name)) or REDACTED for name in ("subject", "attribute", "value")}
        parts["value"] = redact_text(parts["value"], redactor, name=parts["attribute"])
        triple = triple.model_copy(update=parts)
    return statement.model_copy(
        update={
            "content": clean(statement.content),
            "triple": triple,
            "entities": tuple(clean(name) for name in statement.entities),
            "relations": tuple(
                relation.model_copy(update={"source": clean(relation.source), "target": clean(relation.target)})
                for relation in statement.relations
            ),
            "source_text": clean(statement.source_text),
            "supersedes_hint": clean(statement.supersedes_hint),
        }
    )


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
        asked_for = request.ops if isinstance(request, Together) else (request,)
        calls += sum(isinstance(op, Complete) for op in asked_for)
        reply, error = None, None
        try:
            reply = yield request
        except Exception as raised:  # noqa: BLE001 - handed on to the plan that asked
            error = raised


def _parts(turn: Turn) -> list[Turn]:
    """The turn whole, or a long one in its segments, each with the speaker (CASES O08)."""
    texts = segments(turn.text)
    return [turn] if len(texts) <= 1 else [turn.model_copy(update={"text": text}) for text in texts if text.strip()]


def _before(turn: Turn, history: Sequence[Turn]) -> list[Turn]:
    place = next(i for i, other in enumerate(history) if other is turn)
    return [other for other in history[max(0, place - CONTEXT_TURNS) : place] if other.text.strip()]
