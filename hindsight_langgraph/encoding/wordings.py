"""Turns of phrase by which a text repeats, adds to, ends or numbers something, in English and Chinese."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

RESTATED: Final = re.compile(
    r"\b(?:still|as (?:ever|always|before|usual|agreed|decided|said|planned)(?: before)?|(?:as|like) i (?:said|told you)(?: before)?|same as(?: (?:ever|before|always))?"
    r"|stays?|again|unchanged|no change|(?:has not|hasn't) changed|keep using|keep to|reiterate[sd]?|repeats? that|stick (?:to|with)|remains?|once more)\b"
    r"|照旧|照样|还是(?!算|[^，。,；]{1,8}吧)|没有?变|不变|没改|再说一[遍次]|重申|一直|仍然?|依旧|依然|[跟和](?:之前|以前|原来)一样|老样子|老规矩",
    re.IGNORECASE,
)
"""The words of a text that say that it only repeats what held before."""

BESIDES: Final = re.compile(
    r"\balso\b|\b(?:too|as well)\s*[.,!]|\bin addition\b|\bon top of\b|\bbesides\b|\bplus\b|\ba second\b|\badded\b|\banother\b(?! (?:day|time|week|month|year))"
    r"|也(?!别|不|没|要求)|还(?=有|会|养|在|喜欢|用|住|加|多)|此外|除了?[^，。]{1,12}(?:之?外|以外)|之外|(?:又|再|另|多)(?:加|添|报|开|养|买|带)了?(?:一|两|个|门|只)",
    re.IGNORECASE,
)
"""Words by which a second value stands beside the first."""
ADDS: Final = re.compile(
    r"\bin addition\b|\bon top of\b|\bas well as\b|\ba second\b|\badded\b|除了?[^，。]{1,12}(?:之?外|以外)|之外|(?:又|再|另|多)(?:加|添|报|开|养|买|带)了?(?:一|两|个|门|只)",
    re.IGNORECASE,
)
"""Those that nothing else is said with."""
ENDED: Final = re.compile(
    r"\b(?:(?:is|are|was|were|'s|'re) (?:off|over|gone|out|dead|done|finished|closed|history|no more)\b(?! (?:to|in|on|by)\b)|(?:fell|falls?|fallen) through|"
    r"no longer|any ?more|(?:has|have|'s|'ve) (?:left|quit|resigned|retired|gone|moved|stopped)|(?:moved|went|transferred) (?:to|over|on)|(?:resigned|retired|left)\b(?! (?:over|on|in|side|hand|of)\b)|handed in|gave up|given up|gone off|"
    r"called off|cancel\w*|scrapped|dropped|shelved|sold|broke up|ran out|shut down|instead)"
    r"|(?:不|没)[^，。；！？]{0,6}了|没[^，。；！？]{1,6}成|(?:退|停|黄|凉|散|拆|卖|荒|辞|走|坏|丢|扔|盘出去|离职|辞职|回老家|取消|作废|关门|到期)了|别再|不再|回老家|离开|离职|退休|调走|调(?:去|到)|卸任",
    re.IGNORECASE,
)
"""Words by which something comes to its end."""
TOLD_APART: Final = re.compile(
    r"\b(?:mix\w* (?:it|them|those|these|that)? ?up|confuse|not to be confused|unlike|another one|a different|a second)\b|"
    r"(?:别|不要)(?:和.{1,8})?(?:弄|搞|记|看)(?:混|串|错|反)|不是一回事|另一个",
    re.IGNORECASE,
)
"""Words by which two things are told apart."""
LABELLED: Final = re.compile(
    r"\b(?!(?:at|from|to|by|of|in|on|than|and|or|for|until|till|about|around|over|under|only|just|is|are|was|has|have|with|the|per|all|some|another|plus|up|down|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december)\b)([A-Za-z]{2,}) ?(\d+(?:\.\d+)?)\b(?![:.]\d)",
    re.IGNORECASE,
)
"""A number with its name before it: "PostgreSQL 17", "port 8080"."""
_CLAUSE_END: Final = re.compile(r"[.,;!?:。，；！？：\n]+")


def says_it_ended(text: str) -> bool:
    """Whether a text says that something is over, or that someone left."""
    return ENDED.search(text) is not None


def numbered_names(text: str) -> Mapping[str, frozenset[str]]:
    """Numbers by the name before them: "Go 1.22" is "1.22" of "go"."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for match in LABELLED.finditer(text):
        found[match[1].casefold()].add(match[2])
    return {name: frozenset(numbers) for name, numbers in found.items()}


def restated_clauses(text: str) -> list[str]:
    """The clauses of a text that say that they only repeat what held before."""
    return [clause for clause in clauses_of(text) if RESTATED.search(clause)]


def clauses_of(text: str) -> list[str]:
    """A text cut at its punctuation."""
    return [clause for clause in _CLAUSE_END.split(text) if clause.strip()]
