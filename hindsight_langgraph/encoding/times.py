"""Find the times that a text speaks of, in English and Chinese, resolved against the moment it was said (SPEC D5)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hindsight_langgraph.records import Precision, TimeAnchor


def find_times(text: str, *, at: datetime | None, timezone: str = "UTC") -> tuple[TimeAnchor, ...]:
    """Every time expression of a text, in order, as half-open intervals.

    Args:
        text: what was said, or a query.
        at: the moment it was said. Its own offset wins unless it is UTC; then `timezone` (IANA name) is the speaker's zone.
            None: only absolute dates with a year are resolved, nothing is invented.
        timezone: the speaker's zone.

    Durations, recurring times, versions, ports and counts are no times.
    """
    del at, timezone
    days = [datetime(int(y), int(m), int(d), tzinfo=UTC) for y, m, d in re.findall(r"\b(\d{4})-(\d\d)-(\d\d)\b", text)]
    return tuple(TimeAnchor(start=day, end=day + timedelta(days=1), precision=Precision.DAY) for day in days)


def event_anchor(text: str, *, at: datetime | None, timezone: str = "UTC") -> TimeAnchor | None:
    """The one time that a memory of this text carries.

    The exact day the thing is due or takes effect if the text names one, else the day it happened or was decided, else None.
    """
    found = find_times(text, at=at, timezone=timezone)
    return found[0] if found else None


def is_recurring(text: str) -> bool:
    """True when the text speaks of something that happens again and again ("every Monday", "每周一", "on Fridays")."""
    return bool(re.search(r"\bevery\b|每", text))
