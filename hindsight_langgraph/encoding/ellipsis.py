"""Fill in what a short turn leaves out, from the turns before it: answers, choices among options, withdrawals (issue point 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from hindsight_langgraph.encoding.cues import cues, is_chinese
from hindsight_langgraph.encoding.split import clip, sentences, weight
from hindsight_langgraph.records import Kind, Role, Turn

ANSWER_WEIGHT: Final = 150
"""A heavier turn says for itself what it is about."""
LOOK_BACK: Final = 12
"""How many turns back the options of a choice are looked for."""
QUOTE_WEIGHT: Final = 240

_ORDINALS: Final = (
    r"\b(?:first|former|one)\b|\b(?:option|plan|version|choice|number) (?:1|a)\b|(?:头|前|第)一|方案(?:一|1|A)|前者|\b1[.)、]",
    r"\b(?:second|latter|two|other)\b|\b(?:option|plan|version|choice|number) (?:2|b)\b|第二|后一|方案(?:二|2|B)|后者|\b2[.)、]",
    r"\b(?:third|three)\b|\b(?:option|plan|version|choice|number) (?:3|c)\b|第三|方案(?:三|3|C)|\b3[.)、]",
)
_ORDINAL: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _ORDINALS)
_MARKER: Final = re.compile(
    r"\b(?:option|plan|version|choice|variant|approach|way) (?:one|two|three|[1-3]|[abc])\b(?: (?:is|would be|means))?[:：]?|"
    r"\bthe (?:first|second|third)(?: one| option| plan)?(?: (?:is|would be|means))?[:：]?|(?<!\d)[1-3][.)、](?=\s*\S)|"
    r"(?:头|前|后|第)(?:一|二|两|三)(?:个|种|版|套|项|条)?(?:方案|选项)?(?:是|为|：|:)?|方案(?:一|二|三|[ABC123])(?:是|：|:)?",
    re.IGNORECASE,
)
_EITHER: Final = re.compile(
    r"(?:\b(?:either|we can|we could|i can|i could|you can|you could|between|whether to)\b|[:：])\s*(?P<one>[^?？.。]+?)(?:,)?\s+(?:or|and)\s+(?P<two>[^?？.。]+)",
    re.IGNORECASE,
)
_EITHER_ZH: Final = re.compile(r"(?:要么|或者|是)(?P<one>[^，。；？?]+)[，,；]?(?:要么|或者|还是)(?P<two>[^，。；？?]+)")
_CANCEL: Final = re.compile(
    r"^(?:oh |ah |no,? )?(?:never ?mind|forget (?:it|that|about (?:it|that))|scrap that|ignore that|let's not|drop it|not any ?more|on second thought,? no)\b[^a-z]*(?:\w+\W*){0,4}$|"
    r"^(?:还是)?(?:算了|不用了|作罢|不弄了|不搞了|忘了吧|别记了|当我没说|不算)(?:吧|，.{0,6})?[。！!]*$",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """A turn with what it left out."""

    content: str
    turn_ids: tuple[str, ...]
    """The turns that say it together; the last one is the turn itself."""
    kind: Kind | None = None
    """Set where filling in settles the kind."""
    withdraws: bool = False
    """True when the first of its turns is taken back."""


def read(turn: Turn, context: Sequence[Turn], *, text: str | None = None) -> Reading:
    """What a turn means after the turns before it.

    A choice takes in the options, and names the turn that listed them as a source. An answer quotes its question. A bare withdrawal
    names what it withdraws. Any other turn stays as it is.
    """
    said = (turn.text if text is None else text).strip()
    if weight(said) <= ANSWER_WEIGHT:
        found = _choice(turn, said, context) or _withdrawal(turn, said, context) or _answer(turn, said, context)
        if found is not None:
            return found
    return Reading(content=said, turn_ids=(turn.id,))


def options(text: str) -> list[str]:
    """The alternatives that a text lists, in order; empty when it lists none."""
    marks = list(_MARKER.finditer(text))
    if len(marks) >= 2:
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        found = [text[mark.end() : end].strip(" ,;，；。.:：\n") for mark, end in zip(marks, ends, strict=True)]
        return found if all(found) else []
    match = _EITHER_ZH.search(text) if is_chinese(text) else _EITHER.search(text)
    return [match["one"].strip(" ,，"), match["two"].strip(" ,，")] if match else []


def _choice(turn: Turn, said: str, context: Sequence[Turn]) -> Reading | None:
    if "choice" not in cues(said) or len(options(said)) >= 2 or said.endswith(("?", "？")):
        return None
    place = next((i for i, pattern in enumerate(_ORDINAL) if pattern.search(said)), None)
    if place is None:
        return None
    for before in reversed(context[-LOOK_BACK:]):
        listed = options(before.text)
        if len(listed) > place:
            chosen = clip(listed[place], QUOTE_WEIGHT)
            full = clip(before.text.strip(), QUOTE_WEIGHT)
            content = (
                f"{said} 选的是：{chosen}（选项：{full}）" if is_chinese(said) else f"{said} Chosen: {chosen} (options: {full})"
            )
            return Reading(content=content, turn_ids=(before.id, turn.id), kind=Kind.DECISION)
    return None


def _withdrawal(turn: Turn, said: str, context: Sequence[Turn]) -> Reading | None:
    if not _CANCEL.match(said):
        return None
    proposal = next((t for t in reversed(context[-LOOK_BACK:]) if t.role is Role.USER and weight(t.text) > 20), None)
    if proposal is None:
        return None
    if "forget" in cues(said):  # what is to be forgotten is not written down once more
        return Reading(content=said, turn_ids=(proposal.id, turn.id), kind=Kind.CORRECTION, withdraws=True)
    quote = clip(proposal.text.strip(), QUOTE_WEIGHT)
    content = f"{said}（指：{quote}）" if is_chinese(said) else f"{said} (about: {quote})"
    return Reading(content=content, turn_ids=(proposal.id, turn.id), kind=Kind.DECISION, withdraws=True)


def _answer(turn: Turn, said: str, context: Sequence[Turn]) -> Reading | None:
    if not context or context[-1].role is not Role.ASSISTANT:
        return None
    question = next((s.strip() for s in reversed(sentences(context[-1].text)) if s.rstrip().endswith(("?", "？"))), None)
    if question is None:
        return None
    quote = clip(question, QUOTE_WEIGHT)
    content = f"（问：{quote}）{said}" if is_chinese(said + question) else f"(Asked: {quote}) {said}"
    return Reading(content=content, turn_ids=(turn.id,))
