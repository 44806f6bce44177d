"""The payloads that an engine's searches returned last, for an engine that one process alone writes to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final
from uuid import UUID

from hindsight_langgraph.backends.engine import EngineOp, Overwrite, Remove, Upsert
from hindsight_langgraph.backends.filters import Conditions, HasId
from hindsight_langgraph.backends.payload import Payload

_REMEMBERED: Final = 8_192
"""Points; each about a kilobyte."""


class PayloadMemory:
    """Ids and payloads of points, by the number that an id is: making text of an id takes longer than finding what is kept.

    The engine takes 4.5 microseconds to find a payload, and a search for a hundred units then takes ten times as long as without.
    Nothing stale is ever read: each write is announced here before it is made, and what it may change is forgotten.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[str, Payload]] = OrderedDict()

    def payloads(self, wanted: Iterable[int], read: Callable[[list[int]], dict[int, Payload]]) -> dict[int, tuple[str, Payload]]:
        """The ids and payloads of points; those that are not remembered are read, all at once.

        Args:
            wanted: the points' numbers.
            read: gives the payloads of points.
        """
        kept = self._kept
        found = {each: kept.get(each) for each in wanted}
        missing = [each for each, point in found.items() if point is None]
        if missing:
            new = {each: (str(UUID(int=each)), payload) for each, payload in read(missing).items()}
            found |= new
            kept |= new
            while len(kept) > _REMEMBERED:
                kept.popitem(last=False)
        return {each: point for each, point in found.items() if point is not None}

    def forget(self, op: EngineOp[Any]) -> None:
        """Forget what a write may change."""
        match op:
            case Upsert():
                self._drop([point.id for point in op.points])
            case Overwrite():
                self._drop_matching([conditions for conditions, _ in op.changes])
            case Remove():
                self._drop_matching(op.conditions)
            case _:
                pass  # other requests change no payload

    def _drop(self, ids: Iterable[str]) -> None:
        for each in ids:
            self._kept.pop(UUID(each).int, None)

    def _drop_matching(self, changes: Collection[Conditions]) -> None:
        for conditions in changes:
            named = [each.ids for each in conditions if isinstance(each, HasId)]
            if named:
                self._drop(named[0])
            else:
                self._kept.clear()
