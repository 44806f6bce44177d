"""Read English time expressions into spans of the speaker's wall clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from hindsight_langgraph.encoding import times_calendar as cal
from hindsight_langgraph.encoding.times_calendar import Interval, Shape, Span
from hindsight_langgraph.records import Precision

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNITS_TO_19: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_NUMBERS: Final = {word: number for number, word in enumerate(_UNITS_TO_19)} | {
    "a": 1, "an": 1, "another": 1, "couple": 2, "few": 3, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,
}  # fmt: skip
_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
            "twenty-first",
            "twenty-second",
            "twenty-third",
            "twenty-fourth",
            "twenty-fifth",
            "twenty-sixth",
            "twenty-seventh",
            "twenty-eighth",
            "twenty-ninth",
            "thirtieth",
            "thirty-first",
        ],
        start=1,
    )
}

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_WEEKDAY_SHORT = r"(?:mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)(?![a-z])\.?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)(?![a-z])\.?"
)
_WORD_ORDINAL = "(?:" + "|".join(sorted(_ORDINALS, key=len, reverse=True)) + ")"
_DAY_NUMBER = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_WORD_ORDINAL})(?![\w%])"
_YEAR = r"(?:(?:19|20)\d\d)(?![\d.:-]\d|\d)"
_COUNT = (
    r"(?:\d{1,3}|half an?|(?:a )?couple(?: of)?|a few|an?|another|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|ninety)"
)
_UNIT = r"(?:min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|fortnights?|months?|quarters?|years?)(?![\w-])"
_DAYPART = r"(?:[ ,]+(?:early |late )?(?:morning|afternoon|evening|night|lunchtime)(?![\w-]))?"
_AFTER_DAY_OF_MONTH = (
    r"(?=\s*(?:$|[.,;:!?)\]—–\"'”’]|-\s|(?:of|at|to|and|or|in|for|so|because|we|i|it|is|was|then|but|when|which|instead|as|if|morning|"
    r"afternoon|evening|night|until|till|through|with|he|she|they|you|please|now|not|this|next|after|before|from|that|by|latest|"
    r"works?|onwards?|if|my|our|the)\b))"
)

PAST_TENSE: Final = re.compile(
    r"\b(?:was|were|did|didn['’]t|had|has been|have been|ago|went|came|met|said|told|rang|got|made|took|saw|left|sent|wrote|bought|sold"
    r"|broke|died|fell|gave|began|ran|held|lost|found|felt|heard|chose|drove|flew|spoke|paid|built|caught|kept|brought|grew|led"
    r"|won|woke|slept|ate|drank|just|already|since|back on|[a-z]{3,}(?<!ne)(?<!spe)(?<!exc)(?<!proc)(?<!fe)ed)\b",
    re.IGNORECASE,
)
FUTURE_TENSE: Final = re.compile(
    r"\b(?:will|won['’]t|going to|is due|due|by|deadline|until|till|must|has to|have to|needs? to|should|shall|can|scheduled|planned"
    r"|booked|is set|moved to|pushed to|postponed|rescheduled|moves?|starts?|begins?|ends?|closes?|opens?|expires?|launch(?:es)?|let['’]s)\b"
    r"|['’]ll\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?\n—]\s|[,;]\s+(?:and|but|so|then|because)\b|\s(?:but|because)\s|,\s")

RECURRING: Final = re.compile(
    rf"\b(?:every|each)\s+(?:other\s+|second\s+|single\s+|{_COUNT}\s+)?(?:{_WEEKDAY}|{_WEEKDAY_SHORT}|morning|afternoon|evening|night|day"
    rf"|weekday|weekend|week|fortnight|month|quarter|year|hour|minute|{_MONTH}|spring|summer|autumn|fall|winter)s?"
    rf"(?:(?:\s+(?:and|or)\s+|,\s*){_WEEKDAY}s?)*(?:\s+(?:morning|afternoon|evening|night)s?)?(?:\s+at\s+\d{{1,2}}(?::\d\d)?(?:\s?[ap]m)?)?"
    rf"|\b{_WEEKDAY}s\b|\b{_WEEKDAY}\s+(?:mornings|afternoons|evenings|nights)\b|\bweekends\b|\bweekdays\b"
    r"|\b(?:daily|weekly|fortnightly|biweekly|monthly|quarterly|yearly|annually|nightly|hourly)\b"
    rf"|\b(?:once|twice|{_COUNT} times)\s+(?:a|an|per|every)\s+(?:hour|day|week|month|quarter|year)\b"
    rf"|\bdays?\s+(?:off\s+)?(?:is|are)\s+(?:now\s+|always\s+)?{_WEEKDAY}(?:\s+(?:and|or)\s+{_WEEKDAY})*"
    rf"|\b(?:the|on)\s+(?:{_WORD_ORDINAL}|last|\d{{1,2}}(?:st|nd|rd|th))\s+(?:{_WEEKDAY}|working day|business day|day)?\s*"
    r"of\s+(?:the|each|every)\s+(?:month|quarter|week|year)\b"
    rf"|\b(?:always|usually|normally|typically)\b[^.;!?]{{0,40}}\b(?:on|at)\s+(?:{_WEEKDAY}|\d{{1,2}}(?::\d\d)?)"
    rf"|\b{_WEEKDAY}\s+(?:to|through|-|–)\s+{_WEEKDAY}\b",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"day|tomorrow|night|morning|evening|noon|week|month|quarter|year|ago|hour|minute|o['’]clock|past|[ap]\.?m\b|christmas|halloween|easter|thanksgiving"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d(?:st|nd|rd|th)\b|\bq[1-4]\b|\b(?:19|20)\d\d\b|\d:\d\d|\bat \w|by (?:mon|tue|wed|thu|fri|sat|sun)"
    r"|\b(?:on|next|last|this|until|before|after|from) (?:mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    """One match, with what a rule needs to resolve it."""

    match: re.Match[str]
    text: str
    now: datetime | None

    def __getitem__(self, group: str) -> str:
        return (self.match[group] or "").lower()

    @property
    def today(self) -> date:
        assert self.now is not None
        return self.now.date()

    @property
    def past(self) -> bool | None:
        """True or False where the clause round the match shows its tense, else None."""
        return tense(self.text, *self.match.span())


_Rule = Callable[[_Found], "Interval | None"]


def tense(text: str, start: int, end: int) -> bool | None:
    """Whether the clause round text[start:end] speaks of the past (True), the future (False), or shows neither (None)."""
    left = 0
    for mark in _CLAUSE_END.finditer(text, 0, start):
        left = mark.end()
    mark = _CLAUSE_END.search(text, end)
    clause = f"{text[left:start]} {text[end : mark.start() if mark else len(text)]}"
    if FUTURE_TENSE.search(clause):
        return False
    return True if PAST_TENSE.search(clause) else None


def number(word: str) -> float:
    """The value of a count such as "3", "two", "a couple of", "half an"."""
    word = word.lower().strip()
    if word.isdecimal():
        return float(word)
    if word.startswith("half"):
        return 0.5
    return float(_NUMBERS[word.removeprefix("a ").removesuffix(" of") if " " in word else word])


def _day_number(word: str) -> int:
    digits = re.match(r"\d+", word)
    return int(digits[0]) if digits else _ORDINALS[word]


def _month_number(word: str) -> int:
    return _MONTHS.index(word[:3]) + 1


def _weekday_number(word: str) -> int:
    return next(index for index, name in enumerate(_WEEKDAYS) if name.startswith(word[:3]))


def _near_day(found: _Found) -> Interval | None:
    word = " ".join(found["word"].split())
    shift = {
        "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "last night": -1, "last evening": -1, "tomorrow": 1,
        "the day after tomorrow": 2, "day after tomorrow": 2,
    }.get(word, 0)  # fmt: skip
    return cal.one_day(found.today + timedelta(days=shift))


def _weekday(found: _Found) -> Interval | None:
    weekday = _weekday_number(found["weekday"])
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


def _long_unit(found: _Found, unit: str, shift: int) -> Interval:
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


def _period(found: _Found) -> Interval | None:
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


def _ago(found: _Found) -> Interval | None:
    if "few" in found["count"]:
        return cal.few_ago(found.today, found["unit"][0])
    return _shifted(found, -number(found["count"]))


def _ahead(found: _Found) -> Interval | None:
    if "few" in found["count"]:
        return None
    if found["in"] and tense(found.text, *found.match.span()) is True:
        return None  # "it finished in two days" is a duration
    return _shifted(found, number(found["count"]))


def _shifted(found: _Found, count: float) -> Interval | None:
    assert found.now is not None
    unit, today = found["unit"], found.today
    if unit.startswith("min"):
        return cal.moment(found.now + timedelta(minutes=count))
    if unit.startswith("h"):
        return cal.moment(found.now + timedelta(hours=count))
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


def _offset(found: _Found) -> Interval | None:
    """A distance from something said before: kept as a distance from year 1, for `times` to add to its base."""
    per = {"day": 1, "week": 7, "fortnight": 14}.get(found["unit"].removesuffix("s"))
    if per is None:
        return None
    distance = timedelta(days=round(per * number(found["count"])) * (-1 if found["side"] in {"before", "earlier"} else 1))
    base = datetime(2000, 1, 1)  # noqa: DTZ001 - a distance, see `times`
    return Interval(base + distance, base + distance + cal.DAY, Precision.DAY, Shape.OFFSET)


def _stretch(found: _Found) -> Interval | None:
    count, unit = number(found["count"] or "1"), found["unit"]
    per = {"d": 1, "w": 7, "f": 14, "y": 365, "q": 91}.get(unit[0], 30 if unit.startswith("mo") else 0)
    if not per:
        return None
    length, today = timedelta(days=round(per * count)), found.today
    if found["way"] in {"last", "past", "previous"}:
        return cal.days(today - length, today)
    return cal.days(today, today + length)


def _month_day(found: _Found) -> Interval | None:
    return _dated(found, _month_number(found["month"]), _day_number(found["day"]))


def _dated(found: _Found, month: int, day: int) -> Interval | None:
    if found["year"]:
        resolved = cal.safe_date(int(found["year"]), month, day)
    elif found.now is None:
        return None
    else:
        resolved = cal.nearest_year(found.today, month, day, past=found.past)
    return cal.one_day(resolved) if resolved else None


def _month_days(found: _Found) -> Interval | None:
    month = _month_number(found["month"])
    first, last = _dated(found, month, _day_number(found["day"])), _dated(found, month, _day_number(found["last"]))
    return (
        cal.days(first.start.date(), last.start.date(), shape=Shape.DATE) if first and last and first.start < last.start else None
    )


def _last_day(found: _Found) -> Interval | None:
    whole = _whole_month(found)
    return cal.one_day((whole.end - cal.DAY).date()) if whole else None


def _whole_month(found: _Found) -> Interval | None:
    name, which = found["month"], found["which"]
    if not name:  # "the last day of this month"
        return _long_unit(found, "month", {"last": -1, "next": 1}.get(which, 0)) if found.now else None
    number_of_month = _month_number(name)
    if found["year"]:
        return cal.month(int(found["year"]), number_of_month)
    if found.now is None:
        return None
    past = True if which in {"last", "past"} else False if which in {"next", "this", "coming"} else found.past
    return cal.month_near(found.today, number_of_month, past=past)


def _month_alone(found: _Found) -> Interval | None:
    whole = _whole_month(found)
    return cal.edge(whole, _part_name(found["part"])) if whole and found["part"] else whole


def _day_of_month(found: _Found) -> Interval | None:
    day = int(re.sub(r"\D", "", found["day"]))
    resolved = cal.day_of_month(found.today, day, past=found.past) if 1 <= day <= 31 else None
    return replace(cal.one_day(resolved), sure=False) if resolved else None


def _days_of_month(found: _Found) -> Interval | None:
    """From the 19th to the 30th of May: a stretch that begins on its first day."""
    month = _month_number(found["month"]) if found["month"] else None
    first_number, last_number = _day_number(found["day"]), _day_number(found["last"])
    if month:
        first, last = _dated(found, month, first_number), _dated(found, month, last_number)
        if first and last and first.start < last.start:
            return cal.days(first.start.date(), last.start.date(), shape=Shape.DATE)
        return None
    begin = cal.day_of_month(found.today, first_number, past=found.past)
    end = cal.day_of_month(begin, last_number, past=False) if begin else None
    return cal.days(begin, end, shape=Shape.DATE) if begin and end else None


def _quarter(found: _Found) -> Interval | None:
    digit = re.search(r"[1-4]", found["quarter"])
    count = int(digit[0]) if digit else _ORDINALS[found["quarter"].split()[0]]
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


def _year(found: _Found) -> Interval | None:
    return cal.year(int(found["year"]))


def _clock(found: _Found) -> Interval | None:
    assert found.now is not None
    reading = clock_reading(found["clock"])
    if reading is None:
        return None
    hour, minute, sure = reading
    start = datetime.combine(found.today, datetime.min.time()) + timedelta(hours=hour, minutes=minute)
    if not sure:  # "half past four": the next one of the two on the dial, or the last one
        start = _next_on_dial(start, found.now) if not found.past else _last_on_dial(start, found.now)
    return cal.moment(start, Shape.CLOCK, sure=sure)


def _next_on_dial(start: datetime, now: datetime) -> datetime:
    half = timedelta(hours=12)
    return next(option for option in (start, start + half, start + 2 * half) if option > now)


def _last_on_dial(start: datetime, now: datetime) -> datetime:
    half = timedelta(hours=12)
    return next(option for option in (start + half, start, start - half) if option <= now)


def clock_reading(text: str) -> tuple[int, int, bool] | None:
    """Hour, minute, whether the half of the day is known; of "half past four", "16:30", "9.30 pm", "noon", "5 o'clock"."""
    text = " ".join(text.lower().split())
    if "noon" in text or "midday" in text:
        return 12, 0, True
    if "midnight" in text:
        return 24, 0, True
    spoken = re.search(r"(half|quarter|\w+)(?: minutes?)? (past|to) (\w+)", text)
    if spoken:
        away = {"half": 30.0, "quarter": 15.0}.get(spoken[1]) or (
            number(spoken[1]) if spoken[1] in _NUMBERS or spoken[1].isdecimal() else -1
        )
        hour = int(spoken[3]) if spoken[3].isdecimal() else _NUMBERS.get(spoken[3], -1)
        if away < 0 or not 1 <= hour <= 12:
            return None
        minutes = hour * 60 + (int(away) if spoken[2] == "past" else -int(away))
        return minutes // 60, minutes % 60, False
    read = re.search(
        r"(\d{1,2}|[a-z]+)(?:[:.](\d\d))?\s?([ap])?\.?m?\b",
        re.sub(r"^(?:at|by|around|about|before|after|until|from)\s+", "", text),
    )
    if not read:
        return None
    hour = int(read[1]) if read[1].isdecimal() else _NUMBERS.get(read[1], 25)
    minute = int(read[2] or 0)
    if hour > 24 or minute > 59:
        return None
    if read[3]:
        return hour % 12 + (12 if read[3] == "p" else 0), minute, True
    return hour, minute, hour > 12 or hour == 0 or bool(re.search(r"\b0\d:", text))


def _holiday(found: _Found) -> Interval | None:
    name = re.sub(r"[^a-z]", "", found["holiday"])
    years = [int(found["year"])] if found["year"] else [found.today.year + shift for shift in (-1, 0, 1)] if found.now else []
    options = [_holiday_in(name, year) for year in years]
    if not options:
        return None
    if found["year"]:
        return cal.one_day(options[0])
    if found["which"] in {"last", "this past"} or found.past:
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


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_CLOCK = (
    r"(?:(?:half|(?:a )?quarter|(?:\d{1,2}|five|ten|twenty|twenty-five)(?: minutes?)?) (?:past|to) "
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\b"
    r"|\d{1,2}(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|(?:[01]?\d|2[0-3]):[0-5]\d(?![:\d])"
    r"|(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) o['’]clock|noon\b|midday\b|midnight\b)"
)
_AT_HOUR = r"\bat (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?=\s*(?:$|[.,;!?)]|sharp|on\b|in the\b|and\b|today|tomorrow|tonight))"
_TAIL_YEAR = rf"(?:,?\s+(?P<year>{_YEAR}))?"
_MONTH_OR_PREP = (
    r"(?:(?<=\bin )|(?<=\bby )|(?<=\buntil )|(?<=\bsince )|(?<=\bfrom )|(?<=\bbefore )|(?<=\bafter )|(?<=\bduring )|(?<=\btill )|(?<=\bfor )"
    r"|(?<=\bthrough )|(?P<which>last|past|next|this|coming)\s+|(?P<part>early|late|mid|middle of|end of|the end of|start of|beginning of|close of)[ -])"
)

_NEEDS_NOW: Final[tuple[tuple[re.Pattern[str], _Rule], ...]] = (
    (
        _compile(
            rf"\b(?P<word>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow|tonight|last night|last evening"
            rf"|this (?:morning|afternoon|evening))(?![\w-]){_DAYPART}"
        ),
        _near_day,
    ),
    (
        _compile(
            rf"(?:\b(?P<which>last|next|this past|this coming|this|coming|past|previous)\s+)?\b(?P<weekday>{_WEEKDAY})\b(?P<fortnight> week\b)?"
            rf"(?:(?:,?\s+(?:of\s+)?)(?P<week>last|next|this|previous)\s+week\b)?{_DAYPART}"
        ),
        _weekday,
    ),
    (
        _compile(
            rf"\b(?:a|one) (?P<fortnight>week) (?:on|from) (?P<weekday>{_WEEKDAY})\b(?P<which>)(?P<week>)",
        ),
        _weekday,
    ),
    (
        _compile(
            rf"\b(?:(?P<which>last|next|this)|on|by|until|till|from|before|after|since)\s+(?P<weekday>{_WEEKDAY_SHORT})(?=\s|[,.;!?)]|$)(?P<fortnight>)(?P<week>)"
        ),
        _weekday,
    ),
    (
        _compile(
            r"(?:\b(?P<part>earlier|later|late|early|mid|middle of|(?:the )?end of|(?:the )?start of|(?:the )?beginning of|close of)[ -])?"
            r"\b(?:the\s+)?(?P<which>last|past|previous|this|next|coming|following|the|over the|at the)\s+(?P<unit>week|weekend|month|quarter|year)(?![\w-])"
            r"(?:\s+(?P<beyond>before last|after next)\b)?"
        ),
        lambda found: None if _is_no_period(found) else _period(found),
    ),
    (_compile(rf"\b(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})\s+ago\b"), _ago),
    (
        _compile(
            rf"\b(?:(?P<in>in)\s+(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})(?!\s+of)(?:['’]s?\s+time)?)(?!\s+(?:from now|flat|or less))"
        ),
        _ahead,
    ),
    (_compile(rf"(?P<in>)\b(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})\s+(?:from now|from today)\b"), _ahead),
    (
        _compile(
            rf"\b(?:over|in|for|during|within)?\s*(?:the\s+)?(?P<way>last|past|previous|next|coming|within)\s+(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})"
        ),
        _stretch,
    ),
    (
        _compile(
            rf"\b(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})\s+(?P<side>after that|later|afterwards|after it|earlier|before that)\b"
        ),
        _offset,
    ),
    (
        _compile(
            rf"(?:(?<=\bon )|(?<=\bby )|(?<=\buntil )|(?<=\btill )|(?<=\bfrom )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )|(?<=\baround )|(?<=\bto )|(?<=\bis )"
            rf"|(?<=\bfor )|(?<=day ))the (?P<day>\d{{1,2}}(?:st|nd|rd|th)){_AFTER_DAY_OF_MONTH}"
        ),
        _day_of_month,
    ),
    (
        _compile(
            r"\bfrom the (?P<day>\d{1,2}(?:st|nd|rd|th)) (?:to|until|till|through) the (?P<last>\d{1,2}(?:st|nd|rd|th))\b(?P<month>)"
        ),
        _days_of_month,
    ),
    (_compile(rf"(?:\b(?:at|by|around|about|before|after|until|from)\s+)?(?<![\w:.])(?P<clock>{_CLOCK})"), _clock),
    (_compile(rf"(?P<clock>{_AT_HOUR})"), _clock),
    (_compile(r"\b(?:the )?last day of (?P<which>this|next|last) month\b(?P<month>)(?P<year>)"), _last_day),
)

_ABSOLUTE: Final[tuple[tuple[re.Pattern[str], _Rule], ...]] = (
    (
        _compile(
            rf"(?:\b{_WEEKDAY}\b,?\s+)?(?:\bthe\s+)?\b(?P<day>{_DAY_NUMBER})(?:\s+of)?\s+(?P<month>{_MONTH})(?!\w){_TAIL_YEAR}"
        ),
        _month_day,
    ),
    (
        _compile(
            rf"(?:\b{_WEEKDAY}\b,?\s+)?\b(?P<month>{_MONTH})\s+(?:the\s+)?(?P<day>{_DAY_NUMBER})(?![:.]\d|\s+(?:years?|people|times)){_TAIL_YEAR}"
        ),
        lambda found: None if _is_verb(found) else _month_day(found),
    ),
    (
        _compile(
            rf"\b(?:from |between )?(?:the )?(?P<day>{_DAY_NUMBER})\s?(?:to|-|–|until|till|through|and)\s?(?:the )?(?P<last>{_DAY_NUMBER})(?:\s+of)?\s+(?P<month>{_MONTH})(?!\w){_TAIL_YEAR}"
        ),
        lambda found: _days_of_month(found) if found.now or found["year"] else None,
    ),
    (
        _compile(rf"\b(?P<month>{_MONTH})\s+(?P<day>{_DAY_NUMBER})\s?(?:-|–|to|through)\s?(?P<last>{_DAY_NUMBER}){_TAIL_YEAR}"),
        _month_days,
    ),
    (_compile(rf"\b(?:the )?last day of (?P<month>{_MONTH})(?!\w){_TAIL_YEAR}(?P<which>)"), _last_day),
    (_compile(rf"{_MONTH_OR_PREP}(?P<month>{_MONTH})(?![\w-]){_TAIL_YEAR}"), _month_alone),
    (_compile(rf"\b(?P<month>{_MONTH})\s+(?P<year>{_YEAR})(?P<part>)(?P<which>)"), _month_alone),
    (_compile(rf"\b(?P<quarter>q[1-4]|(?:first|second|third|fourth) quarter)\b(?:\s*(?:of|,)?\s*(?P<year>{_YEAR}))?"), _quarter),
    (
        _compile(
            rf"(?:(?<=\bin )|(?<=\bsince )|(?<=\bby )|(?<=\bbefore )|(?<=\buntil )|(?<=\bback in )|(?<=\bof )|(?<=\bduring )|(?<=\bthrough ))(?P<year>{_YEAR})"
            r"(?=\s*(?:$|[.,;!?)]|(?:and|when|we|i|it|he|she|they|the|as|at|with|for|but|because|already|that|was|is)\b))"
        ),
        _year,
    ),
    (
        _compile(
            r"(?:\b(?P<which>last|this past|this|next)\s+)?\b(?P<holiday>christmas(?: eve| day)?|xmas|boxing day|new year['’]?s?(?: eve| day)|halloween"
            rf"|valentine['’]?s day|thanksgiving|easter(?: sunday| monday)?|good friday|independence day)\b(?:,?\s+(?P<year>{_YEAR}))?"
        ),
        _holiday,
    ),
)

_SUBJECT_BEFORE = re.compile(r"\b(?:i|you|we|they|he|she|it|that|this|who|which|there|to)\s+$", re.IGNORECASE)


def _is_verb(found: _Found) -> bool:
    """ "may 10 people come", "we march 20 miles": a modal or a verb, not a month."""
    name = found["month"].rstrip(".")
    if name not in {"may", "march", "mar"}:
        return False
    return bool(_SUBJECT_BEFORE.search(found.text, 0, found.match.start())) or (
        found.match["month"][0].islower() and bool(re.match(r"\s+[a-z]{3,}s\b", found.text[found.match.end() :]))
    )


def _is_no_period(found: _Found) -> bool:
    """ "the week" and "the month" alone name no time; "the weekend" does."""
    bare = found["which"] in {"the", "over the", "at the"}
    if bare and found["unit"] == "weekend":
        return False
    if bare and found["part"].removeprefix("the ") in {"end of", "start of", "beginning of", "middle of", "close of"}:
        return False
    return bare and not found["beyond"]


def read_english(text: str, now: datetime | None) -> Iterator[Span]:
    """Every English time expression, overlapping ones included; `now` is the speaker's wall clock, None when unknown."""
    if not _HINT.search(text):
        return
    rules = _ABSOLUTE if now is None else (*_ABSOLUTE, *_NEEDS_NOW)
    for pattern, rule in rules:
        for match in pattern.finditer(text):
            interval = rule(_Found(match, text, now))
            if interval is not None:
                yield interval.placed(*match.span())
