"""How long the calls of running agents took, until what they answered is taken in."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from langchain_core.messages import BaseMessage, ToolMessage

from hindsight_langgraph.records import Turn

KEPT: Final = 10_000
"""Calls that are remembered; older ones have long been taken in."""


class CallTimes:
    """Durations in seconds by the id of a tool call, or of the message that a model answered with. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._took: OrderedDict[str, float] = OrderedDict()

    def note(self, ids: Iterable[str | None], began: datetime, ended: datetime) -> None:
        """Keep how long the call took that these ids name."""
        with self._lock:
            for name in ids:
                if name:
                    self._took[name] = max(0.0, (ended - began).total_seconds())
            while len(self._took) > KEPT:
                self._took.popitem(last=False)

    def tell(self, turns: Sequence[Turn], messages: Sequence[BaseMessage]) -> list[Turn]:
        """The turns of messages with how long each took, where that is known."""
        calls = {message.id: message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
        with self._lock:
            took = {turn.id: self._took.get(calls.get(turn.id, turn.id)) for turn in turns}
        return [turn if took[turn.id] is None else turn.model_copy(update={"took_s": took[turn.id]}) for turn in turns]
