"""One match of a time pattern, with what a rule needs to resolve it; shared by the languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from hindsight_langgraph.encoding.times_calendar import Interval, Span

Tense = Callable[[str, int, int], bool | None]
"""Of a text and a stretch of it: whether the clause round it speaks of the past (True), the future (False), or shows neither."""


@dataclass(frozen=True, slots=True)
class Found:
    """A match, the text it stands in, and the speaker's wall clock (None when nobody knows it)."""

    match: re.Match[str]
    text: str
    now: datetime | None
    tense: Tense

    def __getitem__(self, group: str) -> str:
        """A named group in lower case, empty when it took no part."""
        return (self.match[group] or "").lower()

    @property
    def today(self) -> date:
        """The speaker's day; only for rules that need the moment."""
        return self.clock.date()

    @property
    def clock(self) -> datetime:
        """The speaker's wall clock; only for rules that need the moment."""
        assert self.now is not None
        return self.now

    @property
    def past(self) -> bool | None:
        """The tense of the clause round the match."""
        return self.tense(self.text, *self.match.span())


Rule = Callable[[Found], Interval | None]
Rules = Sequence[tuple[re.Pattern[str], Rule]]


def clause_round(text: str, start: int, end: int, boundary: re.Pattern[str]) -> str:
    """What stands in one clause with text[start:end], without that stretch itself."""
    left = 0
    for mark in boundary.finditer(text, 0, start):
        left = mark.end()
    after = boundary.search(text, end)
    return f"{text[left:start]} {text[end : after.start() if after else len(text)]}"


def read(rules: Rules, text: str, now: datetime | None, tense: Tense) -> Iterator[Span]:
    """Every expression that a rule resolves, overlapping ones included."""
    for pattern, rule in rules:
        for match in pattern.finditer(text):
            interval = rule(Found(match, text, now, tense))
            if interval is not None:
                yield interval.placed(*match.span())
