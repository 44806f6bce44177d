"""Does a new unit replace an older one, where no triple says so? Numbers for the update head.

Free text rarely repeats an attribute word for word. What gives an update away together: the same rare words or names, a close
meaning, a value that differs, and words of change in the newer text.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.encoding.cues import cues
from hindsight_langgraph.encoding.values import read_value
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import Kind, MemoryUnit, Record, Unit01

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:e-?\d+)?")
_COUNT: Final = (
    r"(?:\d[\d.,:]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety)(?:-\w+)?|hundred|thousand)\b)"
)
_MEASURED: Final = re.compile(rf"{_COUNT}\s?(?:([a-z%€£$]+)(?: ([a-z]+))?|([\u4e00-\u9fff]{{1,2}}))", re.IGNORECASE)
_COUNTED: Final = re.compile(
    rf"(?:{_COUNT}|[一二两三四五六七八九十百千万半]+)\s?(?:(?P<en>[a-z%€£$]+)|(?P<zh>[\u4e00-\u9fff]{{1,2}}))?", re.IGNORECASE
)
_LABELLED: Final = re.compile(
    r"\b(?!(?:at|from|to|by|of|in|on|than|and|or|for|until|till|about|around|over|under|only|just|is|are|was|has|have|with|the|per|all|some|another|plus|up|down|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december)\b)([A-Za-z]{2,}) ?(\d+(?:\.\d+)?)\b(?![:.]\d)",
    re.IGNORECASE,
)
"""A number with its name before it: "PostgreSQL 17", "port 8080"."""
_NAME: Final = re.compile(
    r"[A-Za-z]+[-_]?\d+|(?<![.!?:]\s)(?<!^)\b[A-Z][\w-]+|\b[A-Za-z][\w.-]*\b(?=[\u3400-\u9fff\s，。]*[\u3400-\u9fff])|“([^”]+)”|\"([^\"]+)\""
)
RESTATED: Final = re.compile(
    r"\b(?:still|as (?:ever|always|before|usual|agreed|decided|said|planned)(?: before)?|(?:as|like) i (?:said|told you)(?: before)?|same as(?: (?:ever|before|always))?"
    r"|stays?|again|unchanged|no change|(?:has not|hasn't) changed|keep using|keep to|reiterate[sd]?|repeats? that|stick (?:to|with)|remains?|once more)\b"
    r"|照旧|照样|还是(?!算|[^，。,；]{1,8}吧)|没有?变|不变|没改|再说一[遍次]|重申|一直|仍然?|依旧|依然|[跟和](?:之前|以前|原来)一样|老样子|老规矩",
    re.IGNORECASE,
)
"""The words of a text that say that it only repeats what held before."""

BESIDES: Final = re.compile(
    r"\balso\b|\b(?:too|as well)\s*[.,!]|\bin addition\b|\bon top of\b|\bbesides\b|\bplus\b|\ba second\b|\badded\b|\banother\b(?! (?:day|time|week|month|year))"
    r"|也(?!别|不|没|要求)|还(?=有|会|养|在|喜欢|用|住|加|多)|此外|除了?[^，。]{1,12}(?:之?外|以外)|之外|(?:又|再|另|多)(?:加|添|报|开|养|买|带)了?(?:一|两|个|门|只)",
    re.IGNORECASE,
)
"""Words by which a second value stands beside the first."""
_ADDS: Final = re.compile(
    r"\bin addition\b|\bon top of\b|\bas well as\b|\ba second\b|\badded\b|除了?[^，。]{1,12}(?:之?外|以外)|之外|(?:又|再|另|多)(?:加|添|报|开|养|买|带)了?(?:一|两|个|门|只)",
    re.IGNORECASE,
)
"""Those that nothing else is said with."""
_TAKES_BACK: Final = frozenset({"forget", "correction"})
_RENEWS: Final = frozenset({"forget", "correction", "change"})
"""Cues of a text that may replace who someone is, or how something is done: neither changes by the way."""

_WRITTEN_DAY: Final = re.compile(r" ?\(\d{4}(?:-\d\d){0,2}(?: \d\d:\d\d)?(?: to \d{4}-\d\d-\d\d)?\)")
"""A date that was written after a relative time: nobody said it."""
_FRAME: Final = re.compile(r"（问：|\(Asked: |选的是：|（选项：|Chosen: |\(options: |（指：|\(about: ")
"""The words in which what a short turn left out is quoted: nobody said them either."""
_CLAUSE_END: Final = re.compile(r"[.,;!?:。，；！？：\n]+")
_CODE: Final = re.compile(r"\b[A-Za-z]{1,8}[-_]?\d{1,6}\b")
_TOLD_APART: Final = re.compile(
    r"\b(?:mix\w* (?:it|them|those|these|that)? ?up|confuse|not to be confused|unlike|another one|a different|a second)\b|"
    r"(?:别|不要)(?:和.{1,8})?(?:弄|搞|记|看)(?:混|串|错|反)|不是一回事|另一个",
    re.IGNORECASE,
)

_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LIGHT_HAN: Final = frozenset(
    "的了啊就都也是在我你您他她它们吧呢哦请给用和跟与把被这那要不没有无个一二两三四五六七八九十还又再上下来去到说好人天年月日号点很太过得着里家们改换成现今明后前以后"
)
"""Characters that tell nothing of what a text is about."""
_SIGNS: Final = frozenset({"change", "forget", "correction", "decision", "choice", "negation", "task_state"})
"""Cues of a text that changes something said before."""
_WISHES: Final = frozenset({"preference", "instruction"})
_ENDED: Final = re.compile(
    r"\b(?:(?:is|are|was|were|'s|'re) (?:off|over|gone|out|dead|done|finished|closed|history|no more)\b(?! (?:to|in|on|by)\b)|(?:fell|falls?|fallen) through|"
    r"no longer|any ?more|(?:has|have|'s|'ve) (?:left|quit|resigned|retired|gone|moved|stopped)|(?:moved|went|transferred) (?:to|over|on)|(?:resigned|retired|left)\b(?! (?:over|on|in|side|hand|of)\b)|handed in|gave up|given up|gone off|"
    r"called off|cancel\w*|scrapped|dropped|shelved|sold|broke up|ran out|shut down|instead)"
    r"|(?:不|没)[^，。；！？]{0,6}了|没[^，。；！？]{1,6}成|(?:退|停|黄|凉|散|拆|卖|荒|辞|走|坏|丢|扔|盘出去|离职|辞职|回老家|取消|作废|关门|到期)了|别再|不再|回老家|离开|离职|退休|调走|调(?:去|到)|卸任",
    re.IGNORECASE,
)
"""Words by which something comes to its end."""
_MATTERS: Final = (
    frozenset({Kind.PROCEDURE}),  # how something is done
    frozenset({Kind.SENTIMENT}),  # how someone feels about it
    frozenset({Kind.EPISODE}),
)
"""Kinds that are replaced by their like only; the others mix, and a correction replaces anything."""
_WHEN: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?::\d\d| ?[ap]\.?m\b)|\bnoon\b|\bmidnight\b|"
    r"\b(?:jan|febr)uary\b|\b(?:march|april|may|june|july|august)\b|\b(?:septem|octo|novem|decem)ber\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天]|[一二三四五六七八九十\d]+(?:点半?|月|号)",
    re.IGNORECASE,
)
"""Days of the week, times of day, dates."""

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
    facts = _facts(new)
    others = [_facts(candidate.unit) for candidate in pool]
    words = [other.words for other in others]
    frequency = Counter(term for found in words for term in found)
    rare = {term: math.log((len(pool) + 2) / (count + 1)) for term, count in frequency.items()}
    own, asked = facts.words, _asked(new, pool)
    around = [found | _words(candidate.unit.preceding) for found, candidate in zip(words, pool, strict=True)]
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
    return frozenset() if own else _words(new.preceding)


def stand_side_by_side(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether words rule out that one replaces the other.

    Other order numbers or codes, "don't mix them up", the same value again, no sign of any change, kinds that have nothing in common.
    """
    one, other = _facts(new), _facts(old)
    other_codes = bool(one.codes and other.codes and not one.codes & other.codes)
    same_again = one.restated and bool(one.values) and one.values <= other.values
    changes = bool(one.cues & _SIGNS) or one.ended or _differ(one, other)
    adds = bool(_ADDS.search(new.source_text or new.content)) and not one.cues & _TAKES_BACK
    kept_apart = other.told_apart and bool(other.names) and not one.names & other.names
    still = (
        not one.ended
        and not one.cues & _RENEWS
        and (old.kind is Kind.PROCEDURE or (old.kind is Kind.ENTITY and new.kind is not Kind.ENTITY))
    )
    return (
        other_codes
        or adds
        or kept_apart
        or still
        or one.told_apart
        or same_again
        or not changes
        or not _comparable(new.kind, old.kind)
    )


def _comparable(new: Kind, old: Kind) -> bool:
    return new is old or Kind.CORRECTION in {new, old} or not any({new, old} & kinds for kinds in _MATTERS)


def _differ(new: _Facts, old: _Facts) -> bool:
    """Whether both give a value of the same sort, and not the same one: amounts of one unit, times, wishes."""
    return _other_amount(new, old) or _other_time(new, old) or _both_wish(new, old)


def _other_amount(new: _Facts, old: _Facts) -> bool:
    """Whether both count or measure the same: in one unit, with one word before or behind the number; a change may leave it out."""
    shared = new.amounts.keys() & old.amounts.keys()
    if any(not new.amounts[label] <= old.amounts[label] for label in shared):
        return True
    return (
        "change" in new.cues
        and bool(new.amounts.get("", frozenset()) - frozenset().union(*old.amounts.values()))
        and bool(old.amounts)
    )


def _other_time(new: _Facts, old: _Facts) -> bool:
    return bool(new.times and old.times) and not new.times <= old.times


def _both_wish(new: _Facts, old: _Facts) -> bool:
    return bool(new.cues & _WISHES) and bool(old.cues & _WISHES)


def _are_rivals(new: Sequence[str], old: Sequence[str]) -> bool:
    """Whether one names a thing whose name begins with that of another thing of the other: "Dray", "Dray-Lite"."""
    return any(one != other and (one.startswith(other) or other.startswith(one)) for one in new for other in old) and not set(
        new
    ) & set(old)


def share_matter(new: MemoryUnit, old: MemoryUnit, *, asked: bool = True) -> bool:
    """Whether two texts speak of anything in common: a word, a name, a thing, or with `asked` what the new one answers."""
    one, other = _facts(new), _facts(old)
    words = one.words | _words(new.preceding) if asked else one.words
    return bool(words & other.words or one.names & other.names)


def may_be_about_one(new: MemoryUnit, old: MemoryUnit) -> bool:
    """Whether close texts without a common word may still speak of one matter: a Chinese word is often named by one character of it."""
    one, other = _facts(new), _facts(old)
    return not (one.signs and other.signs) or bool(one.signs & other.signs) or _other_amount(one, other)


def is_restated(unit: MemoryUnit) -> bool:
    """Whether its words say that it only repeats what held before ("still", "as always", "照旧")."""
    return _facts(unit).restated


def says_it_ended(text: str) -> bool:
    """Whether a text says that something is over, or that someone left."""
    return _ENDED.search(text) is not None


def numbered_names(text: str) -> Mapping[str, frozenset[str]]:
    """Numbers by the name before them: "Go 1.22" is "1.22" of "go"."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for match in _LABELLED.finditer(text):
        found[match[1].casefold()].add(match[2])
    return {name: frozenset(numbers) for name, numbers in found.items()}


def restated_clauses(text: str) -> list[str]:
    """The clauses of a text that say that they only repeat what held before."""
    return [clause for clause in clauses_of(text) if RESTATED.search(clause)]


def clauses_of(text: str) -> list[str]:
    """A text cut at its punctuation."""
    return [clause for clause in _CLAUSE_END.split(text) if clause.strip()]


class _Facts(NamedTuple):
    """What the comparison needs of one text, read once."""

    words: frozenset[str]
    signs: frozenset[str]
    """Chinese characters that tell something."""
    cues: frozenset[str]
    numbers: frozenset[str]
    measures: frozenset[str]
    values: frozenset[str]
    """Numbers and names as they are said."""
    names: frozenset[str]
    """Names as they are said, and the things that they mean."""
    codes: frozenset[str]
    amounts: Mapping[str, frozenset[Fraction]]
    """Numbers by what they count: the scale of their unit, the word before or behind them."""
    times: frozenset[str]
    ended: bool
    """Whether it says that something is over."""
    restated: bool
    told_apart: bool


def _facts(unit: MemoryUnit) -> _Facts:
    return _read_facts(_FRAME.sub(" ", _WRITTEN_DAY.sub("", unit.content)), unit.source_text or unit.content, unit.entities)


@lru_cache(maxsize=4_096)
def _read_facts(text: str, said: str, entities: tuple[str, ...]) -> _Facts:
    return _Facts(
        words=frozenset(terms(text)),
        signs=frozenset(_HAN.findall(text)) - _LIGHT_HAN,
        cues=cues(said),
        numbers=frozenset(_NUMBER.findall(text)),
        measures=frozenset(term for found in _MEASURED.findall(text) for term in terms(" ".join(found))),
        values=frozenset(_NUMBER.findall(said)) | _names(said),
        names=_names(text) | frozenset(entities),
        codes=frozenset(code.lower() for code in _CODE.findall(text)),
        amounts=_amounts(said),
        times=frozenset(match[0].casefold().removesuffix("s") for match in _WHEN.finditer(said)),
        ended=bool(_ENDED.search(said)),
        restated=bool(RESTATED.search(said)),
        told_apart=bool(_TOLD_APART.search(said)),
    )


def _amounts(said: str) -> Mapping[str, frozenset[Fraction]]:
    found: defaultdict[str, set[Fraction]] = defaultdict(set)
    for match in _COUNTED.finditer(said):
        for number, scale in read_value(match[0]).amounts:
            label = scale or _measure_word(match["zh"] or "") or (match["en"] or "").casefold().removesuffix("s")
            if label or number != 1:  # "one" is a pronoun as often as a number
                found[label].add(number)
    for match in _LABELLED.finditer(said):
        found[match[1].casefold()].add(Fraction(match[2]))
    return {label: frozenset(numbers) for label, numbers in found.items()}


def _measure_word(after: str) -> str:
    """What a Chinese number counts: its measure word, or the noun where that is the common one of anything."""
    word = after[1:] if after.startswith("个") else after[:1]
    return "" if word in _LIGHT_HAN else word


def _names(text: str) -> frozenset[str]:
    return frozenset(match.group().strip("“”\"'").lower() for match in _NAME.finditer(text))


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
        "restated": float(new_facts.restated),
        "comparable": float(_comparable(new.kind, old.kind)),
        "ended": float(new_facts.ended),
        "other_amount": float(_other_amount(new_facts, old_facts)),
        "other_time": float(_other_time(new_facts, old_facts)),
        "shared_matter": float(share_matter(new, old)),
        "same_kind": float(new.kind is old.kind),
        "rival": float(_are_rivals(new.entities, old.entities)),
    }


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _covered(wanted: frozenset[str], found: frozenset[str], rare: dict[str, float], size: int) -> float:
    """Part of the weight of `wanted` that is in `found`; a term that no unit of the pool has counts as the rarest."""
    unseen = math.log(size + 2)
    total = sum(rare.get(term, unseen) for term in wanted)
    return sum(rare.get(term, unseen) for term in wanted & found) / total if total else 0.0
