"""The system clock: the only place that asks what time it is."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """The present instant in UTC."""
        return datetime.now(UTC)
