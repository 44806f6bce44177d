"""Read Chinese time expressions into spans of the speaker's wall clock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from hindsight_langgraph.encoding import times_calendar as cal
from hindsight_langgraph.encoding import times_match
from hindsight_langgraph.encoding.times_calendar import Span
from hindsight_langgraph.encoding.times_chinese_rules import (
    is_count,
    read_clock,
    read_date,
    read_day_of_month,
    read_half_year,
    read_holiday,
    read_month,
    read_near_day,
    read_quarter,
    read_shifted,
    read_short_quarter,
    read_stretch,
    read_week,
    read_weekday,
    read_weekend,
    read_year,
    read_year_edge,
)
from hindsight_langgraph.encoding.times_chinese_words import (
    CLOCK,
    DAY_NUMBER,
    DAYPART,
    MONTH_NUMBER,
    NOT_A_DAY,
    NUMBER,
    PLAIN_WEEKDAY,
    WEEKDAY,
    YEAR,
    tense,
)
from hindsight_langgraph.encoding.times_match import Rules

_HINT = re.compile(
    r"天|日|号|周|星期|礼拜|月|年|晚|夜|早|晨|点|小时|钟头|分钟|季|节|元旦|国庆|五一|十一|双1|除夕|跨年|中秋|端午|清明|[:：]\d\d"
)
_WHICH = r"(?P<which>上上上?|下下下?|上|下|这|本)"
_ANY_YEAR = rf"(?:(?P<year>{YEAR})年的?|(?P<nearyear>大前|前|去|今|本|明|后)年的?)"
_AFTER_WEEKDAY = rf"(?:{DAYPART})?"
_NEEDS_NOW: Final[Rules] = (
    (
        re.compile(
            rf"(?P<near>大前|大后|(?<![之以提往从])前|昨|今|明|(?<![之以然往今最])后)(?:天(?!性|然|养成|习得|培养"
            rf"|的努力)|日(?!志)|儿个?)(?:{DAYPART})?"
            r"|(?:(?P<near2>昨|今|明|前|后)(?:晚上?|早上?|晨|夜))"
        ),
        read_near_day,
    ),
    (re.compile(rf"{_WHICH}(?:个|一)?{WEEKDAY}{_AFTER_WEEKDAY}"), read_weekday),
    (
        re.compile(rf"(?<![一二两三四五六七八九十几每单双整上下这本\d个])(?P<which>){WEEKDAY}(?!次|遍|回|一次){_AFTER_WEEKDAY}"),
        read_weekday,
    ),
    (
        re.compile(rf"(?:{_WHICH}个?)?(?:周末|(?<=[上下这本个])(?:星期|礼拜)末)|(?<!每)(?:周末)(?<=末)"),
        read_weekend,
    ),
    (re.compile(rf"{_WHICH}(?:个|一)?(?:周|星期|礼拜)(?![一二三四五六日天末期年])(?P<edge>初|中|末|起|开始)?"), read_week),
    (
        re.compile(
            rf"(?<![第前])(?P<count>{NUMBER})\s*个?(?P<half>半)?(?P<unit>天|周|星期|礼拜|月|年|小时|钟头|分钟)"
            rf"(?P<half2>半)?(?P<side>之前|以前|前(?![端后面缀])|之后|以后|后(?![端台面续来期]))"
        ),
        read_shifted,
    ),
    (
        re.compile(
            rf"(?:再过|再有|还有|还剩|过)(?P<count>{NUMBER})\s*个?(?P<half>半)?(?P<unit>天|周|星期|礼拜|月|小时|分钟)"
            r"(?P<side>)(?=就|便|才|要|到期|截止|开|，|,)"
        ),
        read_shifted,
    ),
    (
        re.compile(r"几个?(?P<unit>天|周|星期|礼拜|月|年)(?:之前|以前|前(?![端后面缀]))"),
        lambda found: cal.few_ago(found.today, {"天": "d", "月": "m", "年": "y"}.get(found["unit"], "w")),
    ),
    (re.compile(r"(?P<count>半)(?:个)?(?P<half>)(?P<unit>月|小时|钟头|年|天)(?P<side>之前|以前|前|之后|以后|后)"), read_shifted),
    (
        re.compile(
            rf"(?P<way>最近|过去|近|未来|接下来|今后|这)(?:的)?(?P<count>{NUMBER})个?(?P<unit>天|周|星期|礼拜|月|年)(?!前|后)"
        ),
        read_stretch,
    ),
    (
        re.compile(
            rf"(?<![\d月个第A-Za-z\-#一二三四五六七八九十廿])(?P<day>{DAY_NUMBER})\s*(?:号|日(?!常|志|子|报|本|元"
            rf"|程)){NOT_A_DAY}(?:{DAYPART})?"
        ),
        read_day_of_month,
    ),
    (
        re.compile(
            r"(?<![上下这本个年\d一二三四五六七八九十每])(?P<which>)(?P<month>)(?P<year>)(?P<nearyear>)月(?P<edge>底|初|末|中旬)"
        ),
        read_month,
    ),
    (re.compile(r"(?<![今明去前后每\d百零〇一二三四五六七八九])年(?P<edge>底|初|末|尾)"), read_year_edge),
    (re.compile(r"(?<![年今明去前后])(?P<half>[上下]半年)"), read_half_year),
    (re.compile(r"(?P<which>上|下|这|本)个?(?P<quarter>)(?P<year>)(?P<nearyear>)季度?(?P<edge>初|末|底)?"), read_quarter),
    (
        re.compile(
            rf"(?<![\d.一二两三四五六七八九十有差早快:：]){CLOCK}(?<!一点)(?<![^上午晚早晨里间夜]一点)(?!建议|意见"
            rf"|要求|原因|问题|五|一线|儿|[:：\d])"
        ),
        lambda found: None if is_count(found) else read_clock(found),
    ),
)
_DATED: Final[Rules] = (
    (
        re.compile(
            rf"{_ANY_YEAR}?(?:{_WHICH}个?月|(?<!个)(?P<month>{MONTH_NUMBER})\s*月份?)的?\s*(?P<day>{DAY_NUMBER})(?:\s*"
            rf"(?:到|至|[-–~～])\s*(?P<last>{DAY_NUMBER}))?\s*[号日]{NOT_A_DAY}(?:[（(]?{PLAIN_WEEKDAY}[)）]?)?"
            rf"(?:{DAYPART})?"
        ),
        read_date,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?<![\d.第])(?P<which>)(?P<month>1[0-2]|[1-9])[./](?P<day>[12]\d|3[01]|0?[1-9])(?P<last>)"
            rf"(?=号|日|（|前交)(?:号|日)?"
        ),
        read_date,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?:{_WHICH}个?月|(?<![第个\d一二三四五六七八九十半几.])(?P<month>{MONTH_NUMBER})\s*月份?)"
            rf"(?!\s*{DAY_NUMBER}\s*[号日])(?!亮|球|经|薪|票|饼|卡|租|费|活|均|度)(?P<edge>底|初|末|中旬|上旬|下旬|起"
            rf"|开始|最后一天)?"
        ),
        read_month,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}(?!\s*{MONTH_NUMBER}\s*月|[上下本这]个?月|第?[一二三四1-4]季|Q[1-4])(?!前|后|龄|代|级|限|轻)"
            rf"(?P<edge>年?底|年?末|年?初|上半年|下半年)?"
        ),
        read_year,
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?:(?P<which>)第?(?P<quarter>[一二三四1-4])季度|(?<![A-Za-z])Q(?P<q>[1-4])(?!\w))(?P<edge>初|末|底)?"
        ),
        lambda found: read_quarter(found) if found["quarter"] else read_short_quarter(found),
    ),
    (
        re.compile(
            rf"{_ANY_YEAR}?(?P<holiday>元旦|春节|过年|大年初一|除夕|年三十|清明|五一|劳动节|端午|儿童节|六一|中秋|国庆"
            rf"|双十一|双11|双十二|情人节|妇女节|愚人节|万圣|平安夜|圣诞"
            r"|跨年|十一(?=假期|黄金周|长假|期间|放假|回来|出游|国庆))(?:节|当天|那天)?(?!路|街|店|大道|歌|广场)"
        ),
        read_holiday,
    ),
)


def read_chinese(text: str, now: datetime | None) -> Iterator[Span]:
    """Every Chinese time expression, overlapping ones included; `now` is the speaker's wall clock, None when unknown."""
    if not _HINT.search(text):
        return
    rules = _DATED if now is None else (*_DATED, *_NEEDS_NOW)
    yield from times_match.read(rules, text, now, tense)
