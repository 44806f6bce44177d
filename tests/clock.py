"""A clock for tests that stands still until it is told to move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

NOON = datetime(2025, 3, 10, 12, 0, tzinfo=UTC)
"""A Monday; where a test names no other moment, it is this one."""


class FakeClock:
    """Tells the moment that it was set to; fits the `Clock` port."""

    def __init__(self, start: datetime = NOON) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock needs a timezone-aware start")
        self._now = start

    def now(self) -> datetime:
        """The moment that this clock stands at."""
        return self._now

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        """Move on and return the new moment."""
        self._now += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._now

    def set(self, moment: datetime) -> None:
        """Move to a moment, back or forth."""
        if moment.tzinfo is None:
            raise ValueError("a clock needs a timezone-aware moment")
        self._now = moment
