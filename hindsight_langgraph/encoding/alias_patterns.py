"""Read from a text that two names mean one thing: "in chat she goes by ...", "也叫", "是同一个人" (SPEC A7)."""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph.encoding.name_patterns import CHINESE_PERSON, NO_NAME, last_name

_OPEN: Final = "[\"“‘「『']?"
_CLOSE: Final = "[\"”’」』']?"
_CAPITAL: Final = r"[A-Z0-9][\w&+#-]*(?:\.\w+)*"
_NAME: Final = rf"(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?(?:[Tt]he )?(?!I\b){_CAPITAL}(?: (?:(?:of|the|de|van|von) )?{_CAPITAL})*"
_ANY: Final = rf"(?:[\"“‘'](?P<quoted>[^\"”’']{{2,40}})[\"”’']|(?P<bare>{_NAME}|[a-z0-9]+(?:[-_.][a-z0-9]+)+|[A-Za-z][\w+#.-]*))"

_PAIR_ENGLISH: Final = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"(?P<name>{_NAME})(?:\s*[,(–—]\s*|\s+)(?:who is |which is |is )?(?:(?:also |better |formerly |previously "
            rf"|otherwise |sometimes )?(?:known as|referred to as)|(?:also|sometimes|otherwise) called|aka|a\.k\.a\."
            rf"|AKA)\s+{_ANY}"
        ),
        rf"(?P<name>{_NAME})\s+(?:also )?goes by\s+{_ANY}",
        rf"(?P<name>{_NAME})(?:['’]s nickname is|['’]s handle is|['’]s alias is)\s+{_ANY}",
        rf"(?P<name>{_NAME}),? or {_ANY} for short",
        rf"(?P<name>{_NAME}) \({_ANY} for short\)",
        (
            rf"{_ANY}(?:,| is| stands| \()?\s*(?:short|shorthand|stands|an abbreviation|the abbreviation|my shorthand|our"
            rf" shorthand|the nickname|another name) (?:for|of) (?P<name>{_NAME}|[a-z][\w+#.-]+)"
        ),
        rf"{_ANY} and (?P<name>{_NAME}) are (?:the same|one and the same|both the same)\b",
        rf"{_ANY} is (?:the same (?:person|thing|project|service|one|place|company) as|just another name for) (?P<name>{_NAME})",
        rf"(?:[Bb]y|[Ww]hen I say|[Ww]hen I write|[Ii]f I say) {_ANY},? I (?:always )?mean (?P<name>{_NAME})",
        (
            rf"(?:[Ee]veryone|[Ee]verybody|[Pp]eople|[Ww]e|[Tt]hey|I|[Cc]olleagues|[Ff]riends)(?: all| just| usually|"
            rf" always)? calls? (?P<name>{_NAME}) {_ANY}"
        ),
    )
)
_PRONOUN_ENGLISH: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Hh]e|[Ss]he|[Tt]hey|[Ii]t)(?: also| just)? go(?:es)? by(?: the name)?\s+(?:of )?{_ANY}",
        (
            rf"(?:[Ee]veryone|[Ee]verybody|[Pp]eople|[Ww]e|[Tt]hey|I|[Cc]olleagues|[Ff]riends)(?: all| just| usually|"
            rf" always| sometimes)? calls? (?:him|her|them|it)\s+{_ANY}"
        ),
        rf"\b(?:also known as|a\.k\.a\.|aka|AKA)\s+{_ANY}",
        rf"\b(?:[Hh]is|[Hh]er|[Tt]heir|[Ii]ts) (?:nickname|handle|alias|short name|code name|codename) is\s+{_ANY}",
        (
            rf"\b(?:in my notes|in chat|in the chat|in messages|sometimes),? (?:I|we)(?: just| usually| only)? (?:write"
            rf"|say|type|put|use)\s+(?:the name )?{_ANY}"
        ),
    )
)
_ARTICLE_ALIAS: Final = re.compile(r"(?:the|The) [A-Z][a-z]+")

_HAN_NAME: Final = r"[\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z0-9·-]{0,7}?"
_HAN_END: Final = r"(?=[，。；,.;！!？?、）)”\"」』\s]|$|都是|是同|的(?!人)|了|吧)"
_PAIR_CHINESE: Final = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"{_OPEN}(?P<alias>{_HAN_NAME}){_CLOSE}(?:和|跟|与|就是|=){_OPEN}(?P<name>{_HAN_NAME}){_CLOSE}(?:其实|都)?"
            rf"(?:是|指)(?:的是)?(?:同一|一回事|一个人|一个东西)"
        ),
        (
            rf"{_OPEN}(?P<alias>{_HAN_NAME}){_CLOSE}是{_OPEN}(?P<name>{_HAN_NAME}){_CLOSE}的(?:简称|缩写|昵称|小名|外号"
            rf"|绰号|别名|代号|英文名|笔名|网名)"
        ),
        (
            rf"{_OPEN}(?P<name>{_HAN_NAME}){_CLOSE}的(?:简称|缩写|昵称|小名|外号|绰号|别名|代号|英文名|笔名|网名)(?:叫"
            rf"|是){_OPEN}(?P<alias>{_HAN_NAME}){_CLOSE}{_HAN_END}"
        ),
        (
            rf"{_OPEN}(?P<name>{_HAN_NAME}){_CLOSE}[，,（(]?(?:也叫|又叫|又名|简称|别名|人称|也称|俗称|亦称|外号|小名)"
            rf"(?:作|做)?{_OPEN}(?P<alias>{_HAN_NAME}){_CLOSE}{_HAN_END}"
        ),
        (
            rf"当面叫{_OPEN}(?P<name>{_HAN_NAME}){_CLOSE}[，,]\s*(?:背后|背地里|私下)(?:里)?叫{_OPEN}"
            rf"(?P<alias>{_HAN_NAME}){_CLOSE}{_HAN_END}"
        ),
        rf"我说的?{_OPEN}(?P<alias>{_HAN_NAME}){_CLOSE}(?:就是指|指的是|就是|是指){_OPEN}(?P<name>{_HAN_NAME}){_CLOSE}{_HAN_END}",
    )
)
_PRONOUN_CHINESE: Final = re.compile(
    rf"(?:(?:大家|他们|我们|同事|别人|朋友|人们|群里|圈里|大伙)?(?:都|也|又|一般|平时|平常|有时候?|习惯|私下|背后|常)*"
    rf"(?:会)?(?:管[他她它])?叫(?:[他她它]们?|(?<=都叫)|(?<=也叫)|(?<=又叫))"
    rf"|(?:我|我们)?(?:有时候?|偶尔|经常|老)?(?:会)?(?:打成|写成|简称|写作|叫成|喊)(?:[他她它])?){_OPEN}"
    rf"(?P<alias>{_HAN_NAME}){_CLOSE}{_HAN_END}"
)
_NO_ALIAS_WORDS: Final = (
    "什么 他 她 它 我 你 人 法 名字 停 外卖 车 起来 醒 苦 好 板 座 作 做 这个 那个 群里 大家 他们 我们 同事 人们 "
    "it that this the so"
)
_NO_ALIAS: Final = frozenset(_NO_ALIAS_WORDS.split())
_HINT: Final = re.compile(
    r"goes? by|known as|called|a\.?k\.?a|referred to|nickname|handle|alias|short|stands|same|\bmean|calls? |another"
    r" name|codename|code name|\bI (?:just |usually |only )?(?:write|say|type|put|use)"
    r"|叫|又名|简称|同一|一回事|一个人|昵称|小名|外号|绰号|别名|代号|人称|俗称|打成|写成|写作|喊|就是|指|缩写|网名|笔名",
    re.IGNORECASE,
)


def stated_aliases(text: str) -> list[tuple[str, str]]:
    """Pairs (name, alias) that a text states, in order; the name is the one to keep."""
    if not _HINT.search(text):
        return []
    found: list[tuple[str, str]] = []
    for pattern in _PAIR_ENGLISH:
        found.extend((match["name"].strip(), _alias(match)) for match in pattern.finditer(text) if _abbreviates(match))
    for pattern in _PRONOUN_ENGLISH:
        for match in pattern.finditer(text):
            name = last_name(text[max(0, match.start() - 200) : match.start()])
            if name:
                found.append((name, _alias(match)))
    for pattern in _PAIR_CHINESE:
        found.extend((_person(match["name"]), _person(match["alias"])) for match in pattern.finditer(text))
    for match in _PRONOUN_CHINESE.finditer(text):
        name = last_name(text[max(0, match.start() - 200) : match.start()])
        if name:
            found.append((name, match["alias"]))
    return [(name, alias) for name, alias in dict.fromkeys(found) if _is_pair(name, alias)]


def _alias(match: re.Match[str]) -> str:
    return (match["quoted"] or match["bare"]).strip(" .,")


def _abbreviates(match: re.Match[str]) -> bool:
    """Whether "X is short for Y" speaks of names at all: the letters of the one stand in the other, in order."""
    if not re.search(r"short(?:hand)? for|stands for|abbreviation", match[0]):
        return True
    letters = iter(match["name"].lower())
    return all(char in letters for char in _alias(match).lower() if char.isalnum())


def _person(name: str) -> str:
    """The person's name inside a longer run, where there is exactly one: Chinese writes no blanks round it."""
    people = CHINESE_PERSON.findall(name)
    return str(people[0]) if len(people) == 1 else name


def _is_pair(name: str, alias: str) -> bool:
    one, other = name.lower(), alias.lower()
    return bool(one) and bool(other) and one != other and not {one, other} & (_NO_ALIAS | NO_NAME)
