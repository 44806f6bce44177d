"""Resolve matches of Chinese time patterns to wall-clock intervals."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from hindsight_langgraph.encoding import times_calendar as cal
from hindsight_langgraph.encoding.times_calendar import Interval, Shape
from hindsight_langgraph.encoding.times_chinese_words import (
    clock_reading,
    month_number,
    number,
    units_away,
    weekday_number,
    year_number,
)
from hindsight_langgraph.encoding.times_match import Found
from hindsight_langgraph.records import Precision

_LUNAR_FROM: Final = 2000
_LUNAR_WORDS: Final = (
    "020506060912 012406251001 021206150921 020106040911 012206220928 020906110918 012905311006 "
    "021806190925 020706080914 012605281003 021406160922 020306060912 012306230930 021006120919 "
    "013106020908 021906200927 020806090915 012805301004 021606180924 020506070913 012506251001 "
    "021206140921 020106030910 012206220929 021006100917 012905311006 021706190925 020606090915 "
    "012605281003 021306160922 020306050912 012306241001 021106120919 013106010908 021906200927 "
    "020806100916 012805301004 021506180924 020406070913 012405271002 021206140920 020106030910 "
    "012206220928 021006110917 013005311005 021706190925 020606080915 012605291004 021406150922 "
    "020206040911 012306230930"
)
_LUNAR: Final = tuple(_LUNAR_WORDS.split())
"""Spring Festival, Dragon Boat Festival and Mid-Autumn Festival as MMDD each, one word a year: public calendar facts."""
_NEAR_DAYS: Final = {
    "大前": -3, "前": -2, "昨": -1, "今": 0, "当": 0, "明": 1, "后": 2, "大后": 3,
}  # fmt: skip


def read_near_day(found: Found) -> Interval | None:
    """Such as "昨天", "大后天", "昨晚", "明早"."""
    return cal.one_day(found.today + timedelta(days=_NEAR_DAYS[found["near"] or found["near2"]]))


def read_weekday(found: Found) -> Interval | None:
    """Such as "上周三", "下下周二", "周五"."""
    which, weekday = found["which"], found["weekday"]
    if which:
        return cal.one_day(cal.weekday_of_week(found.today, weekday_number(weekday), units_away(which)))
    past = found.past
    return cal.one_day(cal.weekday_near(found.today, weekday_number(weekday), past=past), Shape.WEEKDAY)


def read_weekend(found: Found) -> Interval | None:
    """Such as "周末", "这周末", "下周末"."""
    shift = units_away(found["which"])
    if not found["which"] and found.past and found.today.weekday() < 5:
        shift = -1
    return cal.weekend(found.today, shift)


def read_week(found: Found) -> Interval | None:
    """Such as "上周", "下周起"."""
    whole = cal.week(found.today, units_away(found["which"]))
    if found["edge"] in {"起", "开始"}:
        return Interval(whole.start, whole.start + cal.DAY, Precision.DAY, Shape.DATE)
    return cal.edge(whole, _edge_name(found["edge"])) if found["edge"] else whole


def _edge_name(word: str) -> str:
    if word in {"底", "末", "月底", "年底", "年末"}:
        return "end"
    return "middle" if "中" in word else "start"


def _month_of(found: Found) -> date | None:
    """The first day of the month that a match names, by its shift, its number, its year, or else the present one."""
    if found["which"]:
        return cal.add_months(found.today.replace(day=1), units_away(found["which"])) if found.now else None
    year = _year_of(found)
    if not found["month"]:
        return found.today.replace(day=1) if found.now else None
    if year is None:
        return (
            None if found.now is None else cal.month_near(found.today, month_number(found["month"]), past=found.past).start.date()
        )
    return date(year, month_number(found["month"]), 1)


def _year_of(found: Found) -> int | None:
    if found["year"]:
        return year_number(found["year"])
    if found["nearyear"] and found.now:
        return found.today.year + {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}[found["nearyear"]]
    return None


def read_date(found: Found) -> Interval | None:
    """Such as "7月20号", "2025年3月8日", "下个月5号", "8月19号到30号"."""
    day = int(number(found["day"]))
    if found["month"] and not found["which"] and _year_of(found) is None:
        if found.now is None:
            return None
        resolved = cal.nearest_year(found.today, month_number(found["month"]), day, past=found.past)
    else:
        first = _month_of(found)
        resolved = cal.safe_date(first.year, first.month, day) if first else None
    if resolved is None:
        return None
    last = int(number(found["last"])) if found["last"] else 0
    until = cal.safe_date(resolved.year, resolved.month, last) if last > day else None
    return cal.days(resolved, until, shape=Shape.DATE) if until else cal.one_day(resolved)


def read_day_of_month(found: Found) -> Interval | None:
    """Such as "14号"."""
    day = int(number(found["day"]))
    past = found.past
    resolved = cal.day_of_month(found.today, day, past=past) if 1 <= day <= 31 else None
    return replace(cal.one_day(resolved), sure=False) if resolved else None


def read_month(found: Found) -> Interval | None:
    """Such as "三月", "七月初", "上个月", "月底", "下个月起"."""
    first = _month_of(found)
    if first is None:
        return None
    whole, part = cal.month(first.year, first.month), found["edge"]
    if part in {"起", "开始"}:
        return cal.one_day(first)
    if part == "最后一天":
        return cal.one_day(cal.last_of_month(first))
    return cal.edge(whole, _edge_name(part)) if part else whole


def read_year(found: Found) -> Interval | None:
    """Such as "去年", "2019年", "明年上半年"."""
    year = _year_of(found)
    if year is None:
        return None
    whole, part = cal.year(year), found["edge"]
    if not part:
        return whole
    if part in {"上半年", "下半年"}:
        return _half(year, part)
    if part in {"底", "末", "年底", "年末"}:
        return cal.month(year, 12)
    return cal.days(date(year, 1, 1), date(year, 2, 28))


def _half(year: int, word: str) -> Interval:
    return (
        cal.days(date(year, 1, 1), date(year, 6, 30)) if word.startswith("上") else cal.days(date(year, 7, 1), date(year, 12, 31))
    )


def read_half_year(found: Found) -> Interval | None:
    """Such as "下半年"."""
    return _half(found.today.year, found["half"])


def read_year_edge(found: Found) -> Interval | None:
    """Such as "年底", "年初"."""
    return cal.month(found.today.year, 12 if found["edge"] in {"底", "末", "尾"} else 1)


def read_quarter(found: Found) -> Interval | None:
    """Such as "下季度", "第三季度"."""
    if found["which"]:
        whole = cal.quarter(found.today.year, cal.quarter_of(found.today) + units_away(found["which"])) if found.now else None
    else:
        year = _year_of(found) or (found.today.year if found.now else None)
        whole = cal.quarter(year, int(number(found["quarter"]))) if year else None
    if whole and found["edge"]:
        return cal.edge(whole, _edge_name(found["edge"]))
    return whole


def read_shifted(found: Found) -> Interval | None:
    """Such as "三天前", "半小时后", "两周以后"."""
    count = number(found["count"]) + (0.5 if found["half"] else 0)
    if found["side"] in {"前", "之前", "以前"}:
        count = -count
    unit, today = found["unit"], found.today
    if unit.startswith("分"):
        return cal.moment(found.clock + timedelta(minutes=count))
    if unit in {"小时", "钟头"}:
        return cal.moment(found.clock + timedelta(hours=count))
    if unit == "年":
        if count % 1:
            day = cal.add_months(today, round(12 * count))
            return cal.month(day.year, day.month)
        return cal.year(today.year + int(count))
    if unit == "月":
        if count % 1:
            return cal.one_day(today + timedelta(days=round(30 * count)))
        day = cal.add_months(today, int(count))
        return cal.month(day.year, day.month)
    return cal.one_day(today + timedelta(days=round(count * (7 if unit in {"周", "星期", "礼拜"} else 1))))


def read_stretch(found: Found) -> Interval | None:
    """Such as "最近两周", "未来三天"."""
    unit = found["unit"]
    per = {"天": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365}[unit]
    length, today = timedelta(days=round(per * number(found["count"]))), found.today
    return cal.days(today - length, today) if found["way"] in {"最近", "过去", "近", "这"} else cal.days(today, today + length)


def read_clock(found: Found) -> Interval | None:
    """Such as "下午三点", "8点半", "16:00"."""
    reading = clock_reading(found.match)
    if reading is None:
        return None
    hour, minute, sure = reading
    start = datetime.combine(found.today, datetime.min.time()) + timedelta(hours=hour, minutes=minute)
    if not sure and not found.past and start <= found.clock:
        start += timedelta(hours=12)
    return cal.moment(start, Shape.CLOCK, sure=sure)


def read_holiday(found: Found) -> Interval | None:
    """Such as "国庆", "中秋节", "明年春节"."""
    year = _year_of(found)
    name = found["holiday"]
    if year is not None:
        day = holiday_in(name, year)
        return cal.one_day(day) if day else None
    if found.now is None:
        return None
    options = [day for shift in (-1, 0, 1) if (day := holiday_in(name, found.today.year + shift))]
    past = found.past
    before, after = [d for d in options if d < found.today], [d for d in options if d >= found.today]
    recent = (found.today - max(before)).days if before else 1_000
    if (past and recent < 90) or (past is None and recent < 30):
        return cal.one_day(max(before))
    return cal.one_day(min(after)) if after else None


def holiday_in(name: str, year: int) -> date | None:
    """The day of a holiday in a year; None outside the years whose lunar dates are known."""
    fixed = {
        "元旦": (1, 1),
        "情人节": (2, 14),
        "妇女节": (3, 8),
        "愚人节": (4, 1),
        "清明": (4, 4 if year % 4 in {0, 1} else 5),
        "五一": (5, 1),
        "劳动节": (5, 1),
        "儿童节": (6, 1),
        "六一": (6, 1),
        "国庆": (10, 1),
        "十一": (10, 1),
        "双十一": (11, 11),
        "双11": (11, 11),
        "双十二": (12, 12),
        "万圣": (10, 31),
        "平安夜": (12, 24),
        "圣诞": (12, 25),
        "跨年": (12, 31),
    }
    if name in fixed:
        return date(year, *fixed[name])
    if not 0 <= year - _LUNAR_FROM < len(_LUNAR):
        return None
    word = _LUNAR[year - _LUNAR_FROM]
    index = {"春节": 0, "过年": 0, "大年初一": 0, "除夕": 0, "年三十": 0, "端午": 1, "中秋": 2}[name]
    day = date(year, int(word[4 * index : 4 * index + 2]), int(word[4 * index + 2 : 4 * index + 4]))
    return day - cal.DAY if name in {"除夕", "年三十"} else day


def read_short_quarter(found: Found) -> Interval | None:
    """Such as "Q3"."""
    year = _year_of(found) or (found.today.year if found.now else None)
    return cal.quarter(year, int(found["q"])) if year else None


def is_count(found: Found) -> bool:
    """Whether "三点" counts points: an hour has a part of the day, minutes, digits, or a word of hours behind it."""
    if found["part"] or found["minute"] or not found["hour"].isascii() or "点钟" in found.match[0]:
        return "时" in found.match[0] and not found["part"]
    return not re.match(r"(?:前|后|之前|以后|左右|开|见|集合|到|出发|上|下|的|$)", found.text[found.match.end() :])
