"""Walk from thing to thing where a question asks for one through another: the sister of my flatmate (SPEC D3, D4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.recall import phrases
from hindsight_langgraph.recall.landscape import COMMON, Landscape
from hindsight_langgraph.recall.recollection import Cues

ENOUGH: Final = 0.95
"""A single unit that holds so much of the question needs no walk."""
GAIN: Final = 0.25
"""What a walk must hold more of the question than any single unit."""
LEAST: Final = 0.75
"""What it must hold of the question at the least."""
CLEAR: Final = 4
"""A walk that could as well go through more units than this shows none of them."""
STEPS: Final = 2
"""How many steps a walk takes at the most: three units."""
BEAM: Final = 12
"""How many walks are taken further at each step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Way:
    """Units one after the other, each sharing with the one before a thing that the question does not name."""

    places: tuple[int, ...]
    covered: frozenset[str]
    share: float


def named_words(cues: Cues) -> tuple[str, ...]:
    """Index terms of the words that name something; in Chinese none that reaches over a joint (室友的姐姐 has no 友的)."""
    return tuple(dict.fromkeys(lexical.terms(phrases.JOINING.sub(" ", cues.text)))) if cues.through else ()


def walk_things(land: Landscape, cues: Cues) -> list[float]:
    """For each candidate what share of the question's words the best walk through it holds; 0 where no walk beats a single unit."""
    walked = [0.0] * len(land.scored)
    if not cues.through:
        return walked
    wanted = frozenset(named_words(cues))
    ways = [
        _Way(places=(place,), covered=held & wanted, share=land.share(wanted, held))
        for place, held in enumerate(land.held)
        if held & wanted and land.states(place)
    ]
    ways.sort(key=lambda way: (-way.share, way.places))
    alone = ways[0].share if ways else 0.0
    if not ways or alone >= ENOUGH:
        return walked
    bridges, edge, longer = _bridges(land, cues), ways, list[_Way]()
    for _ in range(STEPS):
        edge = sorted(_further(land, edge[:BEAM], bridges, wanted), key=lambda way: (-way.share, way.places))
        longer += edge
    best = max((way.share for way in longer), default=0.0)
    through = {place for way in longer if way.share == best for place in way.places}
    if best < max(alone + GAIN, LEAST) or len(through) > CLEAR:
        return walked
    return [best if place in through else 0.0 for place in range(len(walked))]


def bridging_things(land: Landscape, cues: Cues, *, most: int) -> tuple[str, ...]:
    """Things that the best hits name and the question does not, those of the hits that hold most of the question first."""
    if not cues.through:
        return ()
    wanted = frozenset(named_words(cues))
    order = sorted(range(len(land.scored)), key=lambda place: -land.share(wanted, land.held[place]))
    if not order or land.share(wanted, land.held[order[0]]) >= ENOUGH:
        return ()
    bridges = _bridges(land, cues)
    found = (thing for place in order[:BEAM] if land.held[place] & wanted for thing in sorted(land.things[place]))
    return tuple(dict.fromkeys(thing for thing in found if thing in bridges))[:most]


def _bridges(land: Landscape, cues: Cues) -> dict[str, list[int]]:
    """Where each thing stands that the question does not name, but for those that stand everywhere."""
    text, asked = cues.text.lower(), set(named_words(cues))
    places: dict[str, list[int]] = {}
    for place, things in enumerate(land.things):
        for thing in things if land.states(place) else ():
            places.setdefault(thing, []).append(place)
    return {
        thing: told
        for thing, told in places.items()
        if len(told) <= COMMON
        and thing not in text
        and thing not in cues.entities
        and asked.isdisjoint(lexical.distinct_terms(thing))
    }


def _further(land: Landscape, ways: list[_Way], bridges: dict[str, list[int]], wanted: frozenset[str]) -> list[_Way]:
    """Every way one unit longer that holds a word more of the question."""
    longer: dict[tuple[int, ...], _Way] = {}
    for way in ways:
        for thing in land.things[way.places[-1]]:
            for place in bridges.get(thing, ()):
                covered = way.covered | (land.held[place] & wanted)
                if place not in way.places and covered > way.covered:
                    places = (*way.places, place)
                    longer[places] = _Way(places=places, covered=covered, share=land.share(wanted, covered))
    return list(longer.values())
