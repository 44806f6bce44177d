"""Find out which of the candidates' things a query names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from hindsight_langgraph import lexical
from hindsight_langgraph.encoding.attributes import USER, names_of
from hindsight_langgraph.records import MemoryUnit

_OWN = re.compile(r"\b(?:i|i'm|i've|me|my|mine|(?:the )?user)\b|我|用户")


def named_things(text: str, units: Iterable[MemoryUnit], *, known: Iterable[str] = ()) -> frozenset[str]:
    """Ids of things that the query names: those it is known to name, and the units' own that stand in its words.

    A name inside a longer one that is named as well does not count: "Heron Lite" does not name Heron.
    """
    words = text.lower()
    things = {entity for unit in units for entity in unit.entities}
    named = {thing for thing in things if mentions(words, thing)} | set(known)
    return frozenset(
        thing
        for thing in named
        if not any(thing != longer and thing in longer and words.count(thing) <= words.count(longer) for longer in named)
    )


def mentions(text: str, thing: str) -> bool:
    """Whether a lower-case text holds a name, as whole words where the name begins and ends in Latin letters or digits."""
    return thing in text and bool(_whole(thing).search(text))


def is_rival(unit: MemoryUnit, named: frozenset[str], things: frozenset[str]) -> bool:
    """Whether a unit is about something whose name merely contains a named one ("Heron Lite" where Heron was named).

    Only where both are things of the candidates: "the walk" for the one "lantern walk" there is no rival of it.
    """
    told = named & things
    if not told or told & set(unit.entities):
        return False
    return any(thing != entity and thing in entity for thing in told for entity in unit.entities)


def asked_subjects(text: str, units: Iterable[MemoryUnit]) -> frozenset[str]:
    """Whose attribute the query asks for, as the units' statements name them: the others it names, else the user who speaks."""
    words = text.lower()
    subjects = {unit.triple.subject for unit in units if unit.triple is not None} - {USER}
    others = frozenset(subject for subject in subjects if subject and mentions(words, subject.lower()))
    return others or (frozenset({USER}) if _OWN.search(words) else frozenset())


def is_asked(unit: MemoryUnit, subjects: frozenset[str], topics: frozenset[str]) -> bool:
    """Whether a unit states the very attribute that the query asks for, of one of these subjects."""
    triple = unit.triple
    if triple is None or triple.subject not in subjects:
        return False
    return any(names <= topics for names in _attribute_terms(triple.attribute))


@lru_cache(maxsize=1_024)
def _attribute_terms(attribute: str) -> tuple[frozenset[str], ...]:
    """The index terms of each name of an attribute, in both languages; names without any are left out."""
    found = (lexical.distinct_terms(name.replace("_", " ")) for name in names_of(attribute))
    return tuple(names for names in found if names)


@lru_cache(maxsize=4_096)
def _whole(thing: str) -> re.Pattern[str]:
    left = r"(?<![a-z0-9])" if thing[:1].isascii() else ""
    right = r"(?![a-z0-9])" if thing[-1:].isascii() else ""
    return re.compile(f"{left}{re.escape(thing)}{right}")
