"""Find out which of the candidates' things a query names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from hindsight_langgraph.records import MemoryUnit


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


@lru_cache(maxsize=4_096)
def _whole(thing: str) -> re.Pattern[str]:
    left = r"(?<![a-z0-9])" if thing[:1].isascii() else ""
    right = r"(?![a-z0-9])" if thing[-1:].isascii() else ""
    return re.compile(f"{left}{re.escape(thing)}{right}")
