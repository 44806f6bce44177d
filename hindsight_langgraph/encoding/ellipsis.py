"""Fill in what a short turn leaves out, from the turns before it: answers, choices among options, withdrawals (issue point 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from hindsight_langgraph.encoding.choices import LOOK_BACK, find_choice
from hindsight_langgraph.encoding.clauses import speaks_for_itself
from hindsight_langgraph.encoding.cues import cues, is_chinese
from hindsight_langgraph.encoding.split import clip, sentences, weight
from hindsight_langgraph.records import Kind, Role, Turn

ANSWER_WEIGHT: Final = 150
"""A heavier turn says for itself what it is about."""
QUOTE_WEIGHT: Final = 240

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


def _choice(turn: Turn, said: str, context: Sequence[Turn]) -> Reading | None:
    found = find_choice(said, context)
    if found is None:
        return None
    chosen, listing = clip(found.option, QUOTE_WEIGHT), clip(found.listing.text.strip(), QUOTE_WEIGHT)
    chinese = is_chinese(said + listing)
    content = f"{said} 选的是：{chosen}（选项：{listing}）" if chinese else f"{said} Chosen: {chosen} (options: {listing})"
    return Reading(content=content, turn_ids=(found.listing.id, turn.id), kind=Kind.DECISION)


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
    if not context or context[-1].role is not Role.ASSISTANT or speaks_for_itself(said):
        return None
    question = next((s.strip() for s in reversed(sentences(context[-1].text)) if s.rstrip().endswith(("?", "？"))), None)
    if question is None:
        return None
    quote = clip(question, QUOTE_WEIGHT)
    content = f"（问：{quote}）{said}" if is_chinese(said + question) else f"(Asked: {quote}) {said}"
    return Reading(content=content, turn_ids=(turn.id,))
