"""The session buffer: the last turns of one thread, read back newest first under a token budget (SPEC A4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from hindsight_langgraph import keys
from hindsight_langgraph.codec import decode_turn, encode_turn
from hindsight_langgraph.config import WorkingConfig
from hindsight_langgraph.ops import AppendLog, LogEntry, ReadLog
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.ports import TokenCounter
from hindsight_langgraph.records import Scope, Turn


def in_order(turns: Sequence[Turn], now: datetime) -> list[tuple[Turn, datetime]]:
    """Turns with the moment that a log orders them by; those whose own is unknown keep their order, a microsecond apart."""
    return [(turn, turn.at or now + timedelta(microseconds=place)) for place, turn in enumerate(turns)]


def session_entries(turns: Sequence[Turn], now: datetime) -> tuple[LogEntry, ...]:
    """Turns as the buffer keeps them."""
    return tuple(LogEntry(id=turn.id, at=moment, body=encode_turn(turn)) for turn, moment in in_order(turns, now))


def append_session(scope: Scope, turns: Sequence[Turn], *, now: datetime, config: WorkingConfig) -> Plan[int]:
    """Keep turns in the buffer; a turn that is there already is left alone. Returns how many were new."""
    if not turns:
        return 0
    entries = session_entries(turns, now)
    return (
        yield from ask(AppendLog(key=keys.session(scope), entries=entries, ttl_s=config.session_ttl_s, keep=config.session_keep))
    )


def read_session(scope: Scope, *, counter: TokenCounter, config: WorkingConfig, budget: int | None = None) -> Plan[list[Turn]]:
    """The newest turns of the thread whose texts fit the budget, newest first.

    A turn that does not fit is passed over, so that one long tool result does not hide what was said before it.

    Args:
        scope: whose thread.
        counter: counts the tokens of a text.
        config: holds the default budget, 2,000 tokens.
        budget: tokens at the most; None takes the configured ones.
    """
    left = config.session_tokens if budget is None else budget
    entries = yield from ask(ReadLog(key=keys.session(scope), limit=config.session_keep))
    kept: list[Turn] = []
    for entry in entries:
        turn = decode_turn(entry.body)
        cost = counter(turn.text)
        if cost <= left:
            kept.append(turn)
            left -= cost
    return kept
