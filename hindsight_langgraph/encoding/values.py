"""Compares the values of two statements: the same, more of the same, or another (SPEC F3).

A value is read as quantities (with their units on one scale), plain words and negated words, in English and Chinese. "90 minutes" and
"1.5 h", "ninety rolls" and "90 rolls", "Saturday 8 November" and "8 November" say the same; "nginx" and "not nginx" do not.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from hindsight_langgraph.lexical import terms


class Likeness(StrEnum):
    """How a newer value stands to an older one."""

    SAME = "same"
    """Equal, or a repeat in fewer words."""
    MORE = "more"
    """The older value with something added."""
    OTHER = "other"


class Reading(NamedTuple):
    """A value in parts."""

    amounts: frozenset[tuple[Fraction, str]]
    words: frozenset[str]
    negated: frozenset[str]
    withdrawn: bool
    listed: bool
    """Whether it joins several things, so that dropping one is a change."""


_UNITS: Final = {
    "s": ("s second seconds sec secs 秒 秒钟", "time", Fraction(1)),
    "min": ("min mins minute minutes 分钟", "time", Fraction(60)),
    "h": ("h hr hrs hour hours 小时 钟头", "time", Fraction(3600)),
    "day": ("day days 天 日", "time", Fraction(86_400)),
    "week": ("week weeks 周 星期", "time", Fraction(604_800)),
    "mm": ("mm millimetre millimetres millimeter millimeters 毫米", "length", Fraction(1, 1000)),
    "cm": ("cm centimetre centimetres centimeter centimeters 厘米 公分", "length", Fraction(1, 100)),
    "m": ("m metre metres meter meters 米", "length", Fraction(1)),
    "km": ("km kilometre kilometres kilometer kilometers 公里 千米", "length", Fraction(1000)),
    "g": ("g gram grams gramme grammes 克", "mass", Fraction(1)),
    "jin": ("斤", "mass", Fraction(500)),
    "kg": ("kg kilo kilos kilogram kilograms 公斤 千克", "mass", Fraction(1000)),
    "ml": ("ml millilitre millilitres milliliter milliliters 毫升", "volume", Fraction(1, 1000)),
    "l": ("l litre litres liter liters 升", "volume", Fraction(1)),
    "kb": ("kb", "bytes", Fraction(1, 1000)),
    "mb": ("mb", "bytes", Fraction(1)),
    "gb": ("gb", "bytes", Fraction(1000)),
    "tb": ("tb", "bytes", Fraction(1_000_000)),
    "percent": ("% percent per cent 百分之", "share", Fraction(1)),
    "euro": ("€ eur euro euros 欧元", "euro", Fraction(1)),
    "dollar": ("$ usd dollar dollars 美元 美金", "dollar", Fraction(1)),
    "pound": ("£ gbp quid 英镑", "pound", Fraction(1)),
    "yuan": ("¥ rmb cny yuan 元 块 块钱 人民币", "yuan", Fraction(1)),
}
_UNIT_OF: Final = {name: (scale, factor) for names, scale, factor in _UNITS.values() for name in names.split()}
_UNIT_NAMES: Final = "|".join(re.escape(name) for name in sorted(_UNIT_OF, key=len, reverse=True))

_SMALL: Final = {
    word: n
    for n, word in enumerate(
        [
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
    )
}
_TENS: Final = {
    word: 10 * n for n, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2)
}
_ENGLISH: Final = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<ones>{'|'.join(list(_SMALL)[1:10])}))?|(?P<small>{'|'.join(_SMALL)}))\b"
    r"(?: (?P<power>hundred|thousand|million))?"
)
_POWERS: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_DIGITS: Final = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_PLACES: Final = {"十": 10, "百": 100, "千": 1_000}
_CHINESE: Final = re.compile(r"[零〇一二两三四五六七八九十百千万]+")
_AMOUNT: Final = re.compile(
    rf"(?P<before>[€$£¥]|百分之)?(?P<number>\d+(?:[,，]\d{{3}})*(?:\.\d+)?)(?P<scale>\s?[万亿k](?![a-z]))?\s?(?P<unit>(?:{_UNIT_NAMES})(?![a-z]))?"
)
_SCALES: Final = {"k": 1_000, "万": 10_000, "亿": 100_000_000}
_CODE: Final = re.compile(r"(?:\d+[.:/-]){2,}\d+|\d+:\d+|\b\w*[a-z]-?\d\w*|\d+e-?\d+")
"""Addresses, dates, times of day, names with digits: compared as they are written."""
_DAYS: Final = {
    day: en
    for en, names in {
        "monday": "周一 星期一 礼拜一 mon mondays", "tuesday": "周二 星期二 礼拜二 tue tuesdays", "wednesday": "周三 星期三 礼拜三 wed wednesdays",
        "thursday": "周四 星期四 礼拜四 thu thursdays", "friday": "周五 星期五 礼拜五 fri fridays", "saturday": "周六 星期六 礼拜六 sat saturdays",
        "sunday": "周日 周天 星期日 星期天 礼拜天 sun sundays", "english": "英语 英文", "chinese": "中文 汉语 普通话 mandarin", "french": "法语 法文",
        "german": "德语 德文", "japanese": "日语 日文", "spanish": "西班牙语", "russian": "俄语", "coffee": "咖啡", "tea": "茶",
    }.items()
    for day in names.split()
}  # fmt: skip
_DAY: Final = re.compile("|".join(rf"\b{day}\b" if day.isascii() else day for day in sorted(_DAYS, key=len, reverse=True)))
_WHOLE: Final = {
    zh: en
    for en, names in {
        "yes": "是 对 是的 对的", "no": "否 不是", "peanuts": "花生", "nuts": "坚果", "penicillin": "青霉素", "seafood": "海鲜", "shrimp": "虾", "fish": "鱼",
        "eggs": "鸡蛋", "milk": "牛奶", "lactose": "乳糖", "soy": "大豆", "wheat": "小麦", "gluten": "麸质", "sesame": "芝麻", "mango": "芒果", "pollen": "花粉",
        "dust mites": "尘螨", "latex": "乳胶", "beef": "牛肉", "pork": "猪肉", "lamb": "羊肉", "vegan": "纯素 纯素食", "vegetarian": "素 素食 素食者",
        "cat": "猫", "dog": "狗", "red": "红色", "blue": "蓝色", "green": "绿色", "yellow": "黄色", "black": "黑色", "white": "白色", "wine": "红酒", "beer": "啤酒",
    }.items()
    for zh in names.split()
}  # fmt: skip
"""Everyday values, above all what one may be allergic to; only where they are the whole value."""
_MONTHS: Final = {
    name: number
    for number, month in enumerate(
        (
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ),
        start=1,
    )
    for name in (month, month[:3])
} | {"sept": 9}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})|(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?)\b"
    r"(?:,? (?P<year>\d{4}))?"
    r"|(?:(?P<year3>\d{4})\s?年\s?)?(?P<month3>\d{1,2})\s?月\s?(?P<day3>\d{1,2})\s?[日号]?|(?P<year4>\d{4})-(?P<month4>\d\d)-(?P<day4>\d\d)"
)
_NEGATION: Final = re.compile(
    r"\b(?:no longer|not|no|never|without|except|instead of|rather than|don't|doesn't|isn't|won't|can't|nor)\b\s*(?:(?:the|an?|any|more|want|wants|use|uses)\s+)*"
    r"(?P<en>[\w'-]+)|(?:不再|不要|不用|不喝|不吃|不是|不|没有|没|无|别|非)(?P<zh>[\u4e00-\u9fffA-Za-z]+)",
    re.IGNORECASE,
)
_WITHDRAWN: Final = re.compile(
    r"\b(?:withdrawn|retracted|revoked|void|cancel(?:led|ed)|called off|postponed|paused|stopped|forgotten|deleted|ended|only|just)\b"
    r"|撤回|作废|取消|删除|暂停|停用|作罢|不算|谣言|误会|只剩|仅|忘掉",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"\b(?:and|plus)\b|&|[和与及跟]", re.IGNORECASE)


def compare_values(older: str, newer: str, *, restated: bool = False) -> Likeness:
    """How `newer` stands to `older`.

    Args:
        older: the value said before.
        newer: the value said after.
        restated: whether the newer text says that it only repeats ("still", "as always", "照旧"): then leaving a part out changes
            nothing.
    """
    one, other = read_value(older), read_value(newer)
    if one._replace(listed=False) == other._replace(listed=False):
        return Likeness.SAME
    said_shorter = one.negated and not other.negated and other.amounts | other.words == one.amounts | one.words != frozenset()
    if said_shorter and one.withdrawn == other.withdrawn:
        return Likeness.SAME  # "oak, not pine" → "oak"
    if one.withdrawn != other.withdrawn or not _fits(one.negated, other.negated):
        return Likeness.OTHER
    everything, said = one.amounts | one.words | one.negated, other.amounts | other.words | other.negated
    if said and said <= everything and (restated or not one.listed):
        return Likeness.SAME
    if everything and everything < said:
        return Likeness.MORE
    return Likeness.OTHER


@lru_cache(maxsize=8_192)
def read_value(value: str) -> Reading:
    """A value in parts."""
    text = unicodedata.normalize("NFKC", value).casefold().strip()
    text = _DAY.sub(lambda match: f" {_DAYS[match[0]]} ", text)
    text = _WHOLE.get(text, text)
    text = _CHINESE.sub(lambda match: _chinese_number(match[0]), _ENGLISH.sub(_english_number, text))
    text = _DATE.sub(_date, text)
    negated = frozenset(term for match in _NEGATION.finditer(text) for term in terms(match["en"] or match["zh"]))
    withdrawn = bool(_WITHDRAWN.search(text))
    listed = bool(_LISTED.search(text))
    plain = _NEGATION.sub(" ", text)
    codes = frozenset(match[0] for match in _CODE.finditer(plain))
    plain = _CODE.sub(" ", plain)
    amounts = frozenset(_amount(match) for match in _AMOUNT.finditer(plain))
    words = frozenset(terms(_AMOUNT.sub(" ", plain)))
    return Reading(amounts=amounts, words=words | codes, negated=negated, withdrawn=withdrawn, listed=listed)


def _fits(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the negated words of two values do not speak against each other."""
    return one == other or bool(one and other and (one <= other or other <= one))


def _date(match: re.Match[str]) -> str:
    """A day in one form, whatever the language: " 5m3d ", with its year as a word of its own."""
    name = match["month"] or match["month2"]
    month = _MONTHS[name] if name else int(match["month3"] or match["month4"])
    day = int(match["day"] or match["day2"] or match["day3"] or match["day4"])
    year = match["year"] or match["year3"] or match["year4"]
    return f" {month}m{day}d {f'y{year} ' if year else ''}"


def _amount(match: re.Match[str]) -> tuple[Fraction, str]:
    number = Fraction(match["number"].replace(",", "").replace("，", "")) * _SCALES.get((match["scale"] or "").strip(), 1)
    unit = match["unit"] or match["before"]
    if unit is None:
        return number, ""
    scale, factor = _UNIT_OF[unit]
    return number * factor, scale


def _english_number(match: re.Match[str]) -> str:
    number = _TENS[match["tens"]] + _SMALL.get(match["ones"] or "zero", 0) if match["tens"] else _SMALL[match["small"]]
    return str(number * _POWERS.get(match["power"] or "", 1))


def _chinese_number(text: str) -> str:
    """A Chinese numeral in digits: 九十 → 90, 一万二千 → 12000; a run that is no numeral stays as it is."""
    total = section = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _PLACES:
            section += (digit or 1) * _PLACES[char]
            digit = 0
        else:
            total = (total + section + digit or 1) * 10_000
            section = digit = 0
    return str(total + section + digit)
