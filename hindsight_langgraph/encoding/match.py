"""Compare a new unit with what is stored: the same again, an update, or new (SPEC B6, B7, F3).

Pure: decides from units and similarities, changes nothing. Duplicates never cross a region; an update may (a correction takes back a
decision). A statement that arrives late never retires one that was said after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.identity import same_text
from hindsight_langgraph.encoding.local_extractor import RETRACTION
from hindsight_langgraph.encoding.repeats import reminds, restates
from hindsight_langgraph.encoding.statement import QUOTED_CLAIM
from hindsight_langgraph.encoding.updates import Candidate, may_be_about_one, share_matter, stand_side_by_side, update_features
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit, Record, Status, Triple

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_PLURAL: Final = re.compile(r"(?<=[a-z]{3})(?<![su])s\b")
SECOND_UPDATE: Final = 0.80
"""From which probability one unit replaces a second one besides the likeliest."""


RETRACTED: Final = 0.10
"""The same where the text says that something is taken back, so that only what is in question."""


COMMON_MATTER: Final = 0.55
"""Texts this close speak of the same matter though they share no word."""


class Outcome(StrEnum):
    """What a comparison comes to."""

    NEW = "new"
    DUPLICATE = "duplicate"
    UPDATE = "update"
    LATE = "late"
    """Said before what replaced it, and stored as history at once."""
    HELD = "held"
    """Waits for the user's decision, by the policy of its kind."""
    DROPPED = "dropped"
    """Not written, by the policy of its kind."""


class Match(Record):
    """The decision on one new unit, with its reasons."""

    outcome: Outcome
    same_as: str | None = None
    """The stored unit that a duplicate confirms."""
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    related: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def match(new: MemoryUnit, pool: Sequence[Candidate], *, heads: Heads, config: WriteConfig, replaced_value: str = "") -> Match:
    """Decide on one new unit.

    Args:
        new: the unit, not yet stored.
        pool: active units of the same owner that may have to do with it.
        heads: judge updates that no triple shows.
        replaced_value: the value that the text says it replaces ("instead of Vim"), where an extractor found one.
        config: thresholds of SPEC B6 and B7, on the scale of `similarity.similarity`.
    """
    others = [c for c in pool if c.unit.owner == new.owner and c.unit.status is Status.ACTIVE and c.unit.id != new.id]
    twin = next((c for c in sorted(others, key=lambda c: -c.similarity) if says_the_same(new, c, config=config)), None)
    related = tuple(
        c.unit.id for c in sorted(others, key=lambda c: -c.similarity)[: config.link_top] if c.similarity > config.link_cosine
    )
    if twin is not None:
        return Match(outcome=Outcome.DUPLICATE, same_as=twin.unit.id, reasons=("says the same",))
    later = next((c for c in others if c.unit.moment > new.moment and replaces(c.unit, new)), None)
    if later is not None:
        return Match(
            outcome=Outcome.LATE, superseded_by=later.unit.id, related=related, reasons=("said before what replaced it",)
        )
    withdrawn = _withdrawn(new, others)
    if withdrawn:
        return Match(outcome=Outcome.UPDATE, supersedes=withdrawn, related=related, reasons=("takes back what was just said",))
    older = [c for c in others if c.unit.moment <= new.moment and not set(c.unit.sources) & set(new.sources)]
    by_triple = tuple(c.unit.id for c in older if replaces(new, c.unit))
    if by_triple:
        return Match(outcome=Outcome.UPDATE, supersedes=by_triple, related=related, reasons=("same subject and attribute",))
    named = _named(replaced_value, new, older)
    if named:
        return Match(outcome=Outcome.UPDATE, supersedes=named, related=related, reasons=("names what it replaces",))
    likely = _likely_updates(new, older, heads)
    if likely:
        ids = tuple(unit_id for unit_id, _ in likely)
        reasons = tuple(f"update head {odds:.2f}" for _, odds in likely)
        return Match(outcome=Outcome.UPDATE, supersedes=ids, related=related, reasons=reasons)
    return Match(outcome=Outcome.NEW, related=related)


def says_the_same(new: MemoryUnit, candidate: Candidate, *, config: WriteConfig) -> bool:
    """Whether a stored unit says what the new one says: entities first (a hard filter), then closeness (SPEC B7)."""
    old = candidate.unit
    if old.region is not new.region or old.raw != new.raw or RETRACTION in (*new.tags, *old.tags):
        return False
    if new.triple is not None and old.triple is not None:
        return _key(new.triple) == _key(old.triple)
    if same_text(new.content) == same_text(old.content):
        return True
    if set(new.entities) != set(old.entities) or set(_NUMBER.findall(new.content)) != set(_NUMBER.findall(old.content)):
        return False
    return candidate.similarity > config.duplicate_cosine and (new.triple is None) == (old.triple is None)


def replaces(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether the triple of a later unit contradicts that of an earlier one (SPEC F3).

    One value at a time: another value replaces. Several at once: only the same value, said with the opposite polarity, does. "I no
    longer use Vim" also ends (user, editor, Vim): the value is the same and no longer holds, whatever the attribute is called.
    """
    if new.triple is None or old.triple is None or QUOTED_CLAIM in (*new.tags, *old.tags):
        return False
    one, other = new.triple, old.triple
    if _folded(one.subject) != _folded(other.subject):
        return False
    same_value = _folded(one.value) == _folded(other.value) or (one.negated and _is_called(one.value, other.value))
    if one.attribute != other.attribute:
        return same_value and one.negated and not other.negated and one.attribute != "likes"
    if one.multi_valued or other.multi_valued:
        return same_value and one.negated != other.negated
    if one.negated or other.negated:
        return same_value and one.negated != other.negated
    return not same_value


def _is_called(short: str, full: str) -> bool:
    """Whether what is denied is the thing in short: "Resolve" for "DaVinci Resolve 19", "coffee" for "two cups of coffee"."""
    words = set(terms(short))
    return bool(words) and words <= set(terms(full))


def _named(value: str, new: MemoryUnit, older: Sequence[Candidate]) -> tuple[str, ...]:
    """The closest unit that has the value which the text says it replaces."""
    wanted = same_text(value)
    if not wanted:
        return ()
    found = [c for c in older if wanted in same_text(c.unit.content) and _may_replace(new, c.unit)]
    return tuple(c.unit.id for c in sorted(found, key=lambda c: -c.similarity)[:1])


def _withdrawn(new: MemoryUnit, pool: Sequence[Candidate]) -> tuple[str, ...]:
    """The units read from the turn that a bare "forget it" or "never mind" takes back."""
    if RETRACTION not in new.tags or len(new.sources) < 2:
        return ()
    return tuple(c.unit.id for c in pool if c.unit.sources[-1:] == new.sources[:1] and c.unit.moment <= new.moment)


def _likely_updates(new: MemoryUnit, older: Sequence[Candidate], heads: Heads) -> list[tuple[str, float]]:
    """Ids of the units that the update head says are replaced, likeliest first."""
    if not older or QUOTED_CLAIM in new.tags:
        return []
    first = min(heads.update.threshold, RETRACTED) if RETRACTION in new.tags else heads.update.threshold
    rows = update_features(new, older)
    able = [_may_replace(new, c.unit) and _have_matter(new, c) for c in older]
    odds = [next(iter(heads.update.probabilities(row).values())) for row in rows]
    ranked = sorted(
        ((candidate, chance) for candidate, chance, may in zip(older, odds, able, strict=True) if may), key=lambda pair: -pair[1]
    )
    return [
        (candidate.unit.id, chance)
        for rank, (candidate, chance) in enumerate(ranked[:2])
        if chance >= (first if rank == 0 else SECOND_UPDATE)
    ]


def _have_matter(new: MemoryUnit, candidate: Candidate) -> bool:
    """Whether both speak of one matter; who takes something back names it."""
    takes_back = RETRACTION in new.tags
    if share_matter(new, candidate.unit, asked=not takes_back):
        return True
    return not takes_back and candidate.similarity >= COMMON_MATTER and may_be_about_one(new, candidate.unit)


def _may_replace(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Triples that name different subjects, two values of one multi-valued attribute, and mere repeats replace nothing."""
    if stand_side_by_side(new, old) or restates(new, old) or reminds(new, old):
        return False
    if new.triple is None or old.triple is None:
        return True
    if _folded(new.triple.subject) != _folded(old.triple.subject):
        return False
    return not (new.triple.attribute == old.triple.attribute and new.triple.multi_valued and not replaces(new, old))


def _key(triple: Triple) -> tuple[str, str, str, bool]:
    return _folded(triple.subject), triple.attribute, _folded(triple.value), triple.negated


def _folded(text: str) -> str:
    """A name or value for comparing: "Coffees" is "coffee"."""
    return _PLURAL.sub("", same_text(text))
