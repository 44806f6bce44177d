"""What is asked of the answering and of the judging model; the structure is that of LongMemEval's and LoCoMo's own prompts, the words ours."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import snowballstemmer

Messages = list[tuple[str, str]]
"""(role, text), as LangChain chat models take them."""

_ANSWER: Final = """\
Below is what is on record of earlier conversations. Answer the question from it.

Record:
{record}

Today is {today}.
Question: {question}
{style}
Answer:"""
_STYLE: Final = {
    "longmemeval": "If the record does not hold the answer, say that you do not know.",
    "locomo": "Answer with a short phrase, in the record's own words where that is possible. Write dates out, as in 7 May 2023. If the"
    " record does not hold the answer, say: not mentioned.",
}

_VERDICT: Final = """\
A question, the correct answer, and the response of a model follow. Does the response give the correct answer?
{rule}

Question: {question}
Correct answer: {answer}
Response: {response}

Reply with yes or no and nothing else."""
_REFUSAL: Final = """\
A question that cannot be answered, the reason why, and the response of a model follow. Does the response say that it cannot be answered,
be it that something is missing or that only something else is known?

Question: {question}
Reason: {answer}
Response: {response}

Reply with yes or no and nothing else."""
_WHOLE: Final = "Yes if it says the same, or has every step that leads there. No if it gives only a part of it."
_RULES: Final = {
    "temporal-reasoning": f"{_WHOLE} A count of days, weeks or months may be off by one.",
    "knowledge-update": "Yes if it gives the latest state, even where it tells the earlier one as well.",
    "single-session-preference": "The correct answer tells what a response to this user should heed. Yes if it makes use of what the user"
    " said of themselves; it need not heed every point.",
}
UNANSWERABLE: Final = frozenset({"abstention", "5"})
"""Categories whose questions have no answer: those of LongMemEval, and LoCoMo's adversarial ones."""
_NOT_MENTIONED: Final = "not mentioned in the conversation"
_WORD: Final = re.compile(r"[^\W_]+")
_ARTICLES: Final = frozenset({"a", "an", "the", "and"})


def ask_for_answer(name: str, *, record: str, question: str, today: str) -> Messages:
    """The request for an answer from what was recalled, or from the whole history."""
    return [("user", _ANSWER.format(record=record or "(nothing)", question=question, today=today, style=_STYLE[name]))]


def ask_for_verdict(*, category: str, question: str, answer: str, response: str) -> Messages:
    """The request to judge an answer."""
    if category in UNANSWERABLE:
        return [("user", _REFUSAL.format(question=question, answer=answer or _NOT_MENTIONED, response=response))]
    return [("user", _VERDICT.format(question=question, answer=answer, response=response, rule=_RULES.get(category, _WHOLE)))]


def verdict_of(reply: str) -> bool | None:
    """What a judge said; None when it is neither yes nor no."""
    words = _WORD.findall(reply.lower())
    return {"yes": True, "no": False}.get(words[0]) if words else None


def f1(response: str, answer: str) -> float:
    """LoCoMo's own measure: the overlap of stemmed words, without articles, from 0 to 1."""
    stem = snowballstemmer.stemmer("porter").stemWord
    said, wanted = ([stem(word) for word in _WORD.findall(text.lower()) if word not in _ARTICLES] for text in (response, answer))
    common = sum((Counter(said) & Counter(wanted)).values())
    return 2 * common / (len(said) + len(wanted)) if common else 0.0
