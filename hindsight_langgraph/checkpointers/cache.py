"""A bounded store of the most recently used values, shared by threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Cache(Generic[V]):
    """Keeps what was used last, up to `limit` in the unit that callers weigh entries by."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """The value under a key, which becomes the most recent."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def add(self, key: Hashable, value: V, weight: int = 1) -> bool:
        """Keep a value unless there is one under the key, which becomes the most recent. Returns whether it was kept."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return False
            self._keep(key, value, weight)
            return True

    def put(self, key: Hashable, value: V, weight: int = 1) -> None:
        """Keep a value; the least recent ones make room. One that is heavier than the limit is not kept."""
        with self._lock:
            old = self._entries.pop(key, None)
            if old is not None:
                self._weight -= old[1]
            self._keep(key, value, weight)

    def drop(self, key: Hashable) -> None:
        """Forget a key, if it is there."""
        with self._lock:
            old = self._entries.pop(key, None)
            if old is not None:
                self._weight -= old[1]

    def _keep(self, key: Hashable, value: V, weight: int) -> None:
        if weight > self._limit:
            return
        self._entries[key] = (value, weight)
        self._weight += weight
        while self._weight > self._limit:
            _, (_, freed) = self._entries.popitem(last=False)
            self._weight -= freed
