"""The English words of time: numbers, weekdays, tenses, habits."""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph.encoding.times_match import clause_round

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNITS_TO_19_WORDS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_UNITS_TO_19: Final = tuple(_UNITS_TO_19_WORDS.split())
_NUMBERS: Final = {word: number for number, word in enumerate(_UNITS_TO_19)} | {
    "a": 1,
    "an": 1,
    "another": 1,
    "couple": 2,
    "few": 3,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}
ORDINALS: Final = {
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
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WEEKDAY_SHORT = r"(?:mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)(?![a-z])\.?"
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)(?![a-z])\.?"
)
_WORD_ORDINAL = "(?:" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + ")"
DAY_NUMBER = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{_WORD_ORDINAL})(?![\w%])"
YEAR = r"(?:(?:19|20)\d\d)(?![\d.:-]\d|\d)"
COUNT = (
    r"(?:\d{1,3}|half an?|(?:a )?couple(?: of)?|a few|an?|another|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|ninety)"
)
UNIT = r"(?:min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?|fortnights?|months?|quarters?|years?)(?![\w-])"
DAYPART = r"(?:[ ,]+(?:early |late )?(?:morning|afternoon|evening|night|lunchtime)(?![\w-]))?"
AFTER_DAY_OF_MONTH = (
    r"(?=\s*(?:$|[.,;:!?)\]—–\"'”’]|-\s|(?:of|at|to|and|or|in|for|so|because|we|i|it|is|was|then|but|when|which"
    r"|instead|as|if|morning|"
    r"afternoon|evening|night|until|till|through|with|he|she|they|you|please|now|not|this|next|after|before|from|that|by|latest|"
    r"works?|onwards?|if|my|our|the)\b))"
)
PAST_TENSE: Final = re.compile(
    r"\b(?:was|were|did|didn['’]t|had|has been|have been|ago|went|came|met|said|told|rang|got|made|took|saw|left"
    r"|sent|wrote|bought|sold"
    r"|broke|died|fell|gave|began|ran|held|lost|found|felt|heard|chose|drove|flew|spoke|paid|built|caught|kept|brought|grew|led"
    r"|won|woke|slept|ate|drank|just|already|since|back on|[a-z]{3,}(?<!ne)(?<!spe)(?<!exc)(?<!proc)(?<!fe)ed)\b",
    re.IGNORECASE,
)
FUTURE_TENSE: Final = re.compile(
    r"\b(?:will|won['’]t|going to|is due|due|by|deadline|until|till|must|has to|have to|needs? to|should|shall|can"
    r"|scheduled|planned"
    r"|booked|is set"
    rf"|moved to(?=\s+(?:the\s+|early\s+|mid\W?|late\s+)*(?:next|this|{MONTH}|{WEEKDAY}|{WEEKDAY_SHORT}|\d|tomorrow|tonight|noon|week|spring|summer|autumn|fall|winter)\b)"
    r"|pushed to|postponed|rescheduled|moves?|starts?|begins?|ends?|closes?|opens?|expires?"
    r"|launch(?:es)?|let['’]s)\b"
    r"|['’]ll\b|(?:\b(?:am|is|are)|['’](?:m|s|re)) (?:now\b|(?!doing|going)\w{2,}ing\b)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?\n—]\s|[,;]\s+(?:and|but|so|then|because)\b|\s(?:but|because)\s|,\s")
RECURRING: Final = re.compile(
    rf"\b(?:every|each)\s+(?:other\s+|second\s+|single\s+|{COUNT}\s+)?(?:{WEEKDAY}|{WEEKDAY_SHORT}|morning|afternoon"
    rf"|evening|night|day"
    rf"|weekday|weekend|week|fortnight|month|quarter|year|hour|minute|{MONTH}|spring|summer|autumn|fall|winter)s?"
    rf"(?:(?:\s+(?:and|or)\s+|,\s*){WEEKDAY}s?)*(?:\s+(?:morning|afternoon|evening|night)s?)?(?:\s+at\s+\d{{1,2}}"
    rf"(?::\d\d)?(?:\s?[ap]m)?)?"
    rf"|\b{WEEKDAY}s\b|\b{WEEKDAY}\s+(?:mornings|afternoons|evenings|nights)\b|\bweekends\b|\bweekdays\b"
    r"|\b(?:daily|weekly|fortnightly|biweekly|monthly|quarterly|yearly|annually|nightly|hourly)\b"
    rf"|\b(?:once|twice|{COUNT} times)\s+(?:a|an|per|every)\s+(?:hour|day|week|month|quarter|year)\b"
    rf"|\bdays?\s+(?:off\s+)?(?:is|are)\s+(?:now\s+|always\s+)?{WEEKDAY}(?:\s+(?:and|or)\s+{WEEKDAY})*"
    rf"|\b(?:the|on)\s+(?:{_WORD_ORDINAL}|last|\d{{1,2}}(?:st|nd|rd|th))\s+(?:{WEEKDAY}|working day|business day|day)?\s*"
    r"of\s+(?:the|each|every)\s+(?:month|quarter|week|year)\b"
    rf"|\b(?:always|usually|normally|typically)\b[^.;!?]{{0,40}}\b(?:on|at)\s+(?:{WEEKDAY}|\d{{1,2}}(?::\d\d)?)"
    rf"|(?<!next )(?<!last )(?<!this )\b{WEEKDAY}\s+is\s+(?:always\s+|usually\s+)?(?:my|our|the|his|her|their)\s+"
    rf"(?!last|first|final|big)(?:[a-z]+\s+)?(?:day|night|evening)\b"
    r"|\bmonday\s+(?:to|through|-|–)\s+(?:thurs|fri|satur|sun)day\b",
    re.IGNORECASE,
)


def tense(text: str, start: int, end: int) -> bool | None:
    """Whether the clause round text[start:end] speaks of the past (True), the future (False), or shows neither (None)."""
    clause = clause_round(text, start, end, _CLAUSE_END)
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


def day_number(word: str) -> int:
    """The day that "10th" or "twenty-third" names."""
    digits = re.match(r"\d+", word)
    return int(digits[0]) if digits else ORDINALS[word]


def month_number(word: str) -> int:
    """The month that "May" or "Sept." names."""
    return _MONTHS.index(word[:3]) + 1


def weekday_number(word: str) -> int:
    """The weekday, Monday 0, that "Fri" or "friday" names."""
    return next(index for index, name in enumerate(_WEEKDAYS) if name.startswith(word[:3]))


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
