"""Does a new unit replace an older one, where no triple says so? Numbers for the update head.

Free text rarely repeats an attribute word for word. What gives an update away together: the same rare words or names, a close
meaning, a value that differs, and words of change in the newer text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.encoding.cues import is_chinese
from hindsight_langgraph.encoding.facts import Facts, facts_of
from hindsight_langgraph.encoding.wordings import ADDS, things_ended
from hindsight_langgraph.lexical import distinct_terms, terms
from hindsight_langgraph.records import Kind, MemoryUnit, Record, Unit01

_SIGNS: Final = frozenset({"change", "forget", "correction", "decision", "choice", "negation", "task_state"})
"""Cues of a text that changes something said before."""
_WISHES: Final = frozenset({"preference", "instruction"})
_MATTERS: Final = (
    frozenset({Kind.PROCEDURE}),  # how something is done
    frozenset({Kind.SENTIMENT}),  # how someone feels about it
    frozenset({Kind.EPISODE}),
)
"""Kinds that are replaced by their like only; the others mix, and a correction replaces anything."""
_TAKES_BACK: Final = frozenset({"forget", "correction"})
UPDATE_FEATURES: Final = (
    "similarity", "similarity_gap", "covers_new", "covers_old", "cover_gap", "shared_entities", "shared_names", "asked_about",
    "numbers_differ", "same_measure", "new_change", "new_forget", "new_correction", "new_decision", "both_preference", "both_instruction",
    "both_decision", "polarity_differs", "same_session", "age", "newer_between", "forget_covers", "change_similarity", "change_covers",
    "same_attribute", "restated", "other_names", "best_both", "asked_similarity", "asked_gap", "context_covers", "context_gap",
    "comparable", "ended", "other_amount", "other_time", "same_kind", "rival", "shared_matter",
)  # fmt: skip


class Candidate(Record):
    """A stored unit that a new one is compared with."""

    unit: MemoryUnit
    similarity: Unit01 = 0.0
    """Of the embeddings, 0 for unrelated texts (see `similarity.similarity`); 0 where one of them has none."""
    asked_similarity: Unit01 = 0.0
    """Of the stored unit and the turn before the new one: what an elliptical turn answers."""


def update_features(new: MemoryUnit, pool: Sequence[Candidate]) -> NDArray[np.float64]:
    """One row of `UPDATE_FEATURES` per candidate; what counts is also how a candidate stands out in its pool."""
    facts = facts_of(new)
    others = [facts_of(candidate.unit) for candidate in pool]
    words = [other.words for other in others]
    frequency = Counter(term for found in words for term in found)
    rare = {term: math.log((len(pool) + 2) / (count + 1)) for term, count in frequency.items()}
    own, asked = facts.words, _asked(new, pool)
    around = [found | distinct_terms(candidate.unit.preceding) for found, candidate in zip(words, pool, strict=True)]
    context = [(_covered(own | asked, a, rare, len(pool)) * _covered(a, own | asked, rare, len(pool))) ** 0.5 for a in around]
    best_context = max(context, default=0.0)
    best_asked = max((candidate.asked_similarity for candidate in pool), default=0.0)
    covers_new = [_covered(own, found, rare, len(pool)) for found in words]
    covers_old = [_covered(found, own, rare, len(pool)) for found in words]
    cover = [(a * b) ** 0.5 for a, b in zip(covers_new, covers_old, strict=True)]
    best_cover = max(cover, default=0.0)
    best_similarity = max((candidate.similarity for candidate in pool), default=0.0)
    rows: list[list[float]] = []
    for i, candidate in enumerate(pool):
        old = candidate.unit
        pair = _pair(facts, others[i], new, old)
        change, forget = pair["new_change"], pair["new_forget"]
        newer = sum(1 for other in pool if old.moment < other.unit.moment < new.moment)
        pair |= {
            "similarity": candidate.similarity,
            "similarity_gap": candidate.similarity - best_similarity,
            "covers_new": covers_new[i],
            "covers_old": covers_old[i],
            "cover_gap": cover[i] - best_cover,
            "asked_about": _covered(asked, words[i], rare, len(pool)) if asked else 0.0,
            "asked_similarity": candidate.asked_similarity,
            "asked_gap": candidate.asked_similarity - best_asked,
            "context_covers": context[i],
            "context_gap": context[i] - best_context,
            "newer_between": newer / max(1, len(pool)),
            "forget_covers": forget * cover[i],
            "change_similarity": change * candidate.similarity,
            "change_covers": change * cover[i],
            "best_both": float(cover[i] == best_cover > 0 and candidate.similarity == best_similarity > 0),
        }
        rows.append([pair[name] for name in UPDATE_FEATURES])
    return np.array(rows, dtype=np.float64).reshape(len(pool), len(UPDATE_FEATURES))


def _asked(new: MemoryUnit, pool: Sequence[Candidate]) -> frozenset[str]:
    """The words that the new text may answer: of the turn before, unless the same speaker said that too."""
    speaker = new.speaker, new.speaker_name
    own = any((c.unit.speaker, c.unit.speaker_name) == speaker and c.unit.source_text == new.preceding for c in pool)
    return frozenset() if own else distinct_terms(new.preceding)


def stand_side_by_side(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether words rule out that one replaces the other.

    Other order numbers or codes, "don't mix them up", the same value again, no sign of any change, kinds that have nothing in common.
    """
    one, other = facts_of(new), facts_of(old)
    other_codes = bool(one.codes and other.codes and not one.codes & other.codes)
    same_again = one.restated and bool(one.values) and one.values <= other.values
    changes = bool(one.cues & _SIGNS) or one.ended or _differ(one, other)
    adds = bool(ADDS.search(new.source_text or new.content)) and not one.cues & _TAKES_BACK and not _moves_amount(one, other)
    kept_apart = other.told_apart and bool(other.names) and not one.names & other.names
    return (
        other_codes
        or adds
        or kept_apart
        or _stays(new, old)
        or _ends_something_else(new, old)
        or one.told_apart
        or same_again
        or not changes
        or not _comparable(new.kind, old.kind)
    )


def _ends_something_else(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether the new text names what is no longer wanted, and the old one says nothing of that."""
    named = {term for thing in things_ended(new.source_text or new.content) for term in terms(thing)}
    return bool(named) and not named & distinct_terms(old.content)


def _stays(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether the old one tells who someone is, or how something is done, and the new one only touches on it: neither changes by the way."""
    one, other = facts_of(new), facts_of(old)
    if one.ended or one.cues & _TAKES_BACK:
        return False
    if old.kind is Kind.PROCEDURE:
        return new.kind is Kind.PROCEDURE or "change" not in one.cues
    if old.kind is not Kind.ENTITY or new.kind is Kind.ENTITY:
        return False
    named = one.words & other.words if is_chinese(new.content) else one.names & other.names
    return "change" not in one.cues or not named


def _comparable(new: Kind, old: Kind) -> bool:
    return new is old or Kind.CORRECTION in {new, old} or not any({new, old} & kinds for kinds in _MATTERS)


def _differ(new: Facts, old: Facts) -> bool:
    """Whether both give a value of the same sort, and not the same one: amounts of one unit, times, wishes."""
    return _other_amount(new, old) or _other_time(new, old) or _both_wish(new, old)


def _other_amount(new: Facts, old: Facts) -> bool:
    """Whether both count or measure the same: in one unit, with one word before or behind the number; a change may leave it out."""
    shared = new.amounts.keys() & old.amounts.keys()
    if any(not new.amounts[label] <= old.amounts[label] for label in shared):
        return True
    return (
        "change" in new.cues
        and bool(new.amounts.get("", frozenset()) - frozenset().union(*old.amounts.values()))
        and bool(old.amounts)
    )


def _moves_amount(new: Facts, old: Facts) -> bool:
    """Whether it says outright that an amount is now another one, whatever else was added: "it rose to 380 euros, they added a shelf"."""
    return "change" in new.cues and bool(new.measures & old.measures) and not new.numbers & old.numbers


def _other_time(new: Facts, old: Facts) -> bool:
    """Whether both give a time, and not the same one; a time reads otherwise in another language."""
    one_language = bool(new.signs) == bool(old.signs)
    return one_language and bool(new.times and old.times) and not new.times <= old.times


def _both_wish(new: Facts, old: Facts) -> bool:
    return bool(new.cues & _WISHES) and bool(old.cues & _WISHES)


def _are_rivals(new: Sequence[str], old: Sequence[str]) -> bool:
    """Whether one names a thing whose name begins with that of another thing of the other: "Dray", "Dray-Lite"."""
    return any(one != other and (one.startswith(other) or other.startswith(one)) for one in new for other in old) and not set(
        new
    ) & set(old)


def share_matter(new: MemoryUnit, old: MemoryUnit, *, asked: bool = True) -> bool:
    """Whether two texts speak of anything in common: a word, a name, a thing, or with `asked` what the new one answers."""
    one, other = facts_of(new), facts_of(old)
    words = one.words | distinct_terms(new.preceding) if asked else one.words
    return bool(words & other.words or one.names & other.names)


def may_be_about_one(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether close texts without a common word may still speak of one matter: a Chinese word is often named by one character of it."""
    one, other = facts_of(new), facts_of(old)
    return not (one.signs and other.signs) or bool(one.signs & other.signs) or _other_amount(one, other)


def _pair(new_facts: Facts, old_facts: Facts, new: MemoryUnit, old: MemoryUnit) -> dict[str, float]:
    days = max(0.0, (new.moment - old.moment).total_seconds() / 86_400)
    both = new_facts.cues & old_facts.cues
    same_attribute = (
        new.triple is not None
        and old.triple is not None
        and (new.triple.subject, new.triple.attribute) == (old.triple.subject, old.triple.attribute)
    )
    return {
        "shared_entities": min(3.0, len(set(new.entities) & set(old.entities))) / 3,
        "shared_names": min(3.0, len(new_facts.names & old_facts.names)) / 3,
        "other_names": float(bool(new_facts.names and old_facts.names and not new_facts.names & old_facts.names)),
        "numbers_differ": float(bool(new_facts.numbers and old_facts.numbers and not new_facts.numbers & old_facts.numbers)),
        "same_measure": float(bool(new_facts.measures & old_facts.measures)),
        "new_change": float("change" in new_facts.cues),
        "new_forget": float("forget" in new_facts.cues),
        "new_correction": float("correction" in new_facts.cues),
        "new_decision": float("decision" in new_facts.cues),
        "both_preference": float("preference" in both),
        "both_instruction": float("instruction" in both),
        "both_decision": float("decision" in both),
        "polarity_differs": float(("negation" in new_facts.cues) != ("negation" in old_facts.cues)),
        "same_session": float(new.session_id == old.session_id),
        "age": math.log1p(days) / 5,
        "same_attribute": float(same_attribute),
        "restated": float(new_facts.restated),
        "comparable": float(_comparable(new.kind, old.kind)),
        "ended": float(new_facts.ended),
        "other_amount": float(_other_amount(new_facts, old_facts)),
        "other_time": float(_other_time(new_facts, old_facts)),
        "shared_matter": float(share_matter(new, old)),
        "same_kind": float(new.kind is old.kind),
        "rival": float(_are_rivals(new.entities, old.entities)),
    }


def _covered(wanted: frozenset[str], found: frozenset[str], rare: dict[str, float], size: int) -> float:
    """Part of the weight of `wanted` that is in `found`; a term that no unit of the pool has counts as the rarest."""
    unseen = math.log(size + 2)
    total = sum(rare.get(term, unseen) for term in wanted)
    return sum(rare.get(term, unseen) for term in wanted & found) / total if total else 0.0
