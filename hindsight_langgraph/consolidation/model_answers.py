"""Reads what the chat model answered about memories, and believes it only where the memories bear it out.

An answer that is no JSON, of another shape, about a number that was not shown, or with a name or number that no shown memory has, says
nothing; what it would have decided is left to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from hindsight_langgraph.encoding.attributes import USER, canonical
from hindsight_langgraph.encoding.json_answers import as_list, as_object, read_json
from hindsight_langgraph.encoding.orders import is_instruction_to_assistant
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.ops import Answer
from hindsight_langgraph.records import MemoryUnit, Triple

Verdict = Literal["same", "first_says_more", "second_says_more", "different"]

LONGEST_SUMMARY: Final = 700
_TOLD: Final = re.compile(r"\d+(?:[.,:]\d+)*|(?<=[^.!?。！？\s] )[A-Z][\w-]+|[A-Za-z]\w*\d\w*")
"""Numbers, names and codes: what a summary must not invent."""


class _Item(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    number: int


class _Statement(_Item):
    subject: str
    attribute: str
    value: str
    negated: bool
    multi_valued: bool


class _Pair(_Item):
    verdict: Verdict


class _Summary(_Item):
    text: str


_I = TypeVar("_I", bound=_Item)


def read_statements(answer: Answer, units: Sequence[MemoryUnit]) -> dict[str, Triple | None]:
    """By unit, the statement that the model read off it; None where it makes none, or none that the unit's words bear out."""
    found: dict[str, Triple | None] = {}
    for place, item in _items(answer, "statements", _Statement, most=len(units)).items():
        unit = units[place]
        said = all(part.strip() for part in (item.subject, item.attribute, item.value))
        found[unit.id] = _triple(item) if said and _bears_out(unit, item) else None
    return found


def read_verdicts(answer: Answer, *, most: int) -> dict[int, Verdict]:
    """By place in the request, how two memories stand to each other."""
    return {place: item.verdict for place, item in _items(answer, "pairs", _Pair, most=most).items()}


def read_summaries(answer: Answer, stories: Sequence[tuple[str, Sequence[str]]]) -> dict[int, str]:
    """By place in the request, a summary that says nothing which its memories do not."""
    found: dict[int, str] = {}
    for place, item in _items(answer, "summaries", _Summary, most=len(stories)).items():
        text = " ".join(item.text.split())
        name, memories = stories[place]
        known = " ".join((name, *memories)).casefold()
        invented = [told for told in _TOLD.findall(text) if told.casefold() not in known]
        if 0 < len(text) <= LONGEST_SUMMARY and not invented and not is_instruction_to_assistant(text):
            found[place] = text
    return found


def _items(answer: Answer, name: str, shape: type[_I], *, most: int) -> dict[int, _I]:
    """By place, the usable items of an answer; of two with one number the first."""
    value, _ = read_json(answer.text, wanted=lambda found: name in (as_object(found) or {}))
    found: dict[int, _I] = {}
    for entry in as_list((as_object(value) or {}).get(name)) or ():
        fields = as_object(entry) or {}
        try:
            item = shape.model_validate({key.replace(" ", "_"): inner for key, inner in fields.items()})
        except ValidationError:
            continue
        if 1 <= item.number <= most:
            found.setdefault(item.number - 1, item)
    return found


def _triple(item: _Statement) -> Triple:
    return canonical(
        Triple(
            subject=item.subject.strip(), attribute=item.attribute.strip(), value=item.value.strip(),
            negated=item.negated, multi_valued=item.multi_valued,
        )
    )  # fmt: skip


def _bears_out(unit: MemoryUnit, item: _Statement) -> bool:
    """Whether the unit's own words hold the value, and name the subject where it is not the speaker."""
    words = " ".join((unit.content, *unit.entities))
    known = set(terms(words))
    value = set(terms(item.value))
    speaker = canonical(Triple(subject=item.subject, attribute="x", value="x")).subject == USER
    named = speaker or item.subject.strip().casefold() in words.casefold() or bool(set(terms(item.subject)) & known)
    return named and bool(value) and value <= known
