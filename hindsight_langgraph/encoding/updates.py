"""Does a new unit replace an older one, where no triple says so? Numbers for the update head.

Free text rarely repeats an attribute word for word. What gives an update away together: the same rare words or names, a close
meaning, a value that differs, and words of change in the newer text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.encoding.cues import cues
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit, Record, Unit01

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:e-?\d+)?")
_MEASURED: Final = re.compile(r"\d[\d.,:]*\s?([a-z%€£$]+|[\u4e00-\u9fff])", re.IGNORECASE)
_NAME: Final = re.compile(
    r"[A-Za-z]+[-_]?\d+|(?<![.!?:]\s)(?<!^)\b[A-Z][\w-]+|\b[A-Za-z][\w.-]*\b(?=[\u3400-\u9fff\s，。]*[\u3400-\u9fff])|“([^”]+)”|\"([^\"]+)\""
)
_RESTATED: Final = re.compile(
    r"\b(?:still|as (?:ever|always|before|usual)|same as|stays?|again|unchanged|keep using|stick to|once more)\b|照旧|照样|还是(?!算)|没变|不变|再说一遍|一直|仍然?",
    re.IGNORECASE,
)

UPDATE_FEATURES: Final = (
    "similarity", "similarity_gap", "covers_new", "covers_old", "cover_gap", "shared_entities", "shared_names", "asked_about",
    "numbers_differ", "same_measure", "new_change", "new_forget", "new_correction", "new_decision", "both_preference", "both_instruction",
    "both_decision", "polarity_differs", "same_session", "age", "newer_between", "forget_covers", "change_similarity", "change_covers",
    "same_attribute", "restated", "other_names", "best_both",
)  # fmt: skip


class Candidate(Record):
    """A stored unit that a new one is compared with."""

    unit: MemoryUnit
    similarity: Unit01 = 0.0
    """Of the embeddings, 0 for unrelated texts (see `models.embedders.similarity`); 0 where one of them has none."""


def update_features(new: MemoryUnit, pool: Sequence[Candidate]) -> NDArray[np.float64]:
    """One row of `UPDATE_FEATURES` per candidate; what counts is also how a candidate stands out in its pool."""
    words = [set(terms(candidate.unit.content)) for candidate in pool]
    frequency = Counter(term for found in words for term in found)
    rare = {term: math.log((len(pool) + 2) / (count + 1)) for term, count in frequency.items()}
    own, asked = set(terms(new.content)), set(terms(new.preceding))
    covers_new = [_covered(own, found, rare, len(pool)) for found in words]
    covers_old = [_covered(found, own, rare, len(pool)) for found in words]
    cover = [(a * b) ** 0.5 for a, b in zip(covers_new, covers_old, strict=True)]
    best_cover = max(cover, default=0.0)
    best_similarity = max((candidate.similarity for candidate in pool), default=0.0)
    facts = _facts(new)
    rows = []
    for i, candidate in enumerate(pool):
        old = candidate.unit
        pair = _pair(facts, _facts(old), new, old)
        change, forget = pair["new_change"], pair["new_forget"]
        newer = sum(1 for other in pool if old.moment < other.unit.moment < new.moment)
        pair |= {
            "similarity": candidate.similarity,
            "similarity_gap": candidate.similarity - best_similarity,
            "covers_new": covers_new[i],
            "covers_old": covers_old[i],
            "cover_gap": cover[i] - best_cover,
            "asked_about": _covered(asked, words[i], rare, len(pool)) if asked else 0.0,
            "newer_between": newer / max(1, len(pool)),
            "forget_covers": forget * cover[i],
            "change_similarity": change * candidate.similarity,
            "change_covers": change * cover[i],
            "best_both": float(cover[i] == best_cover > 0 and candidate.similarity == best_similarity > 0),
        }
        rows.append([pair[name] for name in UPDATE_FEATURES])
    return np.array(rows, dtype=np.float64).reshape(len(pool), len(UPDATE_FEATURES))


class _Facts(Record):
    """What the comparison needs of one text, read once."""

    cues: frozenset[str]
    numbers: frozenset[str]
    measures: frozenset[str]
    names: frozenset[str]


def _facts(unit: MemoryUnit) -> _Facts:
    text = unit.content
    return _Facts(
        cues=cues(unit.source_text or text),
        numbers=frozenset(_NUMBER.findall(text)),
        measures=frozenset(measure.lower() for measure in _MEASURED.findall(text)),
        names=frozenset(match.group().strip('“”"').lower() for match in _NAME.finditer(text)) | frozenset(unit.entities),
    )


def _pair(new_facts: _Facts, old_facts: _Facts, new: MemoryUnit, old: MemoryUnit) -> dict[str, float]:
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
        "restated": float(bool(_RESTATED.search(new.source_text or new.content))),
    }


def _covered(wanted: set[str], found: set[str], rare: dict[str, float], size: int) -> float:
    """Part of the weight of `wanted` that is in `found`; a term that no unit of the pool has counts as the rarest."""
    unseen = math.log(size + 2)
    total = sum(rare.get(term, unseen) for term in wanted)
    return sum(rare.get(term, unseen) for term in wanted & found) / total if total else 0.0
