"""Parse a chat model's answer into facts, with what can be repaired without asking again (CASES O01 to O05).

Models wrap JSON in fences and chatter, think aloud before it, name its keys differently, stop half-way, or say nothing. A failure is
never read as "nothing to remember": only an answer that is plainly an empty list of facts is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from hindsight_langgraph.encoding.scores import parse_score
from hindsight_langgraph.encoding.statement import ExtractionStatus
from hindsight_langgraph.ops import Answer
from hindsight_langgraph.records import Record

LIST_NAMES: Final = ("facts", "memories", "memory list", "statements", "items", "results", "data")
"""Names under which models put the list, after `_plain`; the first is the one asked for."""
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
    value, whole = read_json(text)
    if value is None:
        return _failed("the model's answer holds no JSON" if whole else "the model's answer was cut short before its first item")
    items = _items(value)
    if items is None:
        return _failed("the model's answer holds no list of facts")
    return _judged(items, whole=whole and answer.finish_reason != "length")


def _judged(items: Sequence[object], *, whole: bool) -> Parsed:
    facts = [fact for item in items if (fact := read_fact(item)) is not None]
    rejected = len(items) - len(facts)
    reasons = [f"{rejected} of {len(items)} items could not be used"] if rejected else []
    if not whole:
        reasons.append("the answer was cut short")
    reason = "; ".join(reasons)
    if not facts:
        if items or not whole:
            return _failed(reason, rejected)
        return Parsed(status=ExtractionStatus.OK_NOTHING)
    status = ExtractionStatus.PARTIAL if reason else ExtractionStatus.OK_WITH_FACTS
    return Parsed(status=status, facts=tuple(facts), rejected=rejected, reason=reason)


# --- from text to JSON ---------------------------------------------------------------------------------------------------

_THOUGHT: Final = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START: Final = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def read_json(text: str) -> tuple[Any, bool]:
    """The JSON value that an answer carries, and whether it was complete.

    Thinking is dropped (closed, unopened or never closed), but only outside JSON: a value may hold "<think>" or a fence. Of
    several values the last one that holds facts is meant: drafts come first.
    """
    candidates = list(_values(_without_thoughts(text)))
    if not candidates:
        return None, "{" not in text and "[" not in text
    for value, whole in reversed(candidates):
        if _items(value) is not None:
            return value, whole
    return candidates[-1]


def _without_thoughts(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith(("{", "[")) and _loads(stripped) is not None:
        return stripped
    text = _THOUGHT.sub("", text) if _opens_outside_json(text) else text
    end = _last_outside_json(_THOUGHT_END, text)
    if end:
        text = text[end:]
    start = _THOUGHT_START.search(text)
    return text[: start.start()] if start and not re.search(r"[{\[]", text[: start.start()]) else text


def _opens_outside_json(text: str) -> bool:
    start = _THOUGHT_START.search(text)
    return start is not None and not re.search(r"[{\[]", text[: start.start()])


def _last_outside_json(pattern: re.Pattern[str], text: str) -> int:
    """The end of the last match that a complete JSON value follows, 0 when there is none."""
    for match in reversed(list(pattern.finditer(text))):
        if re.search(r"[{\[]", text[match.end() :]) and next(_values(text[match.end() :]), (None, False))[1]:
            return match.end()
    return 0


def _loads(text: str) -> Any:
    """The value of a text that is JSON and nothing else, tolerating raw line breaks in strings; None otherwise."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _values(text: str) -> Iterator[tuple[Any, bool]]:
    """Every object or list at the top level of a text, in order; the last may be one that was cut short."""
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_MOST_VALUES):
        start = _next_open(text, position)
        if start < 0:
            return
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            salvaged = _salvage(text[start:])
            if salvaged is not None:
                yield salvaged
                return
            if _JSON_OPENING.match(text, start) and not _scan(text[start:])[0]:
                return  # cut inside its first item: an object within it is a part, not a fact
            position = start + 1
        else:
            yield value, True


def _next_open(text: str, position: int) -> int:
    match = re.compile(r"[{\[]").search(text, position)
    return match.start() if match else -1


_JSON_OPENING: Final = re.compile(r"[{\[]\s*[\"{\[]")
_MOST_VALUES: Final = 64
"""How many openings are tried: an answer of nothing but brackets must not cost quadratic time."""
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")


def _salvage(text: str) -> tuple[Any, bool] | None:
    """A value with trailing commas, or one that was cut short, closed after its last complete item. None when it is neither."""
    end, closers, safe = _scan(text)
    if end:
        value = _loads(_TRAILING_COMMA.sub("", text[:end]))
        return None if value is None else (value, True)
    if safe is None or not closers:
        return None
    cut, open_there = safe
    value = _loads(text[:cut] + open_there)
    return None if value is None else (value, False)


def _scan(text: str) -> tuple[int, str, tuple[int, str] | None]:
    """Walk over one value: where it ends (0 when it does not), what would close it, and the last place behind a complete object."""
    stack: list[str] = []
    safe: tuple[int, str] | None = None
    quoted = escaped = False
    for index, char in enumerate(text):
        if quoted:
            quoted, escaped = (char != '"' or escaped), char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]":
            if not stack or stack.pop() != char:
                return 0, "", None
            if not stack:
                return index + 1, "", safe
            if char == "}" and stack in (["]"], ["}", "]"]):  # one whole item of the list, not a part of one
                safe = (index + 1, "".join(reversed(stack)))
    return 0, "".join(reversed(stack)), safe


# --- from JSON to facts --------------------------------------------------------------------------------------------------


def _plain(name: object) -> str:
    return re.sub(r"[\s_-]+", " ", str(name)).strip().lower()


def _items(value: object) -> Sequence[object] | None:
    """The list of facts that a value carries, whatever it is called; None when it carries none."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    named = {_plain(key): inner for key, inner in value.items()}
    for name in LIST_NAMES:
        if name in named:
            inner = named[name]
            if isinstance(inner, dict) and read_fact(inner) is None:
                return _items(inner)
            return inner if isinstance(inner, list) else [inner] if isinstance(inner, dict) else None
    if read_fact(value) is not None:
        return [value]
    lists = [inner for inner in named.values() if isinstance(inner, list) and inner]
    return lists[0] if len(lists) == 1 and any(read_fact(item) for item in lists[0]) else None


def read_fact(item: object) -> Fact | None:
    """One item of an answer as a fact: it needs a whole triple, or a sentence. None for anything else."""
    if not isinstance(item, dict):
        return None
    named = {_plain(key): inner for key, inner in item.items()}
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
    if isinstance(value, list):
        return ", ".join(part for inner in value if (part := _text(inner)))
    return ""


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()
    named = [item.get("name", "") if isinstance(item, dict) else item for item in value]
    return tuple(dict.fromkeys(text for item in named if (text := _text(item))))


def _relations(value: object) -> tuple[tuple[str, str, str], ...]:
    found: list[tuple[str, str, str]] = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, list) and len(item) == 3:
            parts = tuple(_text(part) for part in item)
        elif isinstance(item, dict):
            named = {_plain(key): _text(inner) for key, inner in item.items()}
            parts = (
                named.get("source") or named.get("from") or named.get("subject") or "",
                named.get("type") or named.get("relation") or "",
                named.get("target") or named.get("to") or named.get("object") or "",
            )
        else:
            continue
        if all(parts):
            found.append((parts[0], parts[1], parts[2]))
    return tuple(found)
