"""Tells a text that only repeats an earlier one from one that says something new (SPEC F2).

Embeddings cannot: "stick to pytest" and "switch to pytest" are as close as can be. A repeat is told by its own words. It says so itself
("as always", "照旧") of something that the earlier text says too, value for value; or it is a wish of which one sentence says nothing
that an earlier wish lacks. Across two languages the values alone can be compared: names, numbers, codes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from hindsight_langgraph.encoding.cues import cues, is_chinese
from hindsight_langgraph.encoding.values import read_value
from hindsight_langgraph.encoding.wordings import RESTATED, clauses_of, restated_clauses
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import Kind, MemoryUnit

_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？\n])\s*")
_LIGHT: Final = frozenset(
    terms(
        "please thanks thank ok okay yes no again still as ever always before and also just really same use using give make write want need keep "
        "whatever anything everything now so said told agreed decided name plan rule choice thing one that remain out"
    )
)
"""Words that carry no value: of politeness, of repeating, of asking for something."""
_LIGHT_HAN: Final = frozenset("的了啊就都也是在我你您吧呢哦请给用和跟与把被们这那要")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_VALUE: Final = re.compile(r"[A-Za-z]+[-_.]?\d[\w.-]*|\d+(?:[.,:]\d+)*|(?<=\s)[A-Z][\w-]+|“[^”]+”|\"[^\"]+\"")
_LATIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.+#-]*")
_NEWS: Final = frozenset({"decision", "correction", "change"})
"""Cues of a text that also says something new."""
_OFFERS: Final = re.compile(r"\bor\b|\beither\b|[?？]|或者|还是|要么|二选一")
_REMINDER: Final = re.compile(r"\b(?:don't|do not) (?:forget|mix|confuse)\b|别(?:再)?(?:记|弄|搞|写|看)?[错忘混]", re.IGNORECASE)
_RECURS: Final = frozenset({Kind.TASK_STATE, Kind.EPISODE})
"""What happens again is another event."""
_ONCE_MORE: Final = re.compile(r"\bagain\b", re.IGNORECASE)
_REMINDS: Final = re.compile(
    r"\b(?:remember|remind(?:er|ing)?|(?:i|we)(?:'ve)? (?:already |just )?(?:said|told|asked|mentioned)|again|once more|come on|how often|like before|"
    r"in your (?:last |latest )?\w+|your (?:last|latest)|you (?:still|keep|went and))\b|"
    r"说(?:了|过)|再说|再提|又(?:有|给|写|用|是|来|出现|放|发|推)|上次|上回|提醒|记得|强调|讲过|跟你说",
    re.IGNORECASE,
)
"""Words that hold an earlier wish against someone, or call it to mind."""
_SAID_SO: Final = re.compile(
    r"\b(?:i|we)(?:'ve)? (?:already |just )?(?:said|told|asked)\b|说(?:了|过)|再说|讲过|跟你说", re.IGNORECASE
)
"""Words that say outright that it was said before."""
_COMPLAINT: Final = re.compile(
    r"\b(?:saw|found|spotted|got|noticed|there (?:was|were|is|are)|you (?:used|wrote|gave|sent|put|made|added|suggested))(?: me)?(?: (?:an?|the|another|some|more))? (?P<en>[^,.;!?]{2,40})"
    r"|(?:又|还是?)(?:有|是|给我|用|写|放|出现|推荐|来|发|做)(?:过|了|成)?(?P<zh>[^，。；！？,]{1,10})",
    re.IGNORECASE,
)
"""What someone found once more though they had asked for it to be left out."""
_ALLERGY: Final = re.compile(r"\ballergic to (?P<en>[\w-]+)|对(?P<zh>[^，。；！？,]{1,8}?)过敏", re.IGNORECASE)
_COVERED: Final = 0.75
_ALL_COVERED: Final = 0.5
_SAYING: Final = 3
"""Terms that a sentence must have to say something."""
_STEM: Final = 4


def repeats(newer: MemoryUnit, older: MemoryUnit) -> bool:
    """Whether the newer text only says again what the older one said."""
    if restates(newer, older) or reminds(newer, older):
        return True
    said, before = _said(newer), _said(older)
    if newer.kind is Kind.DECISION and older.kind is not Kind.DECISION:
        return False  # who chooses among options names them again
    wishes = _is_wish(newer) and _is_wish(older) and "forget" not in cues(said)
    return wishes and _numbers(said) <= _numbers(before) and _has_covered_sentence(said, before)


def restates(newer: MemoryUnit, older: MemoryUnit) -> bool:
    """Whether the newer text says of itself that it only repeats what the older one said."""
    said, before = _said(newer), _said(older)
    if not RESTATED.search(said) or "forget" in cues(_plain(said)):
        return False
    if newer.kind is Kind.DECISION and older.kind is not Kind.DECISION and _OFFERS.search(before):
        return False  # who chooses among options names them again
    if newer.kind in _RECURS and older.kind in _RECURS and not _says_it_stays(said):
        return False
    return _says_so(said, before)


def reminds(newer: MemoryUnit, older: MemoryUnit) -> bool:
    """Whether the newer text calls to mind a wish of the older one: in its words, or by finding fault with what the wish rules out."""
    said, before = _said(newer), _said(older)
    if not _REMINDS.search(said) or is_chinese(said) != is_chinese(before) or not _may_be_wish(older):
        return False
    if {"forget", "correction"} & cues(_plain(said)):
        return False
    return _finds_fault(said, before) or _has_covered_clauses(said, before) or _keeps_off(said, before)


def _finds_fault(said: str, before: str) -> bool:
    found = [terms(match["en"] or match["zh"]) for match in _COMPLAINT.finditer(said)]
    ruled_out = [_stems(clause) for clause in clauses_of(before) if "negation" in cues(clause)]
    return any(_has(clause, term) for thing in found for term in thing for clause in ruled_out)


def _has_covered_clauses(said: str, before: str) -> bool:
    """Whether the clauses that the earlier text covers say enough between them to be its wish again."""
    shares = [
        (clause, *_share(_bare(clause), before))
        for clause in clauses_of(said)
        if not _conflict(clause, before)
        and all(value in before.casefold() for value in _values(clause))
        and _numbers(clause) <= _numbers(before)
    ]
    full = {clause: whole for clause, part, whole in shares if part == whole > 0}
    if sum(full.values()) >= (_SAYING - 1 if _SAID_SO.search(said) else _SAYING):
        return True
    return _SAID_SO.search(said) is not None and any("negation" in cues(clause) for clause in full)


def _keeps_off(said: str, before: str) -> bool:
    """Whether it rules out what the earlier text says somebody is allergic to."""
    allergens = [match["en"] or match["zh"] for match in _ALLERGY.finditer(before)]
    clauses = [set(terms(clause)) for clause in clauses_of(said) if "negation" in cues(clause)]
    return any(set(terms(allergen)) <= clause for allergen in allergens for clause in clauses)


def is_another_event(newer: MemoryUnit, older: MemoryUnit) -> bool:
    """Whether the newer text tells of something that happened once more in another conversation, in whatever words."""
    events = newer.kind in _RECURS and older.kind in _RECURS
    return events and newer.session_id != older.session_id and not _says_it_stays(_said(newer))


def _says_it_stays(said: str) -> bool:
    return RESTATED.search(_ONCE_MORE.sub("", said)) is not None


def _says_so(said: str, before: str) -> bool:
    stated = [sentence for sentence in _SENTENCE_END.split(said) if not sentence.rstrip().endswith(("?", "？"))]
    clauses = [clause for sentence in stated for clause in _restated(sentence)]
    if not clauses or not _numbers(said) <= _numbers(before):
        return False
    rest = _plain(_without(" ".join(stated), clauses))
    if _NEWS & cues(rest) or _denies(rest, before) or any(_conflict(clause, before) for clause in clauses):
        return False
    return _covers(before, [_plain(clause) for clause in clauses])


def _covers(before: str, clauses: Sequence[str]) -> bool:
    """Whether the earlier text says what the clauses say: every value, and most of their words."""
    values = frozenset(value for clause in clauses for value in _values(clause))
    if not all(value in before.casefold() for value in values):
        return False
    if any(is_chinese(clause) for clause in clauses) != is_chinese(before):
        return bool(values) or any(value in clause.casefold() for value in _values(before) for clause in clauses)
    shares = [_share(clause, before) for clause in clauses]
    has, needs = sum(part for part, _ in shares), sum(whole for _, whole in shares)
    return any(whole and part >= _COVERED * whole for part, whole in shares) and has >= _ALL_COVERED * needs


def _share(clause: str, before: str) -> tuple[int, int]:
    """How many of a clause's telling words (Chinese: characters) are in the earlier text, of how many."""
    said, known = _stems(_HAN.sub(" ", clause)), _stems(_HAN.sub(" ", before))
    signs = [sign for sign in _HAN.findall(clause) if sign not in _LIGHT_HAN]
    return sum(_has(known, word) for word in said) + sum(sign in before for sign in signs), len(said) + len(signs)


def _has_covered_sentence(said: str, before: str) -> bool:
    """Whether a sentence of one text has no word that the other lacks, and the same polarity."""
    words = _stems(before)
    for sentence in _SENTENCE_END.split(said):
        found = _stems(sentence)
        if len(found) >= _SAYING and all(_has(words, word) for word in found):
            return bool(read_value(sentence).negated) == bool(read_value(before).negated)
    return False


def _restated(sentence: str) -> list[str]:
    """Its clauses that repeat; all of them where those say nothing more ("tabs, as always")."""
    clauses = restated_clauses(sentence)
    telling = [clause for clause in clauses if _share(_plain(clause), "")[1]]
    return telling if telling or not clauses else clauses_of(sentence)


def _plain(text: str) -> str:
    """A text without the words by which it repeats or reminds."""
    return _REMINDER.sub(" ", RESTATED.sub(" ", text))


def _bare(text: str) -> str:
    return _REMINDS.sub(" ", _plain(text))


def _without(text: str, clauses: Sequence[str]) -> str:
    for clause in clauses:
        text = text.replace(clause, "")
    return text


def _conflict(said: str, before: str) -> bool:
    """Whether one denies what the other says, and only one of them denies anything."""
    one, other = read_value(_plain(said)), read_value(before)
    return _denies(said, before) or bool(other.negated & one.words and not one.negated)


def _denies(said: str, before: str) -> bool:
    one, other = read_value(_plain(said)), read_value(before)
    return bool(one.negated & other.words and not other.negated)


def _values(text: str) -> frozenset[str]:
    """Names, numbers and codes as they are written; in Chinese every Latin word is a name."""
    found = {match[0].strip('“”"') for match in _VALUE.finditer(text)}
    if is_chinese(text):
        found |= set(_LATIN.findall(text))
    return frozenset(value.casefold() for value in found)


def _numbers(text: str) -> frozenset[object]:
    """Amounts without their units, in either language's numerals; a single one counts for nothing."""
    return frozenset(number for number, _ in read_value(_plain(text)).amounts if number != 1)


def _is_wish(unit: MemoryUnit) -> bool:
    return bool({"preference", "instruction"} & cues(_said(unit))) or unit.kind is Kind.PREFERENCE


def _may_be_wish(unit: MemoryUnit) -> bool:
    return _is_wish(unit) or _ALLERGY.search(_said(unit)) is not None or "negation" in cues(_said(unit))


def _said(unit: MemoryUnit) -> str:
    return unit.source_text or unit.content


@lru_cache(maxsize=4_096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - _LIGHT


def _has(words: frozenset[str], word: str) -> bool:
    """Whether a stem is among others: "quot" is "quotat"."""
    return word in words or (
        len(word) >= _STEM and any(other.startswith(word) or (len(other) >= _STEM and word.startswith(other)) for other in words)
    )
