"""Resolve matches of English time patterns to wall-clock intervals."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, timedelta

from hindsight_langgraph.encoding import times_calendar as cal
from hindsight_langgraph.encoding.times_calendar import Interval, Shape
from hindsight_langgraph.encoding.times_english_words import (
    ORDINALS,
    clock_reading,
    day_number,
    month_number,
    number,
    tense,
    weekday_number,
)
from hindsight_langgraph.encoding.times_match import Found
from hindsight_langgraph.records import Precision


def read_near_day(found: Found) -> Interval | None:
    """Such as "Yesterday", "tonight", "the day after tomorrow"."""
    word = " ".join(found["word"].split())
    shift = {
        "the day before yesterday": -2,
        "day before yesterday": -2,
        "yesterday": -1,
        "last night": -1,
        "last evening": -1,
        "tomorrow": 1,
        "the day after tomorrow": 2,
        "day after tomorrow": 2,
    }.get(word, 0)
    return cal.one_day(found.today + timedelta(days=shift))


def read_weekday(found: Found) -> Interval | None:
    """Such as "Last Friday", "Tuesday next week", "Friday week", "on Monday"."""
    weekday = weekday_number(found["weekday"])
    which = " ".join((found["which"] or found["week"] or "").split())
    if found["fortnight"]:
        return cal.one_day(cal.weekday_near(found.today, weekday, past=False) + timedelta(weeks=1))
    if found["week"]:
        return cal.one_day(cal.weekday_of_week(found.today, weekday, {"last": -1, "previous": -1, "next": 1}.get(which, 0)))
    if which in {"last", "past", "this past", "previous"}:
        return cal.one_day(cal.weekday_near(found.today, weekday, past=True))
    if which == "next":
        return cal.one_day(cal.weekday_of_week(found.today, weekday, 1))
    if which == "this":
        return cal.one_day(cal.weekday_of_week(found.today, weekday, 0))
    if which in {"coming", "this coming"}:
        return cal.one_day(cal.weekday_near(found.today, weekday, past=False))
    return cal.one_day(cal.weekday_near(found.today, weekday, past=found.past), Shape.WEEKDAY)


def _long_unit(found: Found, unit: str, shift: int) -> Interval:
    today = found.today
    if unit == "week":
        return cal.week(today, shift)
    if unit == "weekend":
        return cal.weekend(today, shift)
    if unit == "month":
        day = cal.add_months(today.replace(day=1), shift)
        return cal.month(day.year, day.month)
    if unit == "quarter":
        return cal.quarter(today.year, cal.quarter_of(today) + shift)
    return cal.year(today.year + shift)


def read_period(found: Found) -> Interval | None:
    """Such as "Last week", "the end of the month", "the week before last"."""
    which, unit = found["which"], found["unit"]
    if found["beyond"]:
        shift = -2 if found["beyond"].endswith("last") else 2
    else:
        shift = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1, "following": 1}.get(which, 0)
    if unit == "weekend" and which in {"", "the", "over the", "at the"} and found.past and found.today.weekday() < 5:
        shift = -1
    whole = _long_unit(found, unit, shift)
    part = found["part"]
    if not part:
        return whole
    return cal.edge(whole, _part_name(part))


def _part_name(word: str) -> str:
    word = word.removeprefix("the ")
    if word.startswith(("end", "late", "close")):
        return "end"
    return "middle" if word.startswith("mid") else "start"


def read_ago(found: Found) -> Interval | None:
    """Such as "Three days ago", "a few weeks ago"."""
    if "few" in found["count"]:
        return cal.few_ago(found.today, found["unit"][0])
    return _shifted(found, -number(found["count"]))


def read_ahead(found: Found) -> Interval | None:
    """Such as "In three days", "two weeks from now"."""
    if "few" in found["count"]:
        return None
    if found["in"] and tense(found.text, *found.match.span()) is True:
        return None  # "it finished in two days" is a duration
    return _shifted(found, number(found["count"]))


def _shifted(found: Found, count: float) -> Interval | None:
    unit, today = found["unit"], found.today
    if unit.startswith("min"):
        return cal.moment(found.clock + timedelta(minutes=count))
    if unit.startswith("h"):
        return cal.moment(found.clock + timedelta(hours=count))
    if unit.startswith("year"):
        if abs(count) < 1:
            day = cal.add_months(today, round(12 * count))
            return cal.month(day.year, day.month)
        return cal.year(today.year + round(count))
    if unit.startswith(("month", "quarter")):
        if abs(count) < 1:
            return cal.one_day(today + timedelta(days=round(30 * count)))
        day = cal.add_months(today, round(count) * (3 if unit.startswith("quarter") else 1))
        return cal.month(day.year, day.month)
    per = {"day": 1, "week": 7, "fortnight": 14}[unit.removesuffix("s")]
    return cal.one_day(today + timedelta(days=round(per * count)))


def read_offset(found: Found) -> Interval | None:
    """A distance from something said before: kept as a distance from year 1, for `times` to add to its base."""
    per = {"day": 1, "week": 7, "fortnight": 14}.get(found["unit"].removesuffix("s"))
    if per is None:
        return None
    distance = timedelta(days=round(per * number(found["count"])) * (-1 if found["side"] in {"before", "earlier"} else 1))
    base = datetime(2000, 1, 1)  # noqa: DTZ001 - a distance, see `times`
    return Interval(base + distance, base + distance + cal.DAY, Precision.DAY, Shape.OFFSET)


def read_stretch(found: Found) -> Interval | None:
    """Such as "The last two weeks", "over the next 3 days"."""
    count, unit = number(found["count"] or "1"), found["unit"]
    per = {"d": 1, "w": 7, "f": 14, "y": 365, "q": 91}.get(unit[0], 30 if unit.startswith("mo") else 0)
    if not per:
        return None
    length, today = timedelta(days=round(per * count)), found.today
    if found["way"] in {"last", "past", "previous"}:
        return cal.days(today - length, today)
    return cal.days(today, today + length)


def read_month_day(found: Found) -> Interval | None:
    """Such as "10 May", "May 10th, 2025", "the first of April"."""
    return _dated(found, month_number(found["month"]), day_number(found["day"]))


def _dated(found: Found, month: int, day: int) -> Interval | None:
    if found["year"]:
        resolved = cal.safe_date(int(found["year"]), month, day)
    elif found.now is None:
        return None
    else:
        resolved = cal.nearest_year(found.today, month, day, past=found.past)
    return cal.one_day(resolved) if resolved else None


def read_month_days(found: Found) -> Interval | None:
    """Such as "May 10-12"."""
    month = month_number(found["month"])
    first, last = _dated(found, month, day_number(found["day"])), _dated(found, month, day_number(found["last"]))
    return (
        cal.days(first.start.date(), last.start.date(), shape=Shape.DATE) if first and last and first.start < last.start else None
    )


def read_last_day(found: Found) -> Interval | None:
    """Such as "The last day of June", "the last day of this month"."""
    whole = _whole_month(found)
    return cal.one_day((whole.end - cal.DAY).date()) if whole else None


def _whole_month(found: Found) -> Interval | None:
    name, which = found["month"], found["which"]
    if not name:  # "the last day of this month"
        return _long_unit(found, "month", {"last": -1, "next": 1}.get(which, 0)) if found.now else None
    number_of_month = month_number(name)
    if found["year"]:
        return cal.month(int(found["year"]), number_of_month)
    if found.now is None:
        return None
    past = True if which in {"last", "past"} else False if which in {"next", "this", "coming"} else found.past
    return cal.month_near(found.today, number_of_month, past=past)


def read_month_alone(found: Found) -> Interval | None:
    """Such as "In March", "early September", "May 2023"."""
    whole = _whole_month(found)
    return cal.edge(whole, _part_name(found["part"])) if whole and found["part"] else whole


def read_day_of_month(found: Found) -> Interval | None:
    """Such as "On the 14th"."""
    day = int(re.sub(r"\D", "", found["day"]))
    resolved = cal.day_of_month(found.today, day, past=found.past) if 1 <= day <= 31 else None
    return replace(cal.one_day(resolved), sure=False) if resolved else None


def read_days_of_month(found: Found) -> Interval | None:
    """From the 19th to the 30th of May: a stretch that begins on its first day."""
    month = month_number(found["month"]) if found["month"] else None
    first_number, last_number = day_number(found["day"]), day_number(found["last"])
    if month:
        first, last = _dated(found, month, first_number), _dated(found, month, last_number)
        if first and last and first.start < last.start:
            return cal.days(first.start.date(), last.start.date(), shape=Shape.DATE)
        return None
    begin = cal.day_of_month(found.today, first_number, past=found.past)
    end = cal.day_of_month(begin, last_number, past=False) if begin else None
    return cal.days(begin, end, shape=Shape.DATE) if begin and end else None


def read_quarter(found: Found) -> Interval | None:
    """Such as "Q3 2025", "the third quarter"."""
    digit = re.search(r"[1-4]", found["quarter"])
    count = int(digit[0]) if digit else ORDINALS[found["quarter"].split()[0]]
    if found["year"]:
        return cal.quarter(int(found["year"]), count)
    if found.now is None:
        return None
    year = found.today.year
    if found.past and count > cal.quarter_of(found.today):
        year -= 1
    if found.past is False and count < cal.quarter_of(found.today):
        year += 1
    return cal.quarter(year, count)


def read_year(found: Found) -> Interval | None:
    """Such as "In 2019"."""
    return cal.year(int(found["year"]))


def read_clock(found: Found) -> Interval | None:
    """Such as "Half past four", "16:30", "at 5pm"."""
    reading = clock_reading(found["clock"])
    if reading is None:
        return None
    hour, minute, sure = reading
    start = datetime.combine(found.today, datetime.min.time()) + timedelta(hours=hour, minutes=minute)
    if not sure:  # "half past four": the next one of the two on the dial, or the last one
        start = _next_on_dial(start, found.clock) if not found.past else _last_on_dial(start, found.clock)
    return cal.moment(start, Shape.CLOCK, sure=sure)


def _next_on_dial(start: datetime, now: datetime) -> datetime:
    half = timedelta(hours=12)
    return next(option for option in (start, start + half, start + 2 * half) if option > now)


def _last_on_dial(start: datetime, now: datetime) -> datetime:
    half = timedelta(hours=12)
    return next(option for option in (start + half, start, start - half) if option <= now)


def read_holiday(found: Found) -> Interval | None:
    """Such as "Christmas", "Easter Monday 2026", "last Thanksgiving"."""
    name = re.sub(r"[^a-z]", "", found["holiday"])
    years = [int(found["year"])] if found["year"] else [found.today.year + shift for shift in (-1, 0, 1)] if found.now else []
    options = [_holiday_in(name, year) for year in years]
    if not options:
        return None
    if found["year"]:
        return cal.one_day(options[0])
    just_gone = any(0 < (found.today - day).days < 30 for day in options)
    if found["which"] in {"last", "this past"} or found.past or (just_gone and found.past is None and not found["which"]):
        options = [day for day in options if day < found.today]
        return cal.one_day(max(options))
    return cal.one_day(min(day for day in options if day >= found.today))


def _holiday_in(name: str, year: int) -> date:
    if name.startswith("easter"):
        return cal.easter(year) + timedelta(days=1 if name.endswith("monday") else 0)
    if name == "goodfriday":
        return cal.easter(year) - timedelta(days=2)
    if name == "thanksgiving":
        first = date(year, 11, 1)
        return first + timedelta(days=(3 - first.weekday()) % 7 + 21)
    month, day = {
        "christmas": (12, 25), "christmasday": (12, 25), "christmaseve": (12, 24), "xmas": (12, 25), "boxingday": (12, 26),
        "newyearseve": (12, 31), "newyearsday": (1, 1), "newyear": (1, 1), "newyears": (1, 1), "halloween": (10, 31),
        "valentinesday": (2, 14), "independenceday": (7, 4),
    }[name]  # fmt: skip
    return date(year, month, day)


_SUBJECT_BEFORE = re.compile(r"\b(?:i|you|we|they|he|she|it|that|this|who|which|there|to)\s+$", re.IGNORECASE)


def is_verb(found: Found) -> bool:
    """Whether the month is a modal or a verb: "may 10 people come", "we march 20 miles"."""
    name = found["month"].rstrip(".")
    if name not in {"may", "march", "mar"}:
        return False
    return bool(_SUBJECT_BEFORE.search(found.text, 0, found.match.start())) or (
        found.match["month"][0].islower() and bool(re.match(r"\s+[a-z]{3,}s\b", found.text[found.match.end() :]))
    )


def is_no_period(found: Found) -> bool:
    """Whether the words name no time: "the week" and "the month" alone do not, "the weekend" does."""
    bare = found["which"] in {"the", "over the", "at the"}
    if bare and found["unit"] == "weekend":
        return False
    if bare and found["part"].removeprefix("the ") in {"end of", "start of", "beginning of", "middle of", "close of"}:
        return False
    return bare and not found["beyond"]
