"""A clock that stands where the replayed conversation is."""

from __future__ import annotations

from datetime import UTC, datetime


class ReplayClock:
    """Shows the moment it was last set to."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment.astimezone(UTC)

    def now(self) -> datetime:
        """The moment of the conversation."""
        return self._moment

    def set(self, moment: datetime) -> None:
        """Move to a moment."""
        self._moment = moment.astimezone(UTC)
