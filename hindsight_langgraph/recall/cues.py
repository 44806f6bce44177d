"""Read from a query what to search by (SPEC D4, D5)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.encoding.entities import AliasTable, find_entities
from hindsight_langgraph.encoding.times import find_times
from hindsight_langgraph.recall import phrases
from hindsight_langgraph.recall.recollection import Cues, Query, Question

DISTANT: Final = timedelta(days=90)
"""From this age on a unit may be in cold storage (SPEC F7)."""
BACKWARD: Final = (Question.WHEN, Question.EARLIEST, Question.BEFORE)
"""Questions that what was superseded may answer."""
WALKING: Final = (Question.OUTCOME, Question.LATEST, Question.EARLIEST, Question.AFTER, Question.BEFORE)
"""Questions that go from one event to another."""


def read_cues(query: Query, *, now: datetime, timezone: str = "UTC", aliases: AliasTable | None = None) -> Cues:
    """The cues of a query; relative times are read against `now` in the speaker's zone."""
    words, text = query.text or query.composite, query.composite
    known = aliases or AliasTable()
    named = (*(known.resolve(name) for name in query.entities), *find_entities(words, known))
    times = find_times(words, at=now, timezone=timezone)
    question = next((kind for kind, pattern in phrases.QUESTIONS if pattern.search(words)), Question.STATE)
    history, past = bool(phrases.HISTORY.search(words)), bool(phrases.PAST.search(words)) or any(t.end <= now for t in times)
    return Cues(
        text=text,
        entities=tuple(dict.fromkeys(named)),
        times=times,
        topics=tuple(dict.fromkeys(lexical.terms(phrases.USED_TO.sub(" ", text)))),
        question=question,
        event=_event(words, question),
        through=bool(phrases.THROUGH.search(words)),
        background=bool(phrases.BACKGROUND.search(words)),
        history=history,
        past=past,
        backward=history or question in BACKWARD or any(t.end <= now for t in times),
        distant=bool(phrases.DISTANT.search(words)) or any(time.end < now - DISTANT for time in times),
    )


def _event(words: str, question: Question) -> tuple[str, ...]:
    """The terms of the clause after "after" or before 之后; else all of the question but the words that ask."""
    if question not in WALKING:
        return ()
    clause = next((found["event"] for pattern in phrases.EVENT if (found := pattern.search(words))), "")
    return tuple(dict.fromkeys(lexical.terms(phrases.FRAME.sub(" ", clause or words))))
