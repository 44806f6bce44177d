"""Names in a text, each under one id per user (SPEC A7)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final, Self

from hindsight_langgraph.encoding.alias_patterns import stated_aliases
from hindsight_langgraph.encoding.name_patterns import names_in
from hindsight_langgraph.encoding.technologies import BUILT_IN, NEED_CAPITAL

_TITLED: Final = re.compile(r"^(mr|mrs|ms|miss|dr|prof|professor|sir|lady)\.? (\S.*)$")
_MALE: Final = frozenset({"mr", "sir"})
_FEMALE: Final = frozenset({"mrs", "ms", "miss", "lady"})
_TOKEN: Final = re.compile(r"\.?[A-Za-z][A-Za-z0-9]*(?:[.+#_-]+[A-Za-z0-9]+|[+#]+)*|(?<![\w.-])\d{3,10}(?![\w.-]|%)")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LONGEST_ALIAS: Final = 5
"""Words of the longest alias that is looked up."""


@lru_cache(maxsize=16_384)
def normalise(name: str) -> str:
    """The key of a name: NFKC, lower case, single blanks, no article, possessive or outer punctuation.

    Nothing is stemmed or guessed: "A1032" and "A1023", "Dray" and "Dray-Lite" stay apart.
    """
    key = " ".join(unicodedata.normalize("NFKC", name).lower().replace("’", "'").split())
    key = key.strip("\"'“”‘`「」『』()[]（）,;:!?，。、 ").removesuffix("'s").rstrip(".")
    key = re.sub(r"^(?:(?:the|a|an) (?=\S))+", "", key)
    return re.sub(r"^(mr|mrs|ms|dr|prof)\. ?(?=\S)", r"\1 ", key)


class AliasTable:
    """The aliases of one user's entities: built-in technology names, and what that user's texts taught.

    A value: every change returns another table. `learned` maps alias key → id and is what gets stored, so that each alias can be
    taken back. `seen` are ids of things the user spoke of before: they are found in a text however they are written.
    """

    def __init__(self, learned: Mapping[str, str] | None = None, *, seen: Iterable[str] = ()) -> None:
        self.learned: Mapping[str, str] = MappingProxyType(dict(learned or {}))
        self.seen = frozenset(map(normalise, seen))

    @cached_property
    def _han(self) -> re.Pattern[str] | None:
        """Every known name with a Chinese character, longest first."""
        names = [key for key in {*self.learned, *self.learned.values(), *self.seen} if _HAN.search(key) and len(key) > 1]
        return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True)))) if names else None

    @cached_property
    def _whole(self) -> Mapping[str, str | None]:
        """First or last word of a longer name seen before → that name; None where two names share the word."""
        found: dict[str, str | None] = {}
        for name in self.seen:
            words = name.split()
            for word in {words[0], words[-1]} if len(words) > 1 else ():
                found[word] = None if word in found else name
        return found

    def mention(self, name: str) -> str:
        """The id that a mention means: `resolve`, and "the Ledger" is the one thing seen whose name begins or ends with it."""
        key = normalise(name)
        whole = None if self.knows(key) else self._whole.get(key)
        return self.resolve(whole or key)

    def mentions(self, text: str) -> list[tuple[int, int, str]]:
        """Mentions (start, end, id) of Chinese names known to this table."""
        return [(match.start(), match.end(), self.resolve(match[0])) for match in self._han.finditer(text)] if self._han else []

    def resolve(self, name: str) -> str:
        """The id of the thing that a name means; an unknown name is its own id. A chain of aliases is followed to its end."""
        key = normalise(name)
        passed: set[str] = set()
        while key in self.learned and key not in passed:
            passed.add(key)
            key = self.learned[key]
        return BUILT_IN.get(key, key)

    def knows(self, key: str) -> bool:
        """Whether a key is an alias, an id, or was seen before."""
        return key in self.learned or key in BUILT_IN or key in self.seen or key in self.learned.values()

    def learn(self, text: str) -> Self:
        """The table after reading a text that may say that two names mean one thing ("X, also known as Y")."""
        table = self
        for name, alias in stated_aliases(text):
            table = table.link(alias, name)
        for _, name in names_in(text):
            table = table.titled(normalise(name))
        return table

    def link(self, alias: str, name: str) -> Self:
        """The table in which `alias` means what `name` means. Two ids of built-in technologies are never joined."""
        key, target = normalise(alias), self.resolve(name)
        current = self.resolve(alias)
        if not key or not target or current == target or (key in BUILT_IN and target in BUILT_IN.values()):
            return self
        if current != key:  # the alias meant something already: both mean one thing now
            key = current
        return self._replaced({**self.learned, key: target})

    def forget(self, alias: str) -> Self:
        """The table without one learned alias; the name is its own id again."""
        key = normalise(alias)
        return self._replaced({other: target for other, target in self.learned.items() if other != key})

    def with_seen(self, names: Iterable[str]) -> Self:
        """The table that also knows these things."""
        return type(self)(self.learned, seen={*self.seen, *map(normalise, names)})

    def _replaced(self, learned: Mapping[str, str]) -> Self:
        return type(self)(learned, seen=self.seen)

    def titled(self, key: str) -> Self:
        """The table after "Mr Chen": "chen" means him, and "Dr Chen" too; a Mrs Chen is another, and then "chen" is nobody."""
        match = _TITLED.match(key)
        if not match or key in self.learned:
            return self
        title, name = match.groups()
        holder = self.learned.get(name)
        if holder is None:
            return self._replaced({**self.learned, name: key})
        if holder == key or not (known := _TITLED.match(holder)):
            return self
        apart = (known[1] in _MALE and title in _FEMALE) or (known[1] in _FEMALE and title in _MALE)
        # a name that means itself is held by nobody, and stays so
        return self._replaced({**self.learned, name: name} if apart else {**self.learned, key: holder})


def find_entities(text: str, known: AliasTable) -> tuple[str, ...]:
    """Ids of the things that a text names, each once, in order of first mention."""
    found = [(at, -len(name), known.mention(name)) for at, name in names_in(text)]
    found.extend(_known(text, known))
    found.sort()
    kept: dict[str, None] = {}
    end = -1
    for at, length, entity in found:
        if entity and (at >= end or entity not in kept):
            if at < end and not known.knows(entity):
                continue  # a part of a longer name
            kept.setdefault(entity, None)
            end = max(end, at - length)
    return tuple(kept)


def _known(text: str, known: AliasTable) -> list[tuple[int, int, str]]:
    """Mentions of known names however they are written: runs of Latin words, Chinese names by substring."""
    found: list[tuple[int, int, str]] = []
    tokens = list(_TOKEN.finditer(text))
    index = 0
    while index < len(tokens):
        for last in range(min(len(tokens), index + _LONGEST_ALIAS) - 1, index - 1, -1):
            start, end = tokens[index].start(), tokens[last].end()
            key = normalise(text[start:end])
            if known.knows(key) and not (
                key in NEED_CAPITAL and text[start].islower() and key not in known.seen and key not in known.learned
            ):
                found.append((start, start - end, known.resolve(key)))
                index = last
                break
        index += 1
    found.extend((start, start - end, entity) for start, end, entity in known.mentions(text))
    return found
