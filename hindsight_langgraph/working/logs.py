"""Records in logs of the working store: read whole, or put in the place of an earlier one."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from pydantic import ValidationError

from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.keys import Key
from hindsight_langgraph.ops import AppendLog, LogEntry, ReadLog, ReplaceEntry
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Record

R = TypeVar("R", bound=Record)


def read_log(key: Key, form: type[R], *, what: str, remedy: str = "") -> Plan[list[R]]:
    """Every record of a log, oldest first.

    Args:
        key: of the log.
        form: what its entries hold.
        what: one of them in words, for the error.
        remedy: what to do about one that cannot be read, where there is something.

    Raises:
        StoreCorrupt: an entry is no such record.
    """
    entries = yield from ask(ReadLog(key=key, oldest_first=True))
    try:
        return [form.model_validate_json(entry.body) for entry in entries]
    except ValidationError as error:
        raise StoreCorrupt(f"{what} cannot be read: {error}{remedy and f'; {remedy}'}") from error


def put_record(key: Key, record: Record, *, name: str, at: datetime, keep: int) -> Plan[None]:
    """Store a record in the place of an earlier one of its name, or at the end; of the log the newest `keep` stay."""
    body = record.model_dump_json(exclude_defaults=True).encode()
    if not (yield from ask(ReplaceEntry(key=key, id=name, body=body))):
        yield from ask(AppendLog(key=key, entries=(LogEntry(id=name, at=at, body=body),), keep=keep))
