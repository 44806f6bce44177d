"""Secrets that were taken out before, so that an echo is known again where nothing beside it tells what it is (CASES O24)."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Final

MOST_OF_AN_OWNER: Final = 100
MOST_OWNERS: Final = 1_000


class KnownSecrets:
    """The last secrets of each owner, in this process alone: they are stored nowhere, and a restart forgets them.

    Only what can be no ordinary word or number is kept: who once said that the password is "swordfish" may still go fishing.
    """

    def __init__(self) -> None:
        self._of: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, owner: str) -> tuple[str, ...]:
        """What is known of an owner."""
        with self._lock:
            return tuple(self._of.get(owner, ()))

    def learn(self, owner: str, secrets: Iterable[str]) -> None:
        """Keep more; past the limits the oldest go."""
        telling = [secret for secret in secrets if is_telling(secret)]
        if not telling:
            return
        with self._lock:
            known = self._of.setdefault(owner, OrderedDict())
            self._of.move_to_end(owner)
            for secret in telling:
                known[secret] = None
                known.move_to_end(secret)
            _shorten(known, MOST_OF_AN_OWNER)
            _shorten(self._of, MOST_OWNERS)


def is_telling(secret: str) -> bool:
    """Whether no ordinary text holds this by accident: six characters or more, letters with digits or signs; or the digits of a card."""
    digits, letters = len(re.findall(r"\d", secret)), len(re.findall(r"[A-Za-z]", secret))
    signs = bool(re.search(r"[^\w\s.,;:!?'’-]|_", secret))
    return secret.isascii() and len(secret) >= 6 and (digits >= 12 or (letters > 0 and (digits > 0 or signs)))


def _shorten(kept: OrderedDict[str, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
