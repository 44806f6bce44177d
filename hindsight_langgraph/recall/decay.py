"""How much a memory has faded (SPEC C1, C2, C5, C7; CASES O22)."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from hindsight_langgraph.errors import ConfigError

NEUTRAL = 1.0
"""The factor of a memory whose age nobody knows."""
DAY_S = 86_400.0


def age_days(moment: datetime | str | None, now: datetime) -> float | None:
    """Age in days, never below 0: a clock ahead of ours makes nothing newer than now. None when the moment is unknown."""
    then = _instant(moment)
    return None if then is None else max(0.0, (now - then).total_seconds() / DAY_S)


def decay(moment: datetime | str | None, now: datetime, *, per_day: float) -> float:
    """exp(-per_day x age), from 0 to 1; the neutral factor when the age is unknown."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:  # as a unit has it, hundreds of times a recall
        return math.exp(-per_day * max(0.0, (now - moment).total_seconds() / DAY_S))
    age = age_days(moment, now)
    return NEUTRAL if age is None else math.exp(-per_day * age)


def rate_of_half_life(days: float) -> float:
    """The rate per day that halves a memory in `days`.

    Raises:
        ConfigError: a half-life of nothing or less.
    """
    if not days > 0 or not math.isfinite(days):
        raise ConfigError(f"a half-life is a positive number of days, not {days}")
    return math.log(2) / days


def _instant(moment: datetime | str | None) -> datetime | None:
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            return None
    if moment is None:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
