"""Read turns with a small chat model (SPEC B3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, cast

from hindsight_langgraph.encoding import times
from hindsight_langgraph.encoding.answers import Fact, Parsed, parse_facts
from hindsight_langgraph.encoding.blobs import without_blobs
from hindsight_langgraph.encoding.orders import is_instruction_to_assistant
from hindsight_langgraph.encoding.prompts import REPAIR, SCHEMA, few_shot
from hindsight_langgraph.encoding.redact import scrub, secrets_of
from hindsight_langgraph.encoding.statement import QUOTED_CLAIM, Extraction, ExtractionStatus, Statement
from hindsight_langgraph.encoding.transcript import Piece, batches, pieces, transcript
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.ops import Answer, ChatMessage, Complete
from hindsight_langgraph.plan import Plan, ask, together
from hindsight_langgraph.ports import Redactor
from hindsight_langgraph.records import Kind, Relation, Role, Scope, TimeAnchor, Triple, Turn

_USER_NAMES: Final = frozenset({"user", "the user", "i", "me", "myself", "用户", "我", "本人"})
_KINDS: Final = {kind.value: kind for kind in Kind if kind is not Kind.EPISODE} | {
    "task": Kind.TASK_STATE,
    "task state": Kind.TASK_STATE,
    "event": Kind.FACT,
    "feeling": Kind.SENTIMENT,
    "emotion": Kind.SENTIMENT,
    "retraction": Kind.CORRECTION,
    "偏好": Kind.PREFERENCE,
    "事实": Kind.FACT,
    "决定": Kind.DECISION,
    "流程": Kind.PROCEDURE,
    "步骤": Kind.PROCEDURE,
    "更正": Kind.CORRECTION,
    "情绪": Kind.SENTIMENT,
    "实体": Kind.ENTITY,
    "任务状态": Kind.TASK_STATE,
}


class ModelExtractor:
    """Implements `statement.Extractor` by `ops.Complete` requests, at most one repair call a request.

    The model sees neither secrets nor encoded bytes. It copies the words of a time; the date is computed here, against the turn's
    own moment, so that no date of the prompt or of today can slip in (CASES O07).
    """

    def __init__(self, *, redactor: Redactor, max_turn_chars: int = 4_000, max_tokens: int = 1_200) -> None:
        self._redactor = redactor
        self._max_turn_chars = max_turn_chars
        self._max_tokens = max_tokens

    def extract(self, turns: Sequence[Turn], *, context: Sequence[Turn], scope: Scope) -> Plan[Extraction]:
        """Read `turns`; `context` are the turns before them. A model that fails makes the extraction `FAILED`, never an error."""
        groups = batches(pieces(turns, clean=self._clean, most=self._max_turn_chars), most=self._max_turn_chars)
        if not groups:
            return Extraction(status=ExtractionStatus.OK_NOTHING)
        requests = [self._request(transcript(context, group, clean=self._clean, timezone=scope.timezone)) for group in groups]
        replies = yield from together(*requests)
        parsed: list[Parsed] = []
        for request, reply in zip(requests, replies, strict=True):
            parsed.append((yield from _settled(request, reply)))
        secrets = tuple(dict.fromkeys(secret for turn in turns for secret in secrets_of(turn.text, self._redactor(turn.text)[0])))
        readings = [_read(group, result, scope, secrets) for group, result in zip(groups, parsed, strict=True)]
        return _joined(readings)

    def _clean(self, text: str) -> str:
        return without_blobs(self._redactor(text)[0])

    def _request(self, conversation: str) -> Complete:
        return Complete(
            messages=(*few_shot(), ChatMessage(role="user", text=conversation)), schema=SCHEMA, max_tokens=self._max_tokens
        )


def _settled(request: Complete, reply: Answer | Exception) -> Plan[Parsed]:
    """What a reply says, asked for once more when it says nothing usable or was cut short."""
    if isinstance(reply, Exception):
        if not isinstance(reply, ModelError):
            raise reply
        return Parsed(status=ExtractionStatus.FAILED, reason=str(reply))
    first = parse_facts(reply)
    cut = reply.finish_reason == "length"
    if not cut and first.status is not ExtractionStatus.FAILED:
        return first
    try:
        second = parse_facts((yield from ask(_repair(request, reply, first.reason, cut=cut))))
    except ModelError as error:
        second = Parsed(status=ExtractionStatus.FAILED, reason=str(error))
    if second.facts or (second.status is ExtractionStatus.OK_NOTHING and not first.facts):
        return second
    return first


def _repair(request: Complete, reply: Answer, reason: str, *, cut: bool) -> Complete:
    if cut:  # the same question with more room
        return Complete(messages=request.messages, schema=request.schema, max_tokens=2 * request.max_tokens)
    said = ChatMessage(role="assistant", text=reply.text.strip()[:2_000] or "(no answer)")
    again = ChatMessage(role="user", text=REPAIR.format(reason=reason))
    return Complete(messages=(*request.messages, said, again), schema=request.schema, max_tokens=request.max_tokens)


def _read(group: Sequence[Piece], parsed: Parsed, scope: Scope, secrets: Sequence[str]) -> Extraction:
    """The statements of one answer; a fact that no shown turn said is counted as rejected (CASES O06)."""
    statements = [
        statement
        for fact in parsed.facts
        if (statement := _statement(_scrubbed(fact, secrets), group, scope.timezone)) is not None
    ]
    unusable = len(parsed.facts) - len(statements)
    status, reason = parsed.status, parsed.reason
    if unusable:
        reason = "; ".join(
            filter(None, [reason, f"{unusable} items name no turn that was shown, or credit the user with another's words"])
        )
        status = ExtractionStatus.PARTIAL if statements else ExtractionStatus.FAILED
    return Extraction(
        statements=tuple(statements), status=status, rejected=parsed.rejected + unusable, reason=reason, cut=parsed.cut
    )


def _scrubbed(fact: Fact, secrets: Sequence[str]) -> Fact:
    """The fact without secrets of the turns, should the model know them from elsewhere and echo one (CASES O24)."""
    if not secrets:
        return fact
    return Fact.model_validate({name: _scrubbed_value(value, secrets) for name, value in fact.model_dump().items()})


def _scrubbed_value(value: object, secrets: Sequence[str]) -> object:
    if isinstance(value, str):
        return scrub(value, secrets)
    if isinstance(value, tuple):
        return tuple(_scrubbed_value(inner, secrets) for inner in cast("tuple[object, ...]", value))
    return value


def _statement(fact: Fact, group: Sequence[Piece], timezone: str) -> Statement | None:
    sources = _sources(fact, group)
    if not sources:
        return None
    said = sources[-1]
    subject = "user" if fact.subject.lower() in _USER_NAMES else fact.subject
    if subject == "user" and said.turn.role is Role.ASSISTANT:
        return None  # advice is no habit of the one who was advised (CASES O08)
    triple = None
    if subject and fact.attribute and fact.value:
        triple = Triple(
            subject=subject, attribute=fact.attribute, value=fact.value, negated=fact.negated, multi_valued=fact.multi_valued
        )
    content = fact.content or f"{subject} {fact.attribute}: {'not ' if fact.negated else ''}{fact.value}"
    ordering = is_instruction_to_assistant(fact.quote) or is_instruction_to_assistant(content)
    return Statement(
        kind=_KINDS.get(re.sub(r"[\s_-]+", " ", fact.kind).strip().lower().replace("task state", "task_state"), Kind.FACT),
        content=times.dated(content, at=said.turn.at, timezone=timezone),
        triple=triple,
        entities=fact.entities,
        relations=tuple(Relation(source=source, type=kind, target=target) for source, kind, target in fact.relations),
        confidence=0.8 if fact.confidence is None else fact.confidence,
        importance=fact.importance,
        turn_ids=tuple(dict.fromkeys(piece.turn.id for piece in sources)),
        source_text=said.text,
        speaker=said.turn.role,
        anchor=_anchor(fact, said, timezone),
        tags=(QUOTED_CLAIM,) if ordering else (),
        supersedes_hint=fact.replaces,
    )


def _sources(fact: Fact, group: Sequence[Piece]) -> list[Piece]:
    """The pieces that a fact rests on, in order: by number, by its quote where a number has several pieces, or the only one."""
    numbers = [int(number) for number in re.findall(r"\d{1,6}", fact.source)]
    quote = " ".join(fact.quote.split())
    quoting = [piece for piece in group if quote and quote in " ".join(piece.text.split())]
    found: list[Piece] = []
    for number in dict.fromkeys(numbers):
        same = [piece for piece in group if piece.number == number]
        found.extend([piece for piece in same if piece in quoting][:1] or same[:1])
    if found or numbers:
        return sorted(found, key=lambda piece: (piece.number, piece.part))
    return quoting[:1] or (list(group) if len(group) == 1 else [])


def _anchor(fact: Fact, said: Piece, timezone: str) -> TimeAnchor | None:
    """The time that the fact names, read by our own rules from words that stand in the turn."""
    at = said.turn.at
    words = fact.time if fact.time and fact.time in said.text else ""
    found = times.find_times(words, at=at, timezone=timezone) if words else ()
    if found:
        whole = times.find_times(said.text, at=at, timezone=timezone)  # the tense stands outside the words
        return next((anchor for anchor in whole if anchor.text in words or words in anchor.text), found[0])
    return times.event_anchor(fact.quote, at=at, timezone=timezone) if fact.quote and fact.quote in said.text else None


def _joined(readings: Sequence[Extraction]) -> Extraction:
    """Several readings as one: each statement once; a failed part keeps the whole from being settled."""
    statements = tuple({(s.content, s.turn_ids): s for reading in readings for s in reading.statements}.values())
    reason = "; ".join(dict.fromkeys(reading.reason for reading in readings if reading.reason))
    unsettled = any(reading.status in {ExtractionStatus.FAILED, ExtractionStatus.PARTIAL} for reading in readings)
    if unsettled:
        status = (
            ExtractionStatus.PARTIAL
            if any(reading.status is not ExtractionStatus.FAILED for reading in readings)
            else ExtractionStatus.FAILED
        )
    else:
        status = ExtractionStatus.OK_WITH_FACTS if statements else ExtractionStatus.OK_NOTHING
    return Extraction(
        statements=statements,
        status=status,
        rejected=sum(reading.rejected for reading in readings),
        reason=reason,
        cut=any(reading.cut for reading in readings),
    )
