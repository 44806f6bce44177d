"""Read turns without a chat model, in English and Chinese: by cues, patterns and small heads (issue point 2).

Its content is the author's own words, made self-contained: the question that an answer answers, the option that a choice chooses,
the day that a relative time means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_langgraph.encoding.assertions import triples
from hindsight_langgraph.encoding.cues import cues, is_chinese, is_retraction
from hindsight_langgraph.encoding.ellipsis import Reading, read
from hindsight_langgraph.encoding.entities import AliasTable, find_entities
from hindsight_langgraph.encoding.features import Vector, embedding_text, prompt_of
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.kinds import kind_of_text, kind_of_triple
from hindsight_langgraph.encoding.orders import is_instruction_to_assistant
from hindsight_langgraph.encoding.split import clip, segments, sentences
from hindsight_langgraph.encoding.statement import QUOTED_CLAIM, Extraction, ExtractionStatus, Statement
from hindsight_langgraph.encoding.times import dated, event_anchor
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.records import Kind, Role, Scope, Turn

RETRACTION: Final = "retraction"
"""Tag of a statement that asks to forget, or takes back, what was said before."""

CONFIDENCE_TRIPLE: Final = 0.85
CONFIDENCE_WORDS: Final = 0.70
CONFIDENCE_HEARSAY: Final = 0.50
TOOL_CHARS: Final = 300

_EVENTS: Final = frozenset(
    {"preference", "instruction", "decision", "procedure", "alias", "introduce", "task_state", "quantity", "name"}
)
"""Cues of a sentence that must not be lost when its neighbours become triples."""


class LocalExtractor:
    """Implements `statement.Extractor` by rules and heads; it asks nothing of any model.

    Args:
        heads: decide the kind of a statement.
        aliases: the user's names of things.
        vectors: embeddings at hand, by `features.embedding_text`; where one is missing, or the heads are over words, words decide.
    """

    def __init__(self, *, heads: Heads, aliases: AliasTable, vectors: Mapping[str, Vector] | None = None) -> None:
        self._heads = heads
        self._aliases = aliases
        self._vectors = vectors or {}

    def extract(self, turns: Sequence[Turn], *, context: Sequence[Turn], scope: Scope) -> Plan[Extraction]:
        """Read `turns`, which the gate let through; `context` are the turns before them."""
        yield from ()  # a plan that asks nothing
        before = list(context)
        statements: list[Statement] = []
        for turn in turns:
            statements.extend(self.read(turn, context=before, scope=scope))
            before.append(turn)
        status = ExtractionStatus.OK_WITH_FACTS if statements else ExtractionStatus.OK_NOTHING
        return Extraction(statements=tuple(statements), status=status)

    def read(self, turn: Turn, *, context: Sequence[Turn], scope: Scope) -> list[Statement]:
        """Statements of one turn, each segment of it read for itself."""
        if turn.role is Role.TOOL:
            return [_tool_failure(turn)] if turn.error else []
        return [
            statement
            for segment in segments(turn.text)
            if segment.strip()
            for statement in self._read_segment(turn, segment, context=context, scope=scope)
        ]

    def _read_segment(self, turn: Turn, segment: str, *, context: Sequence[Turn], scope: Scope) -> list[Statement]:
        reading = read(turn, context, text=segment)
        kind = reading.kind or self._kind(segment, turn, prompt_of(context))
        tags: tuple[str, ...] = ()
        if reading.withdraws:
            tags = (RETRACTION,)
        elif is_retraction(segment):
            kind, tags = Kind.CORRECTION, (RETRACTION,)
        if is_instruction_to_assistant(segment):
            kind, tags = Kind.FACT, (QUOTED_CLAIM,)
            quoted = f"用户写道：“{segment.strip()}”" if is_chinese(segment) else f'The user wrote: "{segment.strip()}"'
            reading = Reading(content=quoted, turn_ids=(turn.id,))
        base = Statement(
            kind=kind,
            content=reading.content,
            entities=find_entities(reading.content, self._aliases),
            confidence=CONFIDENCE_HEARSAY if "hearsay" in cues(segment) else CONFIDENCE_WORDS,
            turn_ids=reading.turn_ids,
            source_text=segment,
            speaker=turn.role,
            anchor=event_anchor(segment, at=turn.at, timezone=scope.timezone),
            tags=tags,
        )
        return [
            statement.model_copy(update={"content": dated(statement.content, at=turn.at, timezone=scope.timezone)})
            for statement in ([base] if tags else _with_triples(base, segment))
        ]

    def _kind(self, segment: str, turn: Turn, previous: Turn | None) -> Kind:
        return kind_of_text(
            segment,
            previous=previous.text if previous else "",
            heads=self._heads,
            vector=self._vectors.get(embedding_text(turn, text=segment)),
            previous_vector=self._vectors.get(embedding_text(previous)) if previous else None,
        )


def _with_triples(base: Statement, segment: str) -> list[Statement]:
    """One statement for all, or one for each sentence when several of them assert something of their own."""
    found = triples(segment)
    if not found:
        return [base]
    confidence = max(base.confidence, CONFIDENCE_TRIPLE)
    if len(found) == 1:
        sentence, triple = found[0]
        kind = kind_of_triple(triple, base.kind) if sentence == segment.strip() else base.kind
        return [base.model_copy(update={"triple": triple, "confidence": confidence, "kind": kind})]
    statements = [
        base.model_copy(
            update={"content": sentence, "triple": triple, "confidence": confidence, "kind": kind_of_triple(triple, base.kind)}
        )
        for sentence, triple in found
    ]
    said = {sentence for sentence, _ in found}
    rest = " ".join(s.strip() for s in sentences(segment) if s.strip() not in said and cues(s) & _EVENTS)
    return [*statements, base.model_copy(update={"content": rest})] if rest else statements


def _tool_failure(turn: Turn) -> Statement:
    name = turn.tool or "a tool"
    return Statement(
        kind=Kind.TASK_STATE,
        content=f"{name} failed: {clip(turn.text.strip(), TOOL_CHARS)}",
        turn_ids=(turn.id,),
        source_text=turn.text,
        speaker=Role.TOOL,
        entities=(),
        confidence=CONFIDENCE_TRIPLE,
        tags=("failure",),
    )
