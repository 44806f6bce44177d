"""Find which of the alternatives listed before a short turn chooses ("the second one", "B", "后者"), in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from hindsight_langgraph.encoding.cues import is_chinese
from hindsight_langgraph.encoding.split import sentences
from hindsight_langgraph.records import Turn

LOOK_BACK: Final = 12
"""How many turns back the options of a choice are looked for."""
LAST: Final = -1
"""The place of the last option, however many there are."""

_GENERIC: Final = "one|option|plan|version|choice|variant|idea|proposal|suggestion|way|approach|alternative|possibility"
_PLACES: Final = {
    "first": 0, "former": 0, "one": 0, "1": 0, "a": 0, "第一": 0, "头一": 0, "前一": 0, "前": 0, "一": 0,
    "second": 1, "latter": 1, "two": 1, "2": 1, "b": 1, "other": 1, "第二": 1, "后一": 1, "后": 1, "二": 1, "另": 1,
    "third": 2, "three": 2, "3": 2, "c": 2, "第三": 2, "三": 2,
    "fourth": 3, "four": 3, "4": 3, "d": 3, "第四": 3, "四": 3,
    "last": LAST, "最后": LAST,
}  # fmt: skip
_MEASURE: Final = "个|种|版|套|项|条|家|款|张|本|间|场|份|类|方案|选项"
_NUMBERED: Final = (
    r"\b(?:option|plan|version|choice|variant|number|no\.) (?P<numbered>one|two|three|four|[1-4a-d])\b|"
    r"^\W*(?:(?:i'd |i'll |let's |we'll )?(?:go (?:with|for) |take |pick |choose |prefer )?)(?P<letter>[A-D])\b[\s.!,]*(?:then|please|it is)?[\s.!]*$"
)
_REFERENCE: Final = re.compile(
    rf"\b(?P<pointer>the |this |that )?(?P<ordinal>first|second|third|fourth|last|former|latter|other)\b(?=(?P<after>(?:[ ]+[\w'-]+)?))|{_NUMBERED}",
    re.IGNORECASE,
)
_REFERENCE_ZH: Final = re.compile(
    rf"(?P<ordinal>第[一二三四]|头一|前一|后一|最后(?=一)|另(?=外?一))[外一]*(?:{_MEASURE})|(?P<pole>前|后)者|"
    r"(?:方案|选项)(?P<numbered>[一二三四A-Da-d1-4])|(?:^|[选用要定]|就)\s*(?P<letter>[A-D])\s*(?:吧|了|好了)?[。！]?$"
)
_REFUSED: Final = re.compile(
    r"(?:\bnot|n't|\bexcept|\bwithout|\bneither|\bunlike|别|不)\W*(?:\w+ ){0,2}$|[别不][选要用]?$", re.IGNORECASE
)
_CLAUSE_START: Final = re.compile(r"(?:^|[.,;:!?–—-]|\b(?:and|then|so|with|for|take|pick|choose|prefer|want))\W*$", re.IGNORECASE)
_AFTER: Final = frozenset(
    [
        "please",
        "then",
        "it",
        "is",
        "sounds",
        "looks",
        "seems",
        "was",
        "works",
        "for",
        "with",
        "to",
        "and",
        "but",
        "if",
        "as",
        "wins",
        "again",
        "of",
        "would",
        "will",
        "too",
    ]
)
"""Words that may follow "the second" where it stands for an option; a noun must name one of them."""

_MARKERS: Final = re.compile(
    r"\b(?:option|plan|version|choice|variant|approach|way) (?P<word>one|two|three|four|[1-4]|[abcd])\b(?: (?:is|would be|means))?[:：]?|"
    rf"\b(?:the )?(?P<ordinal>first|second|third|fourth)(?:ly)?\b(?: (?:{_GENERIC}))?(?: (?:is|would be|means))?[:：,]?|"
    r"(?<![\w.])\(?(?P<sign>[1-4]|[A-D]|[a-d](?=\)))[.)、:：）](?=\s*\S)|"
    rf"(?P<zh>第[一二三四]|头一|前一|后一)(?:{_MEASURE})?(?:方案|选项)?(?:是|为|：|:)?|方案(?P<plan>[一二三四A-D1-4])(?:是|：|:)?",
    re.IGNORECASE,
)
_ONE_OTHER: Final = re.compile(
    r"\b(?:the )?one (?:is|would be) (?P<one>[^.;\n]+)[.;,]?\s+(?:and )?the other(?: one)? (?:is|would be) (?P<two>[^.;\n]+)|"
    rf"一(?:{_MEASURE})(?:是|在|叫)?(?P<one_zh>[^，。；]+)[，。；]另(?:外)?一(?:{_MEASURE})(?:是|在|叫)?(?P<two_zh>[^，。；]+)",
    re.IGNORECASE,
)
_OFFERS: Final = re.compile(
    r"[?？]|\b(?:could|can|should|shall|would|either|whether|options?|choose|choice|prefer|rather|between|two|three|or else)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^.*(?:\b(?:either|whether to|choose between|choice between|options?)\b|[:：])\s*", re.IGNORECASE | re.DOTALL
)
_JOINED: Final = re.compile(
    rf"(?:\b(?:options|choices|choose between|choice between|two (?:{_GENERIC})s)\b[^.?!]*?[: ]|\btwo \w+[^.?!,:]*: )(?P<one>[^.?!:]+?) and (?P<two>[^.?!]+)",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(r"\s(?:for|in|on|at|with|to|as|from|by|of)\s", re.IGNORECASE)
_OPENERS: Final = frozenset(
    [
        "a",
        "an",
        "as",
        "at",
        "by",
        "for",
        "from",
        "go",
        "have",
        "in",
        "keep",
        "my",
        "on",
        "our",
        "take",
        "the",
        "to",
        "use",
        "with",
    ]
)
"""First words that tell where an item begins."""
_NO_CHOICE: Final = re.compile(
    r"\b(?:whether or not|sooner or later|more or less|(?:one|two|three|four|five|\d+) or (?:two|three|four|five|six|so|\d+))\b",
    re.IGNORECASE,
)
_WEAK_START: Final = re.compile(
    r"^(?:(?:i|we|you|they|shall|should|could|can|would|will|do|does|did|want|like|rather|to|the|a|an|it|is|prefer|that|go|be)\s+)+",
    re.IGNORECASE,
)
_EITHER_ZH: Final = re.compile(
    r"(?:要么)?(?P<one>[^，。；？?！：:]{1,40}?)[，,；]?(?:要么|或者是?|或是|还是(?!算)|或(?!许))(?P<two>[^，。；？?！]{1,24})"
)
_OR_ZH: Final = re.compile(_EITHER_ZH.pattern.replace("还是(?!算)|", ""))
"""Outside a question 还是 is "rather"."""
_ASKS_ZH: Final = re.compile(r"[？?]|[呢吗]\W*$|是.{1,20}还是")
_BOTH_ZH: Final = re.compile(
    r"(?:有|是|分)(?P<one>[^，。；？?！、：:]{1,12})[和、与](?P<two>[^，。；？?！、：:]{1,12}?)(?:这)?[两2](?:种|个|款|家|套|版|条|类)"
)
_VERB_ZH: Final = re.compile(r"^.*(?:可以|能|想|该|用|去|选|放在|放|订在|定在|做|买|吃|喝|叫|走|坐|住|搬到|换成)(?=.)")
_TRIM: Final = ' ,;，；。.:：\n?？"“”'


class Choice(NamedTuple):
    """What a turn chooses, and where it was offered."""

    option: str
    listing: Turn


def find_choice(said: str, context: Sequence[Turn]) -> Choice | None:
    """The option that a short text points at by its place; None when it points at none that was listed.

    Args:
        said: the text, such as "Let's go with the second one."
        context: the turns before it; the nearest one that lists enough options counts.
    """
    if said.rstrip().endswith(("?", "？")) or len(options(said)) >= 2:
        return None
    for before in reversed(context[-LOOK_BACK:]):
        listed = options(before.text)
        if len(listed) < 2:
            continue
        place = _place(said, before.text)
        if place is not None and place < len(listed):
            return Choice(listed[place], before)
    return None


def options(text: str) -> list[str]:
    """The alternatives that a text lists, in order; empty when it lists none."""
    return _marked(text) or _one_and_other(text) or _disjoined(text)


def _place(said: str, listing: str) -> int | None:
    """Which option a text points at, from 0; `LAST` for the last."""
    chinese = is_chinese(said)
    straight = said.replace("’", "'")
    found: int | None = None
    for match in (_REFERENCE_ZH if chinese else _REFERENCE).finditer(straight):
        if _REFUSED.search(straight[max(0, match.start() - 16) : match.start()]):
            continue
        groups = {name: value for name, value in match.groupdict().items() if value}
        word = next((groups[name] for name in ("ordinal", "numbered", "letter", "pole") if name in groups), "").lower()
        if not chinese and "ordinal" in groups:
            adverb = "pointer" not in groups and not re.fullmatch(_GENERIC, groups.get("after", "").strip().lower())
            if adverb and not _CLAUSE_START.search(straight[: match.start()]):
                continue  # "never reset first"
            if not _stands_for_option(groups.get("after", ""), listing):
                continue
        found = _PLACES.get(word)
    return found


def _stands_for_option(after: str, listing: str) -> bool:
    """Whether "the second" before this word means an option: "the second one", or a noun that the listing names."""
    word = after.strip().lower()
    if not word or word in _AFTER or re.fullmatch(_GENERIC, word):
        return True
    return re.search(rf"\b{re.escape(word.removesuffix('s'))}", listing, re.IGNORECASE) is not None


def _marked(text: str) -> list[str]:
    """Options behind marks that count up: "first … second …", "1) … 2) …", "A. … B. …"."""
    marks: list[re.Match[str]] = []
    for mark in _MARKERS.finditer(text):
        word = next(value for value in mark.groups() if value).lower()
        if _PLACES.get(word) == len(marks):
            marks.append(mark)
    if len(marks) < 2:
        return []
    ends = [mark.start() for mark in marks[1:]] + [_item_end(text, marks[-1].end())]
    found = [text[mark.end() : end].strip(_TRIM) for mark, end in zip(marks, ends, strict=True)]
    found = [re.sub(r"[\s,;，；]+(?:and|or|和|或)$", "", option).strip(_TRIM) for option in found]
    return found if all(found) and "or" not in found else []


def _item_end(text: str, start: int) -> int:
    """Where the last item ends: at its line's or its sentence's end."""
    first = next((part for part in sentences(text[start:]) if part.strip()), "")
    return start + len(first) if first else len(text)


def _one_and_other(text: str) -> list[str]:
    match = _ONE_OTHER.search(text)
    return [value.strip(_TRIM) for value in match.groups() if value] if match else []


def _disjoined(text: str) -> list[str]:
    """Alternatives joined by "or" in an offer or a question."""
    for whole in sentences(text):
        sentence = _NO_CHOICE.sub("", whole)
        if is_chinese(sentence):
            match = _BOTH_ZH.search(sentence) or (_EITHER_ZH if _ASKS_ZH.search(sentence) else _OR_ZH).search(sentence)
            if match is not None:
                return _mirrored_zh(match["one"].strip(), match["two"].strip())
            continue
        if (re.search(r"\bor\b", sentence) and _OFFERS.search(sentence)) or re.search(r"[:：].*\bor\b", sentence):
            return _mirrored(sentence)
        if (joined := _JOINED.search(sentence)) is not None:
            return [joined["one"].strip(_TRIM), joined["two"].strip(_TRIM)]
    return []


def _mirrored(sentence: str) -> list[str]:
    """The items of "… A, B or C …": how the last one begins, and how long it is, tells where the first one begins."""
    joined = re.split(r"(,?)\s+or\s+", sentence.rstrip(), maxsplit=1)
    if len(joined) < 3:
        return []  # nothing stands on one side of it, or not at once: "after a hike or, I guess, a walk"
    head, oxford, last = joined
    *more, last = re.split(r",?\s+or\s+", last)
    last = re.split(r"[,;.?!:]", last)[0].strip()
    head = _LEAD.sub("", head)
    if (tail := _TAIL.search(f" {last}", 1)) is not None and tail.group() not in f" {head} " and tail.start() > 0:
        last = f" {last}"[: tail.start()].strip()
    chunks = re.split(r",\s+", head) if oxford else [head]
    pattern = last.split()
    if not pattern:
        return []
    items = [_like(chunk, pattern) for chunk in chunks]
    found = [item.strip(_TRIM) for item in (*items, *more, last)]
    return found if all(found) else []


def _like(chunk: str, pattern: Sequence[str]) -> str:
    """The end of a chunk that is built like the pattern: from the same first word, else as many words."""
    words = chunk.split()
    lowered = [word.lower() for word in words]
    first = pattern[0].lower()
    if first in lowered and (first in _OPENERS or len(pattern) == 1):
        place = len(lowered) - 1 - lowered[::-1].index(first)
        return " ".join(words[place:])
    ending = " ".join(words[-len(pattern) :])
    return _WEAK_START.sub("", ending) or ending


def _mirrored_zh(one: str, two: str) -> list[str]:
    items = re.split(r"[、，,]", one)
    first = items[0]
    place = first.rfind(two[0]) if two else -1
    items[0] = first[place:] if place >= 0 else _VERB_ZH.sub("", first)
    found = [item.strip(_TRIM) for item in (*items, two)]
    return found if all(found) else []
