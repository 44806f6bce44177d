"""Read Chinese time expressions into spans of the speaker's wall clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from hindsight_langgraph.encoding import times_calendar as cal
from hindsight_langgraph.encoding.times_calendar import Interval, Shape, Span
from hindsight_langgraph.records import Precision

_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
_NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九十百廿卅]+|半)"
_YEAR = r"(?:(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3})"
_DAY_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十廿卅]{1,4})"
_MONTH_NUMBER = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]|正|腊)"
_DAYPART = r"(?:凌晨|清晨|清早|一早|早上|早晨|上午|中午|午后|下午|傍晚|晚上|晚间|夜里|夜间|半夜|深夜|早|晚)"
_CLOCK = rf"(?:(?P<part>{_DAYPART})的?\s*)?(?P<hour>\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})(?:点钟?|时|[:：](?=\d\d))(?P<minute>半|一刻|三刻|整|\d{{1,2}}分?|[一二三四五六七八九十]{{1,3}}分)?"
_NOT_A_DAY = r"(?!线|机|楼|店|门|库|桌|位|仓|方案|厅|口|馆|节点|服务器|车|码|称|召|令|实验|选手|院|病|坑|柜|窗|文件|分支|通道|订单|牌|电池|主机|集群|字|球|人|房|屋|教室|会议室|任务|需求|工单|问题|版|样|标|池|站)"

PAST_TENSE: Final = re.compile(
    r"了(?!吧)|过(?!一会|两天|几天|期|程)|刚|已经|曾|的$|的(?=[，。,.！!])|[说讲提问聊谈见买卖写][^，。]{0,3}|定的|之前|以来|结果|宕|崩|挂"
)
FUTURE_TENSE: Final = re.compile(
    r"要|会(?!议|上|后|员)|将|得(?=去|交|做|走)|打算|准备|计划|截止|截稿|到期|之前|以前|前(?=[^天面端]|$)|开始|上线|下线|上新|发布|约|安排|预定|生效|起$|再|改到|推到|延到|推迟|提前|出发|交付|交货|开学|开会|记得|提醒|别忘"
)
_CLAUSE_END = re.compile(r"[，。！？；：,.!?;:\n]")

_WEEKDAY_WORD = r"(?:周|星期|礼拜)"
_WEEKDAY = rf"{_WEEKDAY_WORD}(?P<weekday>[一二三四五六日天])"
_PLAIN_WEEKDAY = rf"{_WEEKDAY_WORD}[一二三四五六日天]"
RECURRING: Final = re.compile(
    rf"(?:每逢|每隔|每|逢|隔)(?:个|一|两|二|三|\d+|半)?(?:个)?(?:{_PLAIN_WEEKDAY}(?:[、和,，]?{_PLAIN_WEEKDAY}|[、和][一二三四五六日])*|年|季度|月|周末|周|星期|礼拜|天|日|晚|早上|早|晚上|小时|分钟|工作日)"
    rf"(?:底|初|末|中旬)?(?:的)?(?:{_MONTH_NUMBER}月)?(?:{_DAY_NUMBER}[号日])?(?:{_DAYPART})?(?:\s*{_CLOCK.replace('?P<part>', '?:').replace('?P<hour>', '?:').replace('?P<minute>', '?:')})?"
    rf"|{_PLAIN_WEEKDAY}(?:[、和到至跟]{_WEEKDAY_WORD}?[一二三四五六日天])*(?:{_DAYPART})?(?:都|固定|一律|照例|总是|通常|一般|轮休|休息|公休|店休|例会|不营业|休(?=[，。！,.!]|$))"
    rf"|(?:固定|一般|通常|总是|都是|只能|只许|只准|只在|只剩|改成|改为|安排在)在?{_PLAIN_WEEKDAY}(?:[、和跟]{_WEEKDAY_WORD}?[一二三四五六日天])*(?:{_DAYPART})?(?:休息?|(?=[^，。]{{0,12}}(?:以后|之后|以前|之前)?[做发上跑开]))?"
    rf"|{_PLAIN_WEEKDAY}(?:到|至|[-–~～]){_WEEKDAY_WORD}?[一二三四五六日天]"
    rf"|(?:单周|双周|工作日|节假日|逢年过节)|(?:平时|平常|一到|一般){_PLAIN_WEEKDAY}"
    r"|[一二两三四五六七八九十\d]+(?:天|周|个?月|年)[一二两三四五六七八九十\d]+次|天天|年年|月月|周周"
)
_HINT = re.compile(
    r"天|日|号|周|星期|礼拜|月|年|晚|夜|早|晨|点|小时|钟头|分钟|季|节|元旦|国庆|五一|十一|双1|除夕|跨年|中秋|端午|清明|[:：]\d\d"
)

_LUNAR_FROM: Final = 2000
_LUNAR: Final = [
    "020506060912",
    "012406251001",
    "021206150921",
    "020106040911",
    "012206220928",
    "020906110918",
    "012905311006",
    "021806190925",
    "020706080914",
    "012605281003",
    "021406160922",
    "020306060912",
    "012306230930",
    "021006120919",
    "013106020908",
    "021906200927",
    "020806090915",
    "012805301004",
    "021606180924",
    "020506070913",
    "012506251001",
    "021206140921",
    "020106030910",
    "012206220929",
    "021006100917",
    "012905311006",
    "021706190925",
    "020606090915",
    "012605281003",
    "021306160922",
    "020306050912",
    "012306241001",
    "021106120919",
    "013106010908",
    "021906200927",
    "020806100916",
    "012805301004",
    "021506180924",
    "020406070913",
    "012405271002",
    "021206140920",
    "020106030910",
    "012206220928",
    "021006110917",
    "013005311005",
    "021706190925",
    "020606080915",
    "012605291004",
    "021406150922",
    "020206040911",
    "012306230930",
]
"""Spring Festival, Dragon Boat Festival and Mid-Autumn Festival as MMDD each, one word a year: public calendar facts."""


@dataclass(frozen=True, slots=True)
class _Found:
    """One match, with what a rule needs to resolve it."""

    match: re.Match[str]
    text: str
    now: datetime | None

    def __getitem__(self, group: str) -> str:
        return self.match[group] or ""

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
    clause = text[left:start] + text[end : mark.start() if mark else len(text)]
    if re.search(r"定的|的$|刚|了(?!吧)|过(?=$|一次|的)", clause) and not re.search(r"就?要|将|打算|准备", clause):
        return True
    if FUTURE_TENSE.search(clause):
        return False
    return True if PAST_TENSE.search(clause) else None


def number(word: str) -> float:
    """The value of "三", "十二", "二十", "廿五", "两百", "半" or digits."""
    if word.isascii():
        return float(word)
    if word == "半":
        return 0.5
    total = current = 0
    for char in word:
        if char in "十廿卅":
            total += {"十": current or 1, "廿": 2, "卅": 3}[char] * 10
            current = 0
        elif char == "百":
            total += (current or 1) * 100
            current = 0
        else:
            current = current * 10 + _DIGITS[char] if current and char in _DIGITS else _DIGITS[char]
    return float(total + current)


def _year_number(word: str) -> int:
    return int(word) if word.isascii() else int("".join(str(_DIGITS[char]) for char in word))


def _month_number(word: str) -> int:
    return {"正": 1, "腊": 12}.get(word) or int(number(word))


def _weekday_number(word: str) -> int:
    return "一二三四五六日天".index(word) % 7 if word != "天" else 6


def _shift(word: str) -> int:
    """How many units away: 上 -1, 上上 -2, 下 1, 下下 2, 这 or 本 0."""
    return word.count("下") - word.count("上")


_NEAR_DAYS: Final = {
    "大前": -3, "前": -2, "昨": -1, "今": 0, "当": 0, "明": 1, "后": 2, "大后": 3,
}  # fmt: skip


def _near_day(found: _Found) -> Interval | None:
    return cal.one_day(found.today + timedelta(days=_NEAR_DAYS[found["near"]]))


def _weekday(found: _Found) -> Interval | None:
    which, weekday = found["which"], found["weekday"]
    if which:
        return cal.one_day(cal.weekday_of_week(found.today, _weekday_number(weekday), _shift(which)))
    past = found.past
    return cal.one_day(cal.weekday_near(found.today, _weekday_number(weekday), past=past), Shape.WEEKDAY)


def _weekend(found: _Found) -> Interval | None:
    shift = _shift(found["which"])
    if not found["which"] and found.past and found.today.weekday() < 5:
        shift = -1
    return cal.weekend(found.today, shift)


def _week(found: _Found) -> Interval | None:
    whole = cal.week(found.today, _shift(found["which"]))
    if found["edge"] in {"起", "开始"}:
        return Interval(whole.start, whole.start + cal.DAY, Precision.DAY, Shape.DATE)
    return cal.edge(whole, _edge_name(found["edge"])) if found["edge"] else whole


def _edge_name(word: str) -> str:
    if word in {"底", "末", "月底", "年底", "年末"}:
        return "end"
    return "middle" if "中" in word else "start"


def _month_of(found: _Found) -> date | None:
    """The first day of the month that a match names, by its shift, its number, its year, or else the present one."""
    if found["which"]:
        return cal.add_months(found.today.replace(day=1), _shift(found["which"])) if found.now else None
    year = _year_of(found)
    if not found["month"]:
        return found.today.replace(day=1) if found.now else None
    if year is None:
        return (
            None
            if found.now is None
            else cal.month_near(found.today, _month_number(found["month"]), past=found.past).start.date()
        )
    return date(year, _month_number(found["month"]), 1)


def _year_of(found: _Found) -> int | None:
    if found["year"]:
        return _year_number(found["year"])
    if found["nearyear"] and found.now:
        return found.today.year + {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}[found["nearyear"]]
    return None


def _date(found: _Found) -> Interval | None:
    day = int(number(found["day"]))
    if found["month"] and not found["which"] and _year_of(found) is None:
        if found.now is None:
            return None
        resolved = cal.nearest_year(found.today, _month_number(found["month"]), day, past=found.past)
    else:
        first = _month_of(found)
        resolved = cal.safe_date(first.year, first.month, day) if first else None
    if resolved is None:
        return None
    last = int(number(found["last"])) if found["last"] else 0
    until = cal.safe_date(resolved.year, resolved.month, last) if last > day else None
    return cal.days(resolved, until, shape=Shape.DATE) if until else cal.one_day(resolved)


def _day_of_month(found: _Found) -> Interval | None:
    day = int(number(found["day"]))
    past = found.past
    resolved = cal.day_of_month(found.today, day, past=past) if 1 <= day <= 31 else None
    return replace(cal.one_day(resolved), sure=False) if resolved else None


def _month(found: _Found) -> Interval | None:
    first = _month_of(found)
    if first is None:
        return None
    whole, part = cal.month(first.year, first.month), found["edge"]
    if part in {"起", "开始"}:
        return cal.one_day(first)
    if part == "最后一天":
        return cal.one_day(cal.last_of_month(first))
    return cal.edge(whole, _edge_name(part)) if part else whole


def _year(found: _Found) -> Interval | None:
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


def _half_year(found: _Found) -> Interval | None:
    return _half(found.today.year, found["half"])


def _year_edge(found: _Found) -> Interval | None:
    return cal.month(found.today.year, 12 if found["edge"] in {"底", "末", "尾"} else 1)


def _quarter(found: _Found) -> Interval | None:
    if found["which"]:
        whole = cal.quarter(found.today.year, cal.quarter_of(found.today) + _shift(found["which"])) if found.now else None
    else:
        year = _year_of(found) or (found.today.year if found.now else None)
        whole = cal.quarter(year, int(number(found["quarter"]))) if year else None
    if whole and found["edge"]:
        return cal.edge(whole, _edge_name(found["edge"]))
    return whole


def _shifted(found: _Found) -> Interval | None:
    assert found.now is not None
    count = number(found["count"]) + (0.5 if found["half"] else 0)
    if found["side"] in {"前", "之前", "以前"}:
        count = -count
    unit, today = found["unit"], found.today
    if unit.startswith("分"):
        return cal.moment(found.now + timedelta(minutes=count))
    if unit in {"小时", "钟头"}:
        return cal.moment(found.now + timedelta(hours=count))
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


def _stretch(found: _Found) -> Interval | None:
    unit = found["unit"]
    per = {"天": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365}[unit]
    length, today = timedelta(days=round(per * number(found["count"]))), found.today
    return cal.days(today - length, today) if found["way"] in {"最近", "过去", "近", "这"} else cal.days(today, today + length)


def _clock(found: _Found) -> Interval | None:
    assert found.now is not None
    reading = clock_reading(found.match)
    if reading is None:
        return None
    hour, minute, sure = reading
    start = datetime.combine(found.today, datetime.min.time()) + timedelta(hours=hour, minutes=minute)
    if not sure and not found.past and start <= found.now:
        start += timedelta(hours=12)
    return cal.moment(start, Shape.CLOCK, sure=sure)


def clock_reading(match: re.Match[str]) -> tuple[int, int, bool] | None:
    """Hour, minute, whether the half of the day is known; of a match of the clock pattern."""
    hour, part = int(number(match["hour"])), match["part"] or ""
    spoken = match["minute"] or ""
    if spoken in {"半", "一刻", "三刻", "整", ""}:
        minute = {"半": 30, "一刻": 15, "三刻": 45}.get(spoken, 0)
    else:
        minute = int(number(spoken.rstrip("分")))
    if hour > 24 or minute > 59:
        return None
    if (
        part in {"下午", "午后", "傍晚", "晚上", "晚间", "晚", "夜里", "夜间"}
        and hour < 12
        and not (part in {"夜里", "夜间"} and hour < 6)
    ):
        return hour + 12, minute, True
    if part == "中午" and hour < 3:
        return hour + 12, minute, True
    return hour, minute, bool(part) or hour > 12 or hour == 0


def _holiday(found: _Found) -> Interval | None:
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
    if past and before and (found.today - max(before)).days < 90:
        return cal.one_day(max(before))
    return cal.one_day(min(after)) if after else None


def holiday_in(name: str, year: int) -> date | None:
    """The day of a holiday in a year; None outside the years whose lunar dates are known."""
    fixed = {
        "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "愚人节": (4, 1), "清明": (4, 4 if year % 4 in {0, 1} else 5), "五一": (5, 1),
        "劳动节": (5, 1), "儿童节": (6, 1), "六一": (6, 1), "国庆": (10, 1), "十一": (10, 1), "双十一": (11, 11), "双11": (11, 11), "双十二": (12, 12),
        "平安夜": (12, 24), "圣诞": (12, 25), "跨年": (12, 31),
    }  # fmt: skip
    if name in fixed:
        return date(year, *fixed[name])
    if not 0 <= year - _LUNAR_FROM < len(_LUNAR):
        return None
    word = _LUNAR[year - _LUNAR_FROM]
    index = {"春节": 0, "过年": 0, "大年初一": 0, "除夕": 0, "年三十": 0, "端午": 1, "中秋": 2}[name]
    day = date(year, int(word[4 * index : 4 * index + 2]), int(word[4 * index + 2 : 4 * index + 4]))
    return day - cal.DAY if name in {"除夕", "年三十"} else day


_WHICH = r"(?P<which>上上上?|下下下?|上|下|这|本)"
_ANY_YEAR = rf"(?:(?P<year>{_YEAR})年的?|(?P<nearyear>大前|前|去|今|本|明|后)年的?)"
_AFTER_WEEKDAY = rf"(?:{_DAYPART})?"

_NEEDS_NOW: Final[tuple[tuple[re.Pattern[str], _Rule], ...]] = (
    (
        re.compile(
            rf"(?P<near>大前|大后|(?<![之以提往从])前|昨|今|明|(?<![之以然往今最])后)(?:天(?!性|然|养成|习得|培养|的努力)|日(?!志)|儿个?)(?:{_DAYPART})?"
            r"|(?:(?P<near2>昨|今|明|前|后)(?:晚上?|早上?|晨|夜))"
        ),
        lambda found: cal.one_day(found.today + timedelta(days=_NEAR_DAYS[found["near"] or found["near2"]])),
    ),
    (re.compile(rf"{_WHICH}(?:个|一)?{_WEEKDAY}{_AFTER_WEEKDAY}"), _weekday),
    (
        re.compile(rf"(?<![一二两三四五六七八九十几每单双整上下这本\d个])(?P<which>){_WEEKDAY}(?!次|遍|回|一次){_AFTER_WEEKDAY}"),
        _weekday,
    ),
    (
        re.compile(rf"(?:{_WHICH}个?)?(?:周末|(?<=[上下这本个])(?:星期|礼拜)末)|(?<!每)(?:周末)(?<=末)"),
        lambda found: _weekend(found),
    ),
    (re.compile(rf"{_WHICH}(?:个|一)?(?:周|星期|礼拜)(?![一二三四五六日天末期年])(?P<edge>初|中|末|起|开始)?"), _week),
    (
        re.compile(
            rf"(?<![第前])(?P<count>{_NUMBER})\s*个?(?P<half>半)?(?P<unit>天|周|星期|礼拜|月|年|小时|钟头|分钟)(?P<half2>半)?(?P<side>之前|以前|前(?![端后面缀])|之后|以后|后(?![端台面续来期]))"
        ),
        _shifted,
    ),
    (
        re.compile(r"几个?(?P<unit>天|周|星期|礼拜|月|年)(?:之前|以前|前(?![端后面缀]))"),
        lambda found: cal.few_ago(found.today, {"天": "d", "月": "m", "年": "y"}.get(found["unit"], "w")),
    ),
    (re.compile(r"(?P<count>半)(?:个)?(?P<half>)(?P<unit>月|小时|钟头|年|天)(?P<side>之前|以前|前|之后|以后|后)"), _shifted),
    (
        re.compile(
            rf"(?P<way>最近|过去|近|未来|接下来|今后|这)(?:的)?(?P<count>{_NUMBER})个?(?P<unit>天|周|星期|礼拜|月|年)(?!前|后)"
        ),
        _stretch,
    ),
    (
        re.compile(
            rf"(?<![\d月个第A-Za-z\-#一二三四五六七八九十廿])(?P<day>{_DAY_NUMBER})\s*(?:号|日(?!常|志|子|报|本|元|程)){_NOT_A_DAY}(?:{_DAYPART})?"
        ),
        _day_of_month,
    ),
    (
        re.compile(
            r"(?<![上下这本个年\d一二三四五六七八九十每])(?P<which>)(?P<month>)(?P<year>)(?P<nearyear>)月(?P<edge>底|初|末|中旬)"
        ),
        _month,
    ),
    (re.compile(r"(?<![今明去前后每\d百零〇一二三四五六七八九])年(?P<edge>底|初|末|尾)"), _year_edge),
    (re.compile(r"(?<![年今明去前后])(?P<half>[上下]半年)"), _half_year),
    (re.compile(r"(?P<which>上|下|这|本)个?(?P<quarter>)(?P<year>)(?P<nearyear>)季度?(?P<edge>初|末|底)?"), _quarter),
    (
        re.compile(
            rf"(?<![\d.一二两三四五六七八九十有差早快:：]){_CLOCK}(?<!一点)(?<![^上午晚早晨里间夜]一点)(?!建议|意见|要求|原因|问题|五|一线|儿|[:：\d])"
        ),
        lambda found: None if _is_count(found) else _clock(found),
    ),
)
_DATED: Final[tuple[tuple[re.Pattern[str], _Rule], ...]] = (
    (
        re.compile(
            rf"{_ANY_YEAR}?(?:{_WHICH}个?月|(?<!个)(?P<month>{_MONTH_NUMBER})\s*月份?)的?\s*(?P<day>{_DAY_NUMBER})(?:\s*(?:到|至|[-–~～])\s*(?P<last>{_DAY_NUMBER}))?\s*[号日]{_NOT_A_DAY}(?:[（(]?{_PLAIN_WEEKDAY}[)）]?)?(?:{_DAYPART})?"
        ),
        _date,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?<![\d.第])(?P<which>)(?P<month>1[0-2]|[1-9])[./](?P<day>[12]\d|3[01]|0?[1-9])(?P<last>)(?=号|日|（|前交)(?:号|日)?"
        ),
        _date,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?:{_WHICH}个?月|(?<![第个\d一二三四五六七八九十半几.])(?P<month>{_MONTH_NUMBER})\s*月份?)(?!\s*{_DAY_NUMBER}\s*[号日])(?!亮|球|经|薪|票|饼|卡|租|费|活|均|度)(?P<edge>底|初|末|中旬|上旬|下旬|起|开始|最后一天)?"
        ),
        _month,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}(?!\s*{_MONTH_NUMBER}\s*月|[上下本这]个?月|第?[一二三四1-4]季|Q[1-4])(?!前|后|龄|代|级|限|轻)(?P<edge>年?底|年?末|年?初|上半年|下半年)?"
        ),
        _year,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?:(?P<which>)第?(?P<quarter>[一二三四1-4])季度|(?<![A-Za-z])Q(?P<q>[1-4])(?!\w))(?P<edge>初|末|底)?"
        ),
        lambda found: _quarter(found) if found["quarter"] else _short_quarter(found),
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?P<holiday>元旦|春节|过年|大年初一|除夕|年三十|清明|五一|劳动节|端午|儿童节|六一|中秋|国庆|双十一|双11|双十二|情人节|妇女节|愚人节|平安夜|圣诞"
            r"|跨年|十一(?=假期|黄金周|长假|期间|放假|回来|出游|国庆))(?:节|当天|那天)?(?!路|街|店|大道|歌|广场)"
        ),
        _holiday,
    ),
)
_COUNTED = re.compile(r"[^，。；]{0,2}(?:点|时)(?!半|一刻|三刻|整|\d|[一二三四五六七八九十]+分)")


def _short_quarter(found: _Found) -> Interval | None:
    year = _year_of(found) or (found.today.year if found.now else None)
    return cal.quarter(year, int(found["q"])) if year else None


def _is_count(found: _Found) -> bool:
    """ "三点" may be three points: an hour needs a part of the day, minutes, digits, or a word that belongs to hours behind it."""
    if found["part"] or found["minute"] or not found["hour"].isascii() or "点钟" in found.match[0]:
        return "时" in found.match[0] and not found["part"]
    return not re.match(r"(?:前|后|之前|以后|左右|开|见|集合|到|出发|上|下|的|$)", found.text[found.match.end() :])


def read_chinese(text: str, now: datetime | None) -> Iterator[Span]:
    """Every Chinese time expression, overlapping ones included; `now` is the speaker's wall clock, None when unknown."""
    if not _HINT.search(text):
        return
    rules = _DATED if now is None else (*_DATED, *_NEEDS_NOW)
    for pattern, rule in rules:
        for match in pattern.finditer(text):
            interval = rule(_Found(match, text, now))
            if interval is not None:
                yield interval.placed(*match.span())
