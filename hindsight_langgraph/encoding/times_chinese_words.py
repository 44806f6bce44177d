"""The Chinese words of time: numbers, weekdays, tenses, habits."""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph.encoding.times_match import clause_round

_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九十百廿卅]{1,6}|半)"
YEAR = r"(?:(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3})"
DAY_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十廿卅]{1,4})"
MONTH_NUMBER = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]|正|腊)"
DAYPART = r"(?:凌晨|清晨|清早|一早|早上|早晨|上午|中午|午后|下午|傍晚|晚上|晚间|夜里|夜间|半夜|深夜|早|晚)"
CLOCK = (
    rf"(?:(?P<part>{DAYPART})的?\s*)?(?P<hour>\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})(?:点钟?|时|[:：](?=\d\d))"
    rf"(?P<minute>半|一刻|三刻|整|\d{{1,2}}分?|[一二三四五六七八九十]{{1,3}}分)?"
)
NOT_A_DAY = (
    r"(?!线|机|楼|店|门|库|桌|位|仓|方案|厅|口|馆|节点|服务器|车|码|称|召|令|实验|选手|院|病|坑|柜|窗|文件|分支|通道|订单"
    r"|牌|电池|主机|集群|字|球|人|房|屋|教室|会议室|任务|需求|工单|问题|版|样|标|池|站)"
)
PAST_TENSE: Final = re.compile(
    r"了(?!吧)|过(?!一会|两天|几天|期|程)|刚|已经|曾|的$|的(?=[，。,.！!])|[说讲提问聊谈见买卖写][^，。]{0,3}|定的"
    r"|之前|以来|结果|宕|崩|挂"
)
FUTURE_TENSE: Final = re.compile(
    r"要|会(?!议|上|后|员)|将|得(?=去|交|做|走)|打算|准备|计划|截止|截稿|到期|之前|以前|前(?=[^天面端]|$)|开始|上线"
    r"|下线|上新|发布|约|安排|预定|生效|起$|再|改到|推到|延到|推迟|提前|出发|交付|交货|开学|开会|记得|提醒|别忘"
)
_CLAUSE_END = re.compile(r"[，。！？；：,.!?;:\n]")
_WEEKDAY_WORD = r"(?:周|星期|礼拜)"
WEEKDAY = rf"{_WEEKDAY_WORD}(?P<weekday>[一二三四五六日天])"
PLAIN_WEEKDAY = rf"{_WEEKDAY_WORD}[一二三四五六日天]"
RECURRING: Final = re.compile(
    rf"(?:每逢|每隔|每|逢|隔)(?:个|一|两|二|三|\d+|半)?(?:个)?(?:{PLAIN_WEEKDAY}(?:[、和,，]?{PLAIN_WEEKDAY}"
    rf"|[、和][一二三四五六日])*|年|季度|月|周末|周|星期|礼拜|天|日|晚|早上|早|晚上|小时|分钟|工作日)"
    rf"(?:底|初|末|中旬)?(?:的)?(?:{MONTH_NUMBER}月)?(?:{DAY_NUMBER}[号日])?(?:{DAYPART})?"
    rf"(?:\s*{CLOCK.replace('?P<part>', '?:').replace('?P<hour>', '?:').replace('?P<minute>', '?:')})?"
    rf"|{PLAIN_WEEKDAY}(?:[、和到至跟]{_WEEKDAY_WORD}?[一二三四五六日天])*(?:{DAYPART})?(?:都|固定|一律|照例|总是|通常"
    rf"|一般|轮休|休息|公休|店休|例会|不营业|休(?=[，。！,.!]|$))"
    rf"|(?:固定|一般|通常|总是|都是|只能|只许|只准|只在|只剩)在?{PLAIN_WEEKDAY}"
    rf"(?:[、和跟]{_WEEKDAY_WORD}?[一二三四五六日天])*(?:{DAYPART})?(?:休息?|(?=[^，。]{{0,12}}(?:以后|之后|以前"
    rf"|之前)?[做发上跑开]))?"
    rf"|(?:改成|改为|改到|换成|换到|排在){PLAIN_WEEKDAY}"
    rf"(?:[、和跟]?{PLAIN_WEEKDAY}|(?:[、和跟]{_WEEKDAY_WORD}?[一二三四五六日天])*(?:休|轮|值班|公休))"
    rf"|{PLAIN_WEEKDAY}[^，。]{{0,4}}(?:固定|一律|照例|总是|通常|雷打不动)"
    rf"|{_WEEKDAY_WORD}一(?:到|至|[-–~～]){_WEEKDAY_WORD}?[一二三四五六日天]"
    rf"|(?:单周|双周|工作日|节假日|逢年过节)|(?:平时|平常|一到|一般){PLAIN_WEEKDAY}"
    r"|[一二两三四五六七八九十\d]{1,4}(?:天|周|个?月|年)[一二两三四五六七八九十\d]{1,4}次|天天|年年|月月|周周"
)


def tense(text: str, start: int, end: int) -> bool | None:
    """Whether the clause round text[start:end] speaks of the past (True), the future (False), or shows neither (None)."""
    clause = clause_round(text, start, end, _CLAUSE_END)
    if re.search(r"(?:改|推|延|挪|提前|推迟|延期)到", clause):
        return False  # whatever was moved there lies ahead, though the moving is done
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


def year_number(word: str) -> int:
    """The year that "2026" or "二〇二六" names."""
    return int(word) if word.isascii() else int("".join(str(_DIGITS[char]) for char in word))


def month_number(word: str) -> int:
    """The month that "7", "七" or "腊" names."""
    return {"正": 1, "腊": 12}.get(word) or int(number(word))


def weekday_number(word: str) -> int:
    """The weekday, Monday 0, that "三" or "天" names."""
    return "一二三四五六日天".index(word) % 7 if word != "天" else 6


def units_away(word: str) -> int:
    """How many units away: 上 -1, 上上 -2, 下 1, 下下 2, 这 or 本 0."""
    return word.count("下") - word.count("上")


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
