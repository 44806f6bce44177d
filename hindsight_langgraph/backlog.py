"""Turns held in the process while no store takes them: bounded, and honest about what it had to let go."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import Final

from hindsight_langgraph.records import Scope, Turn

logger = logging.getLogger("hindsight_langgraph")

LIMIT: Final = 1_000


class Backlog:
    """The last `limit` turns that found no store, of all owners together. Safe to use from many threads."""

    def __init__(self, *, limit: int = LIMIT) -> None:
        self.lost = 0
        """Turns let go since the start."""
        self._limit = limit
        self._kept: deque[tuple[Scope, Turn]] = deque()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, scope: Scope, turns: tuple[Turn, ...]) -> None:
        """Hold turns; a turn that is held already is left alone. Past the limit the oldest are let go."""
        with self._lock:
            held = {(s.owner, s.session_id, t.id) for s, t in self._kept}
            self._kept.extend((scope, turn) for turn in turns if (scope.owner, scope.session_id, turn.id) not in held)
            over = len(self._kept) - self._limit
            for _ in range(over):
                self._kept.popleft()
            if over > 0:
                self.lost += over
                logger.warning("no store has taken turns for long; %d are lost, the last %d are held", self.lost, self._limit)

    def take(self, owner: str) -> list[tuple[Scope, tuple[Turn, ...]]]:
        """Everything held for an owner, oldest first, grouped by scope; it is held no longer."""
        with self._lock:
            mine = [(scope, turn) for scope, turn in self._kept if scope.owner == owner]
            self._kept = deque((scope, turn) for scope, turn in self._kept if scope.owner != owner)
        groups: dict[Scope, list[Turn]] = {}
        for scope, turn in mine:
            groups.setdefault(scope, []).append(turn)
        return [(scope, tuple(turns)) for scope, turns in groups.items()]
