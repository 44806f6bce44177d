"""One run of consolidation: whose memory, which passes, and what changed since the one before."""

from __future__ import annotations

from datetime import datetime

from hindsight_langgraph.consolidation.changes import PassName
from hindsight_langgraph.consolidation.report import Level
from hindsight_langgraph.records import Record, Scope


class Run(Record):
    """One consolidation of one owner."""

    scope: Scope
    level: Level
    now: datetime
    since: datetime | None = None
    """Units changed after this moment are looked at; None for all."""
    passes: tuple[PassName, ...]
