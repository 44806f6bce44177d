"""Find the times that a text speaks of, in English and Chinese, resolved against the moment it was said (SPEC D5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hindsight_langgraph.encoding import times_chinese, times_chinese_words, times_english, times_english_words
from hindsight_langgraph.encoding.times_calendar import DAY, MINUTE, Interval, Shape, Span, one_day, safe_date
from hindsight_langgraph.errors import CallError, ConfigError
from hindsight_langgraph.records import Precision, TimeAnchor

_NO_PROSE: Final = re.compile(r"https?://\S+|`[^`]*`|\S+@\S+\.\w+|[\w./-]+/[\w.-]+\.\w{1,5}\b")
_ISO: Final = re.compile(
    r"(?<![A-Za-z0-9_/-])(?P<y>(?:19|20)\d\d)(?P<s>[-/])(?P<m>0?[1-9]|1[0-2])(?P=s)(?P<d>3[01]|[12]\d|0?[1-9])(?![\d/-])"
    r"(?:(?:T|\s+)(?P<H>[01]\d|2[0-3]):(?P<M>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?P<z>Z|[+-]\d\d:?\d\d)?)?"
)
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LATIN: Final = re.compile(r"[A-Za-z]{2}")

_JOIN_CLOCK: Final = re.compile(r"[\s,，]*(?:at|by|around|about|的|before|from|on|the|in)?[\s]*(?:the\s)?", re.IGNORECASE)
_JOIN_DAY: Final = re.compile(r"[\s,，(（的]{0,3}")
_JOIN_RANGE: Final = re.compile(r"\s*(?:to|until|till|through|and|-|–|—|~|～|到|至)\s*(?:the\s)?", re.IGNORECASE)
_MOVED: Final = re.compile(
    r"\b(?:moved?|moves|postponed?|pushed?|push|rescheduled?|reschedule|shifted?|slip(?:s|ped)?|slid"
    r"|brought forward|delayed?|changed?)\b"
    r"|改|推迟|延|提前|挪|换",
    re.IGNORECASE,
)
_LATE_PART: Final = re.compile(r"evening|night|afternoon|下午|傍晚|晚", re.IGNORECASE)

_DROPPED: Final = re.compile(
    r"(?:\bnot|\bno longer|n['’]t|\boriginally|\binstead of|\brather than|\bused to be"
    r"|\b(?:moved|pushed|slipped|slid|shifted|changed|rescheduled|postponed|delayed|brought forward)(?: back| forward)? from"
    r"|不是|不再是|原定|原来|原本|本来|原计划|说好的?)"
    r"(?:\s+(?:on|at|for|until|the|planned for|from))*[\s在是定于]*$",
    re.IGNORECASE,
)
_EFFECT: Final = re.compile(
    r"\b(?:due|deadline|effective|takes? effect|took effect|cutover|go(?:es)? live|expires?|starting|starts?|as of|launch)\b"
    r"|生效|截止|截稿|到期|上线|上新|起[，。,.]?|切换|开始",
    re.IGNORECASE,
)
_OF_SOMEBODY: Final = re.compile(r"[你您我他她咱](?:们)?$")
_STEPS: Final = re.compile(
    r"先.{1,60}(?:再|然后|接着|最后)|:\s[^.!?]{0,300},[^.!?]{0,300}\bthen\b|\bhow i\b.{0,80}:|\bsteps?\b.{0,40}:",
    re.IGNORECASE | re.DOTALL,
)


def find_times(text: str, *, at: datetime | None, timezone: str = "UTC", context: str = "") -> tuple[TimeAnchor, ...]:
    """Every time expression of a text, in order, as half-open intervals.

    Args:
        text: what was said, or a query.
        at: the moment it was said. Its own offset wins unless it is UTC; then `timezone` is the speaker's zone.
            None: only absolute dates with a year are resolved, nothing is invented.
        timezone: the speaker's zone, an IANA name.
        context: the text said just before, for "two weeks after that".

    Durations, recurring times, versions, ports and counts are no times.

    Raises:
        ConfigError: `timezone` is no IANA name.
        CallError: `at` has no offset.
    """
    zone = _zone(at, timezone)
    now = at.astimezone(zone).replace(tzinfo=None) if at else None
    return tuple(_anchor(span, text, zone) for span in _spans(text, now, context))


def event_anchor(text: str, *, at: datetime | None, timezone: str = "UTC", context: str = "") -> TimeAnchor | None:
    """The one time that a memory of this text carries; arguments and errors as `find_times`.

    The exact day the thing is due or takes effect if the text names one, else the day it happened or was decided, else the week,
    else None: a month, an hour without its day, or a time inside the steps of a procedure anchors nothing.
    """
    zone = _zone(at, timezone)
    now = at.astimezone(zone).replace(tzinfo=None) if at else None
    if _STEPS.search(text):
        return None
    best: tuple[int, Span] | None = None
    for span in _spans(text, now, context):
        rank = _claim(span, text, now)
        if rank > 0 and (best is None or rank > best[0]):
            best = (rank, span)
    return _anchor(best[1], text, zone) if best else None


def dated(text: str, *, at: datetime | None, timezone: str = "UTC") -> str:
    """The text with the date behind each expression that depends on when it was said: "yesterday (2025-03-04)" (SPEC B3).

    What already names its year, an hour without its day, and what cannot be resolved stay as they are. Arguments and errors as `find_times`.
    """
    zone = _zone(at, timezone)
    now = at.astimezone(zone).replace(tzinfo=None) if at else None
    for span in reversed(_spans(text, now, "")):
        if span.shape is not Shape.CLOCK and not re.search(r"\d{4}", text[span.at : span.to]):
            end = span.at + len(text[span.at : span.to].rstrip())
            text = f"{text[:end]} ({_written(span)}){text[end:]}"
    return text


def _written(span: Span) -> str:
    first, last = span.start, span.end - MINUTE
    if span.precision is Precision.INSTANT:
        return f"{first:%Y-%m-%d %H:%M}"
    if span.precision is Precision.YEAR:
        return f"{first:%Y}"
    if span.precision is Precision.MONTH:
        return f"{first:%Y-%m}"
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


@lru_cache(maxsize=64)
def is_recurring(text: str) -> bool:
    """True when the text speaks of something that happens again and again ("every Monday", "每周一", "on Fridays")."""
    return bool(times_english_words.RECURRING.search(text) or (_HAN.search(text) and times_chinese_words.RECURRING.search(text)))


def _zone(at: datetime | None, timezone: str) -> tzinfo:
    if at is not None:
        offset = at.utcoffset()
        if offset is None or at.tzinfo is None:
            raise CallError(f"the moment {at} has no offset; pass a timezone-aware datetime")
        if offset:
            return at.tzinfo
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigError(f"{timezone!r} is no time zone; use an IANA name such as 'Europe/London'") from error


def _anchor(span: Span, text: str, zone: tzinfo) -> TimeAnchor:
    return TimeAnchor(
        start=span.start.replace(tzinfo=zone),
        end=span.end.replace(tzinfo=zone),
        precision=span.precision,
        text=text[span.at : span.to].strip(" ,，"),
    )


def _blank(match: re.Match[str]) -> str:
    return "\x00" * len(match[0])


_PIECE: Final = 600
"""Characters read at once: patterns cost up to the square of it, so a long paste is read piece by piece."""
_PIECE_END: Final = re.compile(r"[\n。！？]|[.!?;]\s|[，,]|\s")


def _spans(text: str, now: datetime | None, context: str) -> list[Span]:
    """The time expressions of a text, in order, without overlaps."""
    found: list[Span] = []
    start = 0
    while start < len(text):
        end = _cut(text, start)
        found.extend(replace(span, at=span.at + start, to=span.to + start) for span in _spans_of(text[start:end], now))
        start = end
    return _with_offsets(found, now, context)


def _cut(text: str, start: int) -> int:
    """Where the piece that begins at `start` ends: behind a sentence, else behind a word, else in the middle of one."""
    end = start + _PIECE
    if end >= len(text):
        return len(text)
    ends = [match.end() for match in _PIECE_END.finditer(text, start + _PIECE // 2, end)]
    sentences = [place for place in ends if text[place - 1] in "\n。！？" or text[place - 2] in ".!?;"]
    return (sentences or ends or [end])[-1]


def _spans_of(text: str, now: datetime | None) -> list[Span]:
    prose = _NO_PROSE.sub(_blank, text)
    found = list(_iso(prose))
    if _LATIN.search(prose):
        found.extend(times_english.read_english(times_english_words.RECURRING.sub(_blank, prose), now))
    if _HAN.search(prose):
        found.extend(times_chinese.read_chinese(times_chinese_words.RECURRING.sub(_blank, prose), now))
    return _merged(_longest(found), prose)


def _iso(text: str) -> list[Span]:
    spans: list[Span] = []
    for match in _ISO.finditer(text):
        day = safe_date(int(match["y"]), int(match["m"]), int(match["d"]))
        if day is None:
            continue
        interval = one_day(day)
        if match["H"]:
            start = interval.start + timedelta(hours=int(match["H"]), minutes=int(match["M"]))
            interval = Interval(start, start + MINUTE, Precision.INSTANT, Shape.DATE)
        spans.append(interval.placed(*match.span()))
    return spans


def _longest(found: Sequence[Span]) -> list[Span]:
    """Of overlapping spans the longest; an hour may overlap the part of the day that its date ends with."""
    kept: list[Span] = []
    for span in sorted(found, key=lambda s: (s.at - s.to, s.at)):
        if all(span.to <= other.at or span.at >= other.to or _shares_daypart(span, other) for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda s: (s.at, s.to))


def _shares_daypart(one: Span, other: Span) -> bool:
    date, clock = (one, other) if other.shape is Shape.CLOCK else (other, one)
    return clock.shape is Shape.CLOCK and date.shape is not Shape.CLOCK and date.at < clock.at < date.to < clock.to


def _merged(spans: Sequence[Span], text: str) -> list[Span]:
    """Neighbours that are one expression joined: a day with its hour, a weekday with its date, the two ends of a range."""
    result: list[Span] = []
    for span in spans:
        joined = _join(result[-1], span, text) if result else None
        if joined is None:
            result.append(span)
        else:
            result[-1] = joined
    return result


_DAYLIKE: Final = frozenset({Shape.DATE, Shape.WEEKDAY})


def _join(left: Span, right: Span, text: str) -> Span | None:
    gap = text[left.to : right.at]
    whole_day = {left.precision, right.precision} <= {Precision.DAY, Precision.INSTANT}
    if not whole_day:
        return None
    if left.shape in _DAYLIKE and right.shape is Shape.CLOCK and _JOIN_CLOCK.fullmatch(gap):
        return _at_hour(left, right, text)
    if left.shape is Shape.CLOCK and right.shape in _DAYLIKE and _JOIN_CLOCK.fullmatch(gap):
        return _at_hour(right, left, text)
    if {left.shape, right.shape} == {Shape.DATE, Shape.WEEKDAY} and _JOIN_DAY.fullmatch(gap):
        date = left if left.shape is Shape.DATE else right
        return replace(date, at=left.at, to=right.to)
    if left.shape in _DAYLIKE and right.shape in _DAYLIKE and _JOIN_RANGE.fullmatch(gap):
        if _MOVED.search(text[max(0, left.at - 40) : left.at]) or "and" in gap.lower():
            return None
        end = right.end if right.start > left.start else right.end + 7 * DAY if right.shape is Shape.WEEKDAY else None
        return replace(left, end=end, precision=Precision.RANGE, shape=Shape.DATE, to=right.to) if end else None
    return None


def _at_hour(day: Span, clock: Span, text: str) -> Span:
    hour = clock.start.hour
    midnight = day.start.replace(hour=0, minute=0)
    if not clock.sure:
        hour %= 12
        if hour < 7 or _LATE_PART.search(text[day.at : day.to]):
            hour += 12
    elif clock.start.hour == 0 and "midnight" in text[clock.at : clock.to].lower():
        hour = 24
    start = midnight + timedelta(hours=hour, minutes=clock.start.minute)
    if hour < 6 and re.search(r"last night|昨晚|昨夜", text[day.at : day.to], re.IGNORECASE):
        start += DAY
    at, to = min(day.at, clock.at), max(day.to, clock.to)
    return Span(start=start, end=start + MINUTE, precision=Precision.INSTANT, shape=Shape.DATE, at=at, to=to)


_FAR_BASE: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - distances are counted from here, see `times_english_rules`


def _with_offsets(spans: list[Span], now: datetime | None, context: str) -> list[Span]:
    """Distances resolved from the date said before; one without a base is dropped, with the day number that depends on it."""
    result: list[Span] = []
    loose = -100
    for span in spans:
        if span.shape is not Shape.OFFSET:
            if span.sure or span.at - loose > 12:
                result.append(span)
            continue
        base = next((s for s in reversed(result) if s.shape in _DAYLIKE), None) or _last_date(context, now)
        loose = span.to
        if base is not None:
            shift = span.start - _FAR_BASE
            result.append(replace(span, start=base.start + shift, end=base.start + shift + DAY, shape=Shape.DATE))
    return result


def _last_date(context: str, now: datetime | None) -> Span | None:
    spans = _spans(context, now, "") if context else []
    return next((span for span in reversed(spans) if span.shape in _DAYLIKE), None)


def _claim(span: Span, text: str, now: datetime | None) -> int:
    """How strongly a time is the event's own: 4 due and ahead, 3 one of the two, 2 the day it happened, 1 the week, 0 none."""
    if span.precision is not Precision.WEEK and span.shape not in {Shape.DATE, Shape.WEEKDAY, Shape.MOMENT}:
        return 0
    before = text[max(0, span.at - 60) : span.at]
    if before.endswith(("从", "由")) and _MOVED.search(text[span.to : span.to + 6]):
        return 0
    if _DROPPED.search(before) or (_OF_SOMEBODY.search(before) and text.startswith("的", span.to)):
        return 0
    ahead = now is not None and span.start.date() > now.date()
    if ahead and span.shape is Shape.WEEKDAY and is_recurring(text):
        return 0  # beside a habit, a bare weekday is a habit too
    if span.precision is Precision.WEEK:
        return 1
    near = text[max(0, span.at - 25) : span.to + 12]
    return 2 + ahead + bool(_EFFECT.search(near))
