"""Every request to the Redis working store, as a plan of commands."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from hindsight_langgraph import ops
from hindsight_langgraph.backends import redis_scripts as scripts
from hindsight_langgraph.backends.redis_keys import KeyNames, key_of_member, member
from hindsight_langgraph.backends.working_requests import WorkingRequests
from hindsight_langgraph.backends.working_values import (
    checked_amount,
    checked_owner,
    checked_ttl,
    from_micros,
    to_micros,
)
from hindsight_langgraph.keys import Key
from hindsight_langgraph.ops import Claim, LogEntry
from hindsight_langgraph.plan import Op, Plan, ask

Argument = str | bytes | int


@dataclass(frozen=True, kw_only=True, slots=True)
class Command(Op[Any]):
    """One command to Redis; the reply is as Redis gives it, bytes undecoded."""

    parts: tuple[Argument, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Requests(WorkingRequests):
    """Plans for requests, over keys of one prefix."""

    names: KeyNames

    # --- fields ---

    def _read_fields(self, op: ops.ReadFields) -> Plan[dict[str, bytes]]:
        stored: Mapping[bytes, bytes] = yield from command("HGETALL", self.names.of(op.key)[1])
        written: list[tuple[int, str, bytes]] = []
        for name, held in stored.items():
            if name.startswith(b"f"):
                order, _, value = held.partition(b":")
                written.append((int(order), name[1:].decode(), value))
        return {name: value for _, name, value in sorted(written)}

    def _write_fields(self, op: ops.WriteFields) -> Plan[None]:
        yield from self._on_key(scripts.WRITE_FIELDS, op.key, _ttl(op.ttl_s), *_pairs(op.fields))

    def _fold_fields(self, op: ops.FoldFields) -> Plan[bool]:
        pairs = (*_pairs(op.drop), *_pairs(op.put))
        done = yield from self._on_key(scripts.FOLD_FIELDS, op.key, _ttl(op.ttl_s), len(op.drop), *pairs)
        return bool(done)

    def _drop_fields(self, op: ops.DropFields) -> Plan[int]:
        dropped = yield from self._on_key(scripts.DROP_FIELDS, op.key, *op.names)
        return int(dropped)

    def _add_count(self, op: ops.AddCount) -> Plan[int]:
        total = yield from self._on_key(scripts.ADD_COUNT, op.key, _ttl(op.ttl_s), op.name, op.by)
        return int(total)

    # --- logs ---

    def _append_log(self, op: ops.AppendLog) -> Plan[int]:
        keep = checked_amount(op.keep, what="keep")
        entries = [part for entry in op.entries for part in (entry.id, to_micros(entry.at), entry.body)]
        new = yield from self._on_key(scripts.APPEND_LOG, op.key, _ttl(op.ttl_s), "" if keep is None else keep, *entries)
        return int(new)

    def _read_log(self, op: ops.ReadLog) -> Plan[list[LogEntry]]:
        limit = checked_amount(op.limit, what="limit")
        if limit == 0:
            return []
        _, _, order, bodies = self.names.of(op.key)
        read = "ZRANGE" if op.oldest_first else "ZREVRANGE"
        stored = yield from script(scripts.READ_LOG, (order, bodies), read, -1 if limit is None else limit - 1)
        entries: list[LogEntry] = []
        for entry_id, held in zip(stored[::2], stored[1::2], strict=True):
            micros, _, body = held.partition(b":")
            entries.append(LogEntry(id=entry_id.decode(), at=from_micros(int(micros)), body=body))
        return entries

    def _replace_entry(self, op: ops.ReplaceEntry) -> Plan[bool]:
        replaced = yield from script(scripts.REPLACE_ENTRY, self.names.of(op.key)[3:], op.id, op.body)
        return bool(replaced)

    def _drop_entries(self, op: ops.DropEntries) -> Plan[int]:
        dropped = yield from self._on_key(scripts.DROP_ENTRIES, op.key, *op.ids)
        return int(dropped)

    # --- keys ---

    def _list_keys(self, op: ops.ListKeys) -> Plan[list[Key]]:
        members: list[bytes] = yield from script(scripts.LIST_KEYS, (self.names.index(op.owner),))
        found = [key_of_member(op.owner, name.decode()) for name in members]
        wanted = (key for key in found if op.kind is None or key.kind is op.kind)
        return sorted(wanted, key=lambda key: (key.kind, key.name))

    def _delete_keys(self, op: ops.DeleteKeys) -> Plan[int]:
        keys = checked_owner(op)
        index = self.names.index(op.owner)
        if keys is None:
            # A key that is written after this moment was written after the erasure.
            listed: list[bytes] = yield from command("ZRANGE", index, 0, -1)
            members = [name.decode() for name in listed]
        else:
            members = [member(key) for key in keys]
        if not members:
            return 0
        # Scripts may only touch keys that they are given: some hosted services refuse others.
        behind = [name for each in members for name in self.names.of_member(op.owner, each)]
        deleted = yield from script(scripts.DELETE_KEYS, (index, *behind), *members)
        return int(deleted)

    # --- due items ---

    def _set_due(self, op: ops.SetDue) -> Plan[None]:
        arguments = (op.item, to_micros(op.due), op.body, int(op.only_earlier))
        yield from script(scripts.SET_DUE, self.names.queue(op.queue), *arguments)

    def _claim_due(self, op: ops.ClaimDue) -> Plan[list[Claim]]:
        now, limit = to_micros(op.now), checked_amount(op.limit, what="limit")
        token = secrets.token_hex(16)
        arguments = (now, now + round(op.lease_s * 1_000_000), limit or 0, token)
        claimed = yield from script(scripts.CLAIM_DUE, self.names.queue(op.queue), *arguments)
        return [
            Claim(item=item.decode(), body=body, token=token, attempts=int(attempts))
            for item, body, attempts in zip(claimed[::3], claimed[1::3], claimed[2::3], strict=True)
        ]

    def _settle_due(self, op: ops.SettleDue) -> Plan[bool]:
        retry = "" if op.retry_at is None else to_micros(op.retry_at)
        settled = yield from script(scripts.SETTLE_DUE, self.names.queue(op.queue), op.item, op.token, retry)
        return bool(settled)

    def _extend_lease(self, op: ops.ExtendLease) -> Plan[bool]:
        arguments = (op.item, op.token, to_micros(op.until))
        extended = yield from script(scripts.EXTEND_LEASE, self.names.queue(op.queue), *arguments)
        return bool(extended)

    def _peek_due(self, op: ops.PeekDue) -> Plan[list[tuple[str, datetime]]]:
        limit = checked_amount(op.limit, what="limit")
        if not limit:
            return []
        stored = yield from script(scripts.PEEK_DUE, self.names.queue(op.queue), limit - 1)
        return [(item.decode(), from_micros(int(due))) for item, due in zip(stored[::2], stored[1::2], strict=True)]

    def _on_key(self, source: str, key: Key, *arguments: Argument) -> Plan[Any]:
        reply = yield from script(source, self.names.of(key), member(key), *arguments)
        return reply


def command(*parts: Argument) -> Plan[Any]:
    """Send one command; once more, on a new connection, when the connection was dropped.

    A timeout is not tried again: the caller's patience is spent by then.
    """
    from redis.exceptions import ConnectionError as Dropped

    request = Command(parts=parts)
    try:
        return (yield from ask(request))
    except Dropped as error:
        if type(error) is not Dropped:  # its subclasses are refusals of a server that is there
            raise
    return (yield from ask(request))


def script(source: str, keys: tuple[str, ...], *arguments: Argument) -> Plan[Any]:
    """Run a script by its digest; a server that does not know it gets the source."""
    from redis.exceptions import NoScriptError

    try:
        return (yield from command("EVALSHA", _digest(source), len(keys), *keys, *arguments))
    except NoScriptError:
        return (yield from command("EVAL", source, len(keys), *keys, *arguments))


@cache
def _digest(source: str) -> str:
    return hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


def _pairs(fields: Mapping[str, bytes]) -> list[Argument]:
    return [part for pair in fields.items() for part in pair]


def _ttl(ttl_s: float | None) -> Argument:
    """Milliseconds, rounded up, so that a short life is never none at all."""
    return "" if (ttl_s := checked_ttl(ttl_s)) is None else math.ceil(ttl_s * 1000)
