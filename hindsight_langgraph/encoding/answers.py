"""Parse a chat model's answer into facts, with what can be repaired without asking again (CASES O01 to O05).

Models wrap JSON in fences and chatter, think aloud before it, name its keys differently, stop half-way or say nothing. Failure is
never read as "nothing to remember": only an answer that is plainly an empty list of facts is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import Field

from hindsight_langgraph.encoding.json_answers import as_list, as_object, plain_name, read_json
from hindsight_langgraph.encoding.scores import parse_score
from hindsight_langgraph.encoding.statement import ExtractionStatus
from hindsight_langgraph.ops import Answer
from hindsight_langgraph.records import Record

LIST_NAMES: Final = (
    "facts", "memories", "memory list", "memory", "statements", "items", "changes", "actions", "operations", "results", "data",
)  # fmt: skip
"""Names under which models put the list, after `plain_name`; the first is the one asked for."""
_FIELD_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "subject": ("subject", "entity", "subj", "who", "head"),
    "attribute": ("attribute", "attr", "predicate", "property", "key", "relation"),
    "value": ("value", "val", "object", "obj", "tail"),
    "content": ("content", "summary", "text", "fact", "memory", "statement"),
    "kind": ("kind", "type", "category"),
    "source": ("source", "turn", "turn id", "message", "evidence", "source turn"),
    "quote": ("quote", "source text", "original", "span"),
    "time": ("time", "date", "event time", "when", "event date"),
    "entities": ("entities",),
    "relations": ("relations",),
    "confidence": ("confidence", "certainty"),
    "importance": ("importance", "score", "salience"),
    "negated": ("negated", "negation"),
    "multi_valued": ("multi valued", "multivalued"),
    "replaces": ("replaces", "supersedes", "instead of"),
}


_ACTIONS: Final = ("action", "event", "op", "operation")
_KEEPS: Final = frozenset({"keep", "none", "noop", "no op", "unchanged"})
_REMOVES: Final = frozenset({"delete", "remove", "forget"})
_REWRITES: Final = frozenset({"update", "replace", "merge", "modify"})


class Fact(Record):
    """One item of an answer, its fields under our names and not yet tied to turns."""

    subject: str = ""
    attribute: str = ""
    value: str = ""
    content: str = ""
    kind: str = ""
    source: str = ""
    """The turn that the model says it read it from, as it was numbered in the prompt."""
    quote: str = ""
    time: str = ""
    entities: tuple[str, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    """(source, type, target)."""
    confidence: float | None = None
    importance: float | None = None
    negated: bool = False
    multi_valued: bool = False
    replaces: str = ""


class Parsed(Record):
    """What could be read from one answer."""

    status: ExtractionStatus
    facts: tuple[Fact, ...] = ()
    rejected: int = Field(default=0, ge=0)
    reason: str = ""
    cut: bool = False
    """Whether the answer ended before its last item."""


def _failed(reason: str, rejected: int = 0) -> Parsed:
    return Parsed(status=ExtractionStatus.FAILED, reason=reason, rejected=rejected)


def parse_facts(answer: Answer | None) -> Parsed:
    """The facts of an answer; never raises.

    * no text, or a value that is no list of facts: `FAILED`;
    * an answer cut short (finish reason "length", or JSON that never closes): the items that were complete, `PARTIAL`;
    * some items unusable: `PARTIAL`, the others counted in `rejected`;
    * an empty list of facts: `OK_NOTHING`.
    """
    if answer is None:
        return _failed("the model returned nothing")
    text = answer.text
    if not text.strip():
        text = answer.reasoning  # some servers put the whole answer there
        if not text.strip():
            return _failed("the model's answer is empty")
    value, whole = read_json(text, wanted=lambda value: _items(value) is not None)
    if value is None:
        return _failed("the model's answer holds no JSON" if whole else "the model's answer was cut short before its first item")
    items = _items(value)
    if items is None:
        return _failed("the model's answer holds no list of facts")
    return _judged(items, whole=whole and answer.finish_reason != "length")


def _judged(items: Sequence[object], *, whole: bool) -> Parsed:
    told = [item for item in items if _action(item) not in _KEEPS]
    facts = [fact for item in told if not _changes_record(item) and (fact := read_fact(item)) is not None]
    rejected = len(told) - len(facts)
    reasons = [f"{rejected} of {len(items)} items could not be used"] if rejected else []
    if not whole:
        reasons.append("the answer was cut short")
    reason = "; ".join(reasons)
    if not facts:
        if items or not whole:
            return _failed(reason, rejected)
        return Parsed(status=ExtractionStatus.OK_NOTHING)
    status = ExtractionStatus.PARTIAL if reason else ExtractionStatus.OK_WITH_FACTS
    return Parsed(status=status, facts=tuple(facts), rejected=rejected, reason=reason, cut=not whole)


def _action(item: object) -> str:
    """What an item asks to be done with a record, for a model that answers in changes; blank for most."""
    named = as_object(item) or {}
    return next((plain_name(value) for name in _ACTIONS if isinstance(value := named.get(name), str)), "")


def _changes_record(item: object) -> bool:
    """Whether an item would change or remove a stored record: the model is shown none, so that any it names is invented (CASES O06)."""
    action = _action(item)
    return action in _REMOVES or (action in _REWRITES and (as_object(item) or {}).get("id") is not None)


def _items(value: object) -> list[object] | None:
    """The list of facts that a value carries, whatever it is called; None when it carries none."""
    listed = as_list(value)
    named = as_object(value)
    if named is None:
        return listed
    for name in LIST_NAMES:
        if name in named:
            return _listed(named[name])
    if read_fact(value) is not None:
        return [value]
    lists = [found for inner in named.values() if (found := as_list(inner))]
    return lists[0] if len(lists) == 1 and any(read_fact(item) for item in lists[0]) else None


def _listed(inner: object) -> list[object] | None:
    """What stands under a list's name: the list, one item without its list, or another object that holds it."""
    if as_object(inner) is None:
        return as_list(inner)
    return [inner] if read_fact(inner) is not None else _items(inner)


def read_fact(item: object) -> Fact | None:
    """One item of an answer as a fact: it needs a whole triple, or a sentence. None for anything else."""
    named = as_object(item)
    if named is None:
        return None
    fields = {field: named[name] for field, names in _FIELD_NAMES.items() for name in reversed(names) if name in named}
    texts = {
        name: _text(fields.get(name))
        for name in ("subject", "attribute", "value", "content", "kind", "source", "quote", "time", "replaces")
    }
    if not (texts["subject"] and texts["attribute"] and texts["value"]) and not texts["content"]:
        return None
    return Fact(
        **texts,
        entities=_texts(fields.get("entities")),
        relations=_relations(fields.get("relations")),
        confidence=parse_score(fields["confidence"], None) if "confidence" in fields else None,
        importance=parse_score(fields["importance"], None) if "importance" in fields else None,
        negated=fields.get("negated") is True,
        multi_valued=fields.get("multi_valued") is True,
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode().strip()  # a lone surrogate could not be stored
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    return ", ".join(part for inner in as_list(value) or () if (part := _text(inner)))


def _texts(value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else as_list(value) or []
    names = [_text((as_object(item) or {"name": item}).get("name")) for item in items]
    return tuple(dict.fromkeys(name for name in names if name))


def _relations(value: object) -> tuple[tuple[str, str, str], ...]:
    found = [_relation(item) for item in as_list(value) or ()]
    return tuple(relation for relation in found if all(relation))


def _relation(item: object) -> tuple[str, str, str]:
    """(source, type, target), with blanks where they are missing."""
    listed = as_list(item)
    if listed is not None:
        return (_text(listed[0]), _text(listed[1]), _text(listed[2])) if len(listed) == 3 else ("", "", "")
    named = as_object(item) or {}

    def first(*names: str) -> str:
        return next((text for name in names if (text := _text(named.get(name)))), "")

    return first("source", "from", "subject"), first("type", "relation"), first("target", "to", "object")
