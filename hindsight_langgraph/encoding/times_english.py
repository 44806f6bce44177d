"""Read English time expressions into spans of the speaker's wall clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from hindsight_langgraph.encoding import times_match
from hindsight_langgraph.encoding.times_calendar import Span
from hindsight_langgraph.encoding.times_english_rules import (
    is_no_period,
    is_verb,
    read_ago,
    read_ahead,
    read_clock,
    read_day_of_month,
    read_days_of_month,
    read_holiday,
    read_last_day,
    read_month_alone,
    read_month_day,
    read_month_days,
    read_near_day,
    read_offset,
    read_period,
    read_quarter,
    read_stretch,
    read_weekday,
    read_year,
)
from hindsight_langgraph.encoding.times_english_words import (
    AFTER_DAY_OF_MONTH,
    COUNT,
    DAY_NUMBER,
    DAYPART,
    MONTH,
    UNIT,
    WEEKDAY,
    WEEKDAY_SHORT,
    YEAR,
    tense,
)
from hindsight_langgraph.encoding.times_match import Rules

_HINT = re.compile(
    r"day|tomorrow|night|morning|evening|noon|week|month|quarter|year|ago|hour|minute|o['’]clock|past|[ap]\.?m\b"
    r"|christmas|halloween|easter|thanksgiving"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d(?:st|nd|rd|th)\b|\bq[1-4]\b|\b(?:19|20)\d\d\b|\d:\d\d|\bat"
    r" \w|by (?:mon|tue|wed|thu|fri|sat|sun)"
    r"|\b(?:on|next|last|this|until|before|after|from) (?:mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_CLOCK = (
    r"(?:(?:half|(?:a )?quarter|(?:\d{1,2}|five|ten|twenty|twenty-five)(?: minutes?)?) (?:past|to) "
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\b"
    r"|\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|(?:[01]?\d|2[0-3]):[0-5]\d(?![:\d])"
    r"|(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) o['’]clock|noon\b|midday\b|midnight\b)"
)
_AT_HOUR = (
    r"\bat (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?=\s*(?:$|[.,;!?)]|sharp|on\b|in"
    r" the\b|and\b|today|tomorrow|tonight))"
)
_TAIL_YEAR = rf"(?:,?\s+(?P<year>{YEAR}))?"
_MONTH_OR_PREP = (
    r"(?:(?<=\bin )|(?<=\bby )|(?<=\buntil )|(?<=\bsince )|(?<=\bfrom )|(?<=\bbefore )|(?<=\bafter )|(?<=\bduring )|"
    r"(?<=\btill )|(?<=\bfor )"
    r"|(?<=\bthrough )|(?P<which>last|past|next|this|coming)\s+|(?P<part>early|late|mid|middle of|end of|the end of"
    r"|start of|beginning of|close of)[ -])"
)
_NEEDS_NOW: Final[Rules] = (
    (
        _compile(
            rf"\b(?P<word>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow|tonight"
            rf"|last night|last evening"
            rf"|this (?:morning|afternoon|evening))(?![\w-]){DAYPART}"
        ),
        read_near_day,
    ),
    (
        _compile(
            rf"(?:\b(?P<which>last|next|this past|this coming|this|coming|past|previous)\s+)?\b"
            rf"(?P<weekday>{WEEKDAY})\b(?P<fortnight> week\b)?"
            rf"(?:(?:,?\s+(?:of\s+)?)(?P<week>last|next|this|previous)\s+week\b)?{DAYPART}"
        ),
        read_weekday,
    ),
    (
        _compile(
            rf"\b(?:a|one) (?P<fortnight>week) (?:on|from) (?P<weekday>{WEEKDAY})\b(?P<which>)(?P<week>)",
        ),
        read_weekday,
    ),
    (
        _compile(
            rf"\b(?:(?P<which>last|next|this)|on|by|until|till|from|before|after|since)\s+(?P<weekday>{WEEKDAY_SHORT})"
            rf"(?=\s|[,.;!?)]|$)(?P<fortnight>)(?P<week>)"
        ),
        read_weekday,
    ),
    (
        _compile(
            r"(?:\b(?P<part>earlier|later|late|early|mid|middle of|(?:the )?end of|(?:the )?start of|(?:the"
            r" )?beginning of|close of)[ -])?"
            r"\b(?:the\s+)?(?P<which>last|past|previous|this|next|coming|following|the|over the|at the)\s+"
            r"(?P<unit>week|weekend|month|quarter|year)(?![\w-])"
            r"(?:\s+(?P<beyond>before last|after next)\b)?"
        ),
        lambda found: None if is_no_period(found) else read_period(found),
    ),
    (_compile(rf"\b(?P<count>{COUNT})\s+(?P<unit>{UNIT})\s+ago\b"), read_ago),
    (
        _compile(
            rf"\b(?:(?P<in>in)\s+(?P<count>{COUNT})\s+(?P<unit>{UNIT})(?!\s+of)(?:['’]s?\s+time)?)(?!\s+(?:from now"
            rf"|flat|or less))"
        ),
        read_ahead,
    ),
    (_compile(rf"(?P<in>)\b(?P<count>{COUNT})\s+(?P<unit>{UNIT})\s+(?:from now|from today)\b"), read_ahead),
    (
        _compile(
            rf"\b(?:over|in|for|during|within)?\s*(?:the\s+)?(?P<way>last|past|previous|next|coming|within)\s+"
            rf"(?P<count>{COUNT})\s+(?P<unit>{UNIT})"
        ),
        read_stretch,
    ),
    (
        _compile(
            rf"\b(?P<count>{COUNT})\s+(?P<unit>{UNIT})\s+(?P<side>after that|later|afterwards|after it|earlier|before that)\b"
        ),
        read_offset,
    ),
    (
        _compile(
            rf"(?:(?<=\bon )|(?<=\bby )|(?<=\buntil )|(?<=\btill )|(?<=\bfrom )|(?<=\bsince )|(?<=\bbefore )|"
            rf"(?<=\bafter )|(?<=\baround )|(?<=\bto )|(?<=\bis )"
            rf"|(?<=\bfor )|(?<=day )|(?<=['’]s ))the (?P<day>\d{{1,2}}(?:st|nd|rd|th)){AFTER_DAY_OF_MONTH}"
        ),
        read_day_of_month,
    ),
    (
        _compile(
            r"\bfrom the (?P<day>\d{1,2}(?:st|nd|rd|th)) (?:to|until|till|through) the (?P<last>\d{1,2}(?:st|nd|rd"
            r"|th))\b(?P<month>)"
        ),
        read_days_of_month,
    ),
    (_compile(rf"(?:\b(?:at|by|around|about|before|after|until|from)\s+)?(?<![\w:.])(?P<clock>{_CLOCK})"), read_clock),
    (_compile(rf"(?P<clock>{_AT_HOUR})"), read_clock),
    (_compile(r"\b(?:the )?last day of (?P<which>this|next|last) month\b(?P<month>)(?P<year>)"), read_last_day),
)
_ABSOLUTE: Final[Rules] = (
    (
        _compile(
            rf"(?:\b{WEEKDAY}\b,?\s+)?(?:\bthe\s+)?\b(?P<day>{DAY_NUMBER})(?:\s+of)?\s+(?P<month>{MONTH})(?!\w){_TAIL_YEAR}"
        ),
        read_month_day,
    ),
    (
        _compile(
            rf"(?:\b{WEEKDAY}\b,?\s+)?\b(?P<month>{MONTH})\s+(?:the\s+)?(?P<day>{DAY_NUMBER})(?![:.]\d|\s+(?:years?"
            rf"|people|times)){_TAIL_YEAR}"
        ),
        lambda found: None if is_verb(found) else read_month_day(found),
    ),
    (
        _compile(
            rf"\b(?:from |between )?(?:the )?(?P<day>{DAY_NUMBER})\s?(?:to|-|–|until|till|through|and)\s?(?:the )?"
            rf"(?P<last>{DAY_NUMBER})(?:\s+of)?\s+(?P<month>{MONTH})(?!\w){_TAIL_YEAR}"
        ),
        lambda found: read_days_of_month(found) if found.now or found["year"] else None,
    ),
    (
        _compile(rf"\b(?P<month>{MONTH})\s+(?P<day>{DAY_NUMBER})\s?(?:-|–|to|through)\s?(?P<last>{DAY_NUMBER}){_TAIL_YEAR}"),
        read_month_days,
    ),
    (_compile(rf"\b(?:the )?last day of (?P<month>{MONTH})(?!\w){_TAIL_YEAR}(?P<which>)"), read_last_day),
    (_compile(rf"{_MONTH_OR_PREP}(?P<month>{MONTH})(?![\w-]){_TAIL_YEAR}"), read_month_alone),
    (_compile(rf"\b(?P<month>{MONTH})\s+(?P<year>{YEAR})(?P<part>)(?P<which>)"), read_month_alone),
    (
        _compile(rf"\b(?P<quarter>q[1-4]|(?:first|second|third|fourth) quarter)\b(?:\s*(?:of|,)?\s*(?P<year>{YEAR}))?"),
        read_quarter,
    ),
    (
        _compile(
            rf"(?:(?<=\bin )|(?<=\bsince )|(?<=\bby )|(?<=\bbefore )|(?<=\buntil )|(?<=\bback in )|(?<=\bof )|"
            rf"(?<=\bduring )|(?<=\bthrough ))(?P<year>{YEAR})"
            r"(?=\s*(?:$|[.,;!?)]|(?:and|when|we|i|it|he|she|they|the|as|at|with|for|but|because|already|that|was|is)\b))"
        ),
        read_year,
    ),
    (
        _compile(
            r"(?:\b(?P<which>last|this past|this|next)\s+)?\b(?P<holiday>christmas(?: eve| day)?|xmas|boxing day|new"
            r" year['’]?s?(?: eve| day)|halloween"
            rf"|valentine['’]?s day|thanksgiving|easter(?: sunday| monday)?|good friday|independence day)\b(?:,?\s+"
            rf"(?P<year>{YEAR}))?"
        ),
        read_holiday,
    ),
)


def read_english(text: str, now: datetime | None) -> Iterator[Span]:
    """Every English time expression, overlapping ones included; `now` is the speaker's wall clock, None when unknown."""
    if not _HINT.search(text):
        return
    rules = _ABSOLUTE if now is None else (*_ABSOLUTE, *_NEEDS_NOW)
    yield from times_match.read(rules, text, now, tense)
