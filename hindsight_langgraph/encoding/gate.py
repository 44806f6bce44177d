"""Decides whether a turn is worth remembering (SPEC B1).

Events are written, not turns: a stated preference, fact or decision, a change of a task, a failure with its cause, a correction.
Chit-chat, acknowledgements and thinking aloud are not. What the agent itself says is kept only as what a user's choice refers to;
what a tool says, only as a failure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.encoding.assertions import triples
from hindsight_langgraph.encoding.cues import asks_for_value, asks_to_remember, cues, is_question, is_retraction
from hindsight_langgraph.encoding.features import WORD_FEATURES, turn_features, word_features
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.split import sentences, weight
from hindsight_langgraph.records import Record, Role, Turn, Unit01

ANSWER_WEIGHT: Final = 120
"""A heavier turn is judged by what it says, not by what it answers."""
STEPS: Final = 2
"""Ends of clauses in a text that gives an order of steps."""
_CLAUSE_END: Final = re.compile(r"[,;，；、]|\band\b|再|然后|最后")
_EMPTY: Final = frozenset({"hedge", "acknowledgement", "question", "joke", "greeting", "request"})
"""Cues of a text that answers and states nothing, whatever its form."""
_PASSING: Final = frozenset({"elsewhere", "sentiment"})
"""Cues of talk about the moment."""


class Verdict(Record):
    """What the gate says of one text, with its reasons."""

    keep: bool
    score: Unit01
    """Probability that it is worth remembering."""
    reasons: tuple[str, ...] = ()
    """The cues that weighed most, or the rule that settled it."""


def judge(
    turn: Turn,
    *,
    previous: str,
    heads: Heads,
    vector: Sequence[float] | None = None,
    previous_vector: Sequence[float] | None = None,
) -> Verdict:
    """Judge one turn, or one segment of it.

    Args:
        turn: what was said.
        previous: text of the turn before, "" at the beginning.
        heads: heads of the space that the vectors come from, or heads over words (`heads.space` None), which ignore vectors.
        vector: embedding of `features.embedding_text(turn)`.
        previous_vector: the same of the turn before.
    """
    settled = _by_rule(turn)
    if settled is not None:
        return settled
    words = word_features(turn.text, previous)
    able = heads.reading(vector)
    features = words if able.space is None or vector is None else turn_features(words, vector, previous_vector)
    ((_, score),) = able.gate.probabilities(features).items()
    if is_retraction(turn.text) and "question" not in cues(turn.text):
        return Verdict(keep=True, score=max(score, able.gate.threshold), reasons=("takes back",))
    if score < able.gate.threshold and (stated := triples(turn.text)):
        fact = stated[0][1]
        return Verdict(keep=True, score=able.gate.threshold, reasons=(f"states {fact.subject} {fact.attribute}",))
    if score < able.gate.threshold and (reason := _says_something(turn.text, previous)):
        return Verdict(keep=True, score=able.gate.threshold, reasons=(reason,))
    keep = score >= able.gate.threshold
    return Verdict(keep=keep, score=score, reasons=_reasons(words, able, keep=keep))


def _says_something(text: str, previous: str) -> str:
    """Why a short text is kept that the head finds too plain: it asks for it, answers a question for a value, or states how a thing is; or ""."""
    found = cues(text)
    if asks_to_remember(text) and not found & _EMPTY:
        return "asks to be remembered"
    if not found & _EMPTY and previous and weight(text) <= ANSWER_WEIGHT and _is_asked_for_value(previous):
        return "answers what was asked"
    if "procedure" in found and not found & _EMPTY and len(_CLAUSE_END.findall(text)) >= STEPS:
        return "gives steps"
    if "state" in found and not found & (_EMPTY | _PASSING) and len(sentences(text.strip())) == 1:
        return "states how a thing is"
    return ""


def _is_asked_for_value(previous: str) -> bool:
    question = next((s.strip() for s in reversed(sentences(previous)) if s.rstrip().endswith(("?", "？"))), "")
    return asks_for_value(question)


def needs_vector(turn: Turn) -> bool:
    """Whether a head has to look at a turn at all; the others cost no embedding."""
    return _by_rule(turn) is None


def _by_rule(turn: Turn) -> Verdict | None:
    if not turn.text.strip():
        return Verdict(keep=False, score=0.0, reasons=("blank",))
    if turn.role is Role.USER:
        asks = all(is_question(sentence) for sentence in sentences(turn.text) if sentence.strip())
        return Verdict(keep=False, score=0.0, reasons=("only asks",)) if asks else None
    if turn.role is Role.TOOL and turn.error:
        return Verdict(keep=True, score=1.0, reasons=("tool failure",))
    return Verdict(keep=False, score=0.0, reasons=(f"said by the {turn.role}",))


def _reasons(words: NDArray[np.float64], heads: Heads, *, keep: bool) -> tuple[str, ...]:
    """The word features that pushed most towards the verdict."""
    pushes = heads.gate.weights[0, : len(WORD_FEATURES)] * words
    order: list[int] = np.argsort(-pushes if keep else pushes).tolist()
    found: list[str] = [WORD_FEATURES[i] for i in order[:3] if (pushes[i] > 0) == keep and pushes[i] != 0]
    return tuple(found) or ("meaning",)
