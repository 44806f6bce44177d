"""Settle the kind of a statement: the head proposes, what the words rule out is passed over."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_langgraph.encoding.attributes import CANONICAL, USER
from hindsight_langgraph.encoding.cues import cues
from hindsight_langgraph.encoding.features import Vector, turn_features, word_features
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.split import sentences
from hindsight_langgraph.records import Kind, Triple

_TASTES = frozenset({"likes", "uses", "drinks", "eats"})
"""Attributes that say what someone prefers; tools that someone uses count (SPEC B3)."""
_OWN_WISH = frozenset({"preference", "instruction", "change"})
_OPINION = frozenset({"preference", "correction", "forget"})


def kind_of_text(
    text: str, *, previous: str, heads: Heads, vector: Vector | None = None, previous_vector: Vector | None = None
) -> Kind:
    """The likeliest kind of a text that its words allow; vectors as in `gate.judge`."""
    words = word_features(text, previous)
    able = heads.reading(vector)
    features = words if able.space is None or vector is None else turn_features(words, vector, previous_vector)
    odds = able.kind.probabilities(features)
    return next(kind for name in sorted(odds, key=lambda name: -odds[name]) if _allows(text, kind := Kind(name)))


def kind_of_triple(triple: Triple, proposed: Kind) -> Kind:
    """The kind that a triple settles by its attribute; what someone else likes is a fact about them."""
    if triple.attribute in _TASTES:
        return Kind.PREFERENCE if triple.subject == USER else Kind.FACT
    if triple.attribute in CANONICAL or (proposed is Kind.PREFERENCE and triple.subject != USER):
        return Kind.FACT
    return proposed


def _allows(text: str, kind: Kind) -> bool:
    """A feeling is named; a plain statement about a thing is neither wish nor correction for the "don't …" behind it."""
    found = cues(text)
    if kind is Kind.SENTIMENT:
        return "sentiment" in found
    if kind in {Kind.PREFERENCE, Kind.CORRECTION} and not found & _OPINION:
        first = cues(_first_clause(text))
        return not ("state" in first and not first & _OWN_WISH)
    return True


def _first_clause(text: str) -> str:
    return _clauses(next((sentence for sentence in sentences(text) if sentence.strip()), text))[0]


def _clauses(sentence: str) -> Sequence[str]:
    return sentence.replace("，", ",").split(",")
