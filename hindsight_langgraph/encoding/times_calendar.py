"""Date arithmetic in the speaker's wall clock: spans of a text, before they become instants.

Everything here is naive on purpose: a "day" is the speaker's day. `times` localises the result once, at the end.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from hindsight_langgraph.records import Precision

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


class Shape(StrEnum):
    """What sort of expression a span was read from; it decides how neighbours merge."""

    DATE = "date"
    WEEKDAY = "weekday"
    """A weekday that its week is not named with: its direction depends on the tense."""
    CLOCK = "clock"
    """An hour without its day."""
    MOMENT = "moment"
    WIDE = "wide"
    """A week or longer, or a stretch of days."""
    OFFSET = "offset"
    """Counted from something said before ("two weeks after that")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One time expression: where it stands in the text, and the wall-clock interval that it means."""

    start: datetime
    end: datetime
    precision: Precision
    shape: Shape
    at: int
    to: int
    sure: bool = True
    """False for an hour that may be before or after noon."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A wall-clock interval, before it is tied to its place in the text."""

    start: datetime
    end: datetime
    precision: Precision
    shape: Shape
    sure: bool = True

    def placed(self, at: int, to: int) -> Span:
        """This interval as read from text[at:to]."""
        return Span(start=self.start, end=self.end, precision=self.precision, shape=self.shape, at=at, to=to, sure=self.sure)


def midnight(day: date) -> datetime:
    """The first moment of a day."""
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001 - wall clock, localised by `times`


def one_day(day: date, shape: Shape = Shape.DATE) -> Interval:
    """A whole day."""
    start = midnight(day)
    return Interval(start, start + DAY, Precision.DAY, shape)


def days(first: date, last: date, precision: Precision = Precision.RANGE, shape: Shape = Shape.WIDE) -> Interval:
    """Every day from `first` to `last`, both included."""
    return Interval(midnight(first), midnight(last) + DAY, precision, shape)


def moment(at: datetime, shape: Shape = Shape.MOMENT, *, sure: bool = True) -> Interval:
    """One minute."""
    start = at.replace(second=0, microsecond=0)
    return Interval(start, start + MINUTE, Precision.INSTANT, shape, sure)


def week(day: date, shift: int = 0) -> Interval:
    """The week (Monday first) of a day, `shift` weeks away."""
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=shift)
    return days(monday, monday + timedelta(days=6), Precision.WEEK)


def weekend(day: date, shift: int = 0) -> Interval:
    """Saturday with Sunday of the week of a day, `shift` weeks away."""
    saturday = day - timedelta(days=day.weekday()) + timedelta(days=5, weeks=shift)
    return days(saturday, saturday + DAY)


def add_months(day: date, shift: int) -> date:
    """The same day `shift` months on, or that month's last one."""
    index = day.year * 12 + day.month - 1 + shift
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def month(year: int, number: int) -> Interval:
    """A whole month."""
    first = date(year, number, 1)
    return days(first, last_of_month(first), Precision.MONTH)


def last_of_month(day: date) -> date:
    """The last day of a day's month."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def quarter(year: int, number: int) -> Interval:
    """Quarter 1 to 4; numbers outside run into the years beside."""
    first = add_months(date(year, 1, 1), 3 * (number - 1))
    return days(first, last_of_month(add_months(first, 2)), Precision.QUARTER)


def quarter_of(day: date) -> int:
    """The quarter, 1 to 4, that a day lies in."""
    return (day.month - 1) // 3 + 1


def year(number: int) -> Interval:
    """A whole year."""
    return days(date(number, 1, 1), date(number, 12, 31), Precision.YEAR)


def few_ago(day: date, unit: str) -> Interval | None:
    """What "a few" days, weeks, months or years (by first letter) ago means: two to five. None for anything shorter."""
    length = {"d": 1, "w": 7, "m": 30, "y": 365}.get(unit)
    return days(day - timedelta(days=5 * length), day - timedelta(days=2 * length)) if length else None


def edge(whole: Interval, which: str) -> Interval:
    """The "start", "middle" or "end" of a long interval: about a third; of a month the last three days, of a week two."""
    first, last = whole.start.date(), (whole.end - DAY).date()
    length = (last - first).days + 1
    part = {Precision.WEEK: 2, Precision.MONTH: 10}.get(whole.precision, max(1, length // 4))
    if which == "end":
        tail = {Precision.WEEK: 2, Precision.MONTH: 3}.get(whole.precision, 31)
        return days(last - timedelta(days=tail - 1), last)
    if which == "middle":
        return days(first + timedelta(days=(length - part) // 2), first + timedelta(days=(length + part) // 2 - 1))
    return days(first, first + timedelta(days=part - 1))


def safe_date(year_number: int, month_number: int, day: int) -> date | None:
    """The date, or None where the calendar has no such day."""
    try:
        return date(year_number, month_number, day)
    except ValueError:
        return None


def nearest_year(now: date, month_number: int, day: int, *, past: bool | None) -> date | None:
    """The date of a month and day without its year: the last one when `past`, the next one when not, else the closest.

    The tense is read from few words, so the calendar overrules it where it is lopsided: nobody names a day of eleven months ago
    without its year when the next such day is weeks away.
    """
    options = [found for y in range(now.year - 4, now.year + 5) if (found := safe_date(y, month_number, day))]
    if not options:
        return None
    closest = min(options, key=lambda found: (abs((found - now).days), found < now))
    if past is None or abs((closest - now).days) < 60:
        return closest
    return max(found for found in options if found <= now) if past else min(found for found in options if found >= now)


def day_of_month(now: date, day: int, *, past: bool | None) -> date | None:
    """The day "the 14th": the last one when `past`, else the next one, today included."""
    step = -1 if past else 1
    for shift in range(13):
        first = add_months(now.replace(day=1), step * shift)
        found = safe_date(first.year, first.month, day)
        if found and (found <= now if past else found >= now):
            return found
    return None


def weekday_near(now: date, weekday: int, *, past: bool | None) -> date:
    """The last such weekday before today when `past`, else the next one after today."""
    ahead = (weekday - now.weekday()) % 7 or 7
    return now + timedelta(days=ahead - 7 if past and ahead != 7 else -7 if past else ahead)


def weekday_of_week(now: date, weekday: int, shift: int) -> date:
    """A weekday of the week `shift` weeks away from this one (Monday first)."""
    return now - timedelta(days=now.weekday()) + timedelta(days=weekday, weeks=shift)


def month_near(now: date, number: int, *, past: bool | None) -> Interval:
    """A month without its year: the last one when `past`, else the present or next one."""
    year_number = now.year
    if past and number > now.month:
        year_number -= 1
    elif not past and number < now.month:
        year_number += 1
    return month(year_number, number)


def easter(year_number: int) -> date:
    """Easter Sunday (the anonymous Gregorian algorithm, Meeus 1991)."""
    century, remainder = divmod(year_number, 100)
    golden = year_number % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    offset = (32 + 2 * (century % 4) + 2 * (remainder // 4) - epact - remainder % 4) % 7
    correction = (golden + 11 * epact + 22 * offset) // 451
    number = epact + offset - 7 * correction + 114
    return date(year_number, number // 31, number % 31 + 1)
