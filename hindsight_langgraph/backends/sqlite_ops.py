"""Every request to the embedded working store, as statements inside one open transaction."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from datetime import datetime

from hindsight_langgraph import ops
from hindsight_langgraph.backends.working_requests import WorkingRequests
from hindsight_langgraph.backends.working_values import (
    added,
    checked_amount,
    checked_owner,
    checked_ttl,
    from_micros,
    kind_of,
    to_micros,
)
from hindsight_langgraph.keys import Key
from hindsight_langgraph.ops import Claim, LogEntry

_PURGED = 32
"""At most so many expired keys are removed by one write: it bounds what a write costs, and more than one a write keeps up."""

READS = (ops.ReadFields, ops.ReadLog, ops.ListKeys, ops.PeekDue)
"""Requests that change nothing."""


class Transaction(WorkingRequests):
    """The requests of a working store on an open transaction at one moment, `now_us` microseconds since 1970."""

    def __init__(self, connection: sqlite3.Connection, *, now_us: int) -> None:
        self._run = connection.execute
        self._now_us = now_us

    def purge(self) -> None:
        """Remove some of the keys that are expired longest."""
        self._run(
            "DELETE FROM keys WHERE id IN (SELECT id FROM keys WHERE expires_us <= ? ORDER BY expires_us LIMIT ?)",
            (self._now_us, _PURGED),
        )

    # --- fields ---

    def _read_fields(self, op: ops.ReadFields) -> dict[str, bytes]:
        return dict(self._run("SELECT name, value FROM fields WHERE key_id = ? ORDER BY written", (self._find(op.key),)))

    def _write_fields(self, op: ops.WriteFields) -> None:
        key_id = self._open(op.key, op.ttl_s)
        self._put(key_id, op.fields)
        self._drop_if_empty(key_id)

    def _fold_fields(self, op: ops.FoldFields) -> bool:
        held = self._read_fields(ops.ReadFields(key=op.key))
        if any(held.get(name) != value for name, value in op.drop.items()):
            return False
        key_id = self._open(op.key, op.ttl_s)
        self._delete_fields(key_id, tuple(op.drop))
        self._put(key_id, op.put)
        self._drop_if_empty(key_id)
        return True

    def _drop_fields(self, op: ops.DropFields) -> int:
        key_id = self._find(op.key)
        dropped = self._delete_fields(key_id, op.names)
        self._drop_if_empty(key_id)
        return dropped

    def _add_count(self, op: ops.AddCount) -> int:
        key_id = self._open(op.key, op.ttl_s)
        row = self._run("SELECT value FROM fields WHERE key_id = ? AND name = ?", (key_id, op.name)).fetchone()
        total = added(row and row[0], op.by, name=op.name)
        self._put(key_id, {op.name: str(total).encode()})
        return total

    # --- logs ---

    def _append_log(self, op: ops.AppendLog) -> int:
        keep = checked_amount(op.keep, what="keep")
        key_id = self._open(op.key, op.ttl_s)
        new = sum(
            self._run(
                "INSERT INTO entries (key_id, id, at_us, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (key_id, entry.id, to_micros(entry.at), entry.body),
            ).rowcount
            for entry in op.entries
        )
        if keep is not None:
            self._run(
                "DELETE FROM entries WHERE key_id = :key AND id IN "
                "(SELECT id FROM entries WHERE key_id = :key ORDER BY at_us DESC, id DESC LIMIT -1 OFFSET :keep)",
                {"key": key_id, "keep": keep},
            )
        self._drop_if_empty(key_id)
        return new

    def _read_log(self, op: ops.ReadLog) -> list[LogEntry]:
        limit = checked_amount(op.limit, what="limit")
        order = "at_us, id" if op.oldest_first else "at_us DESC, id DESC"
        rows = self._run(
            f"SELECT id, at_us, body FROM entries WHERE key_id = ? ORDER BY {order} LIMIT ?",  # noqa: S608 - one of two constants
            (self._find(op.key), -1 if limit is None else limit),
        )
        return [LogEntry(id=entry_id, at=from_micros(at_us), body=body) for entry_id, at_us, body in rows]

    def _replace_entry(self, op: ops.ReplaceEntry) -> bool:
        changed = self._run("UPDATE entries SET body = ? WHERE key_id = ? AND id = ?", (op.body, self._find(op.key), op.id))
        return changed.rowcount == 1

    def _drop_entries(self, op: ops.DropEntries) -> int:
        key_id = self._find(op.key)
        dropped = sum(self._run("DELETE FROM entries WHERE key_id = ? AND id = ?", (key_id, entry)).rowcount for entry in op.ids)
        self._drop_if_empty(key_id)
        return dropped

    # --- keys ---

    def _list_keys(self, op: ops.ListKeys) -> list[Key]:
        rows = self._run(
            "SELECT kind, name FROM keys WHERE owner = :owner AND (:kind IS NULL OR kind = :kind) "
            "AND (expires_us IS NULL OR expires_us > :now) ORDER BY kind, name",
            {"owner": op.owner, "kind": op.kind and op.kind.value, "now": self._now_us},
        )
        return [Key(owner=op.owner, kind=kind_of(kind), name=name) for kind, name in rows]

    def _delete_keys(self, op: ops.DeleteKeys) -> int:
        keys = checked_owner(op)
        # An expired key is absent, hence not counted, and still has to go.
        self._run("DELETE FROM keys WHERE owner = ? AND expires_us <= ?", (op.owner, self._now_us))
        if keys is None:
            return self._run("DELETE FROM keys WHERE owner = ?", (op.owner,)).rowcount
        return sum(
            self._run(
                "DELETE FROM keys WHERE owner = ? AND kind = ? AND name = ?", (key.owner, key.kind.value, key.name)
            ).rowcount
            for key in keys
        )

    # --- due items ---

    def _set_due(self, op: ops.SetDue) -> None:
        due_us = to_micros(op.due)
        row = self._run("SELECT due_us, token FROM due WHERE queue = ? AND item = ?", (op.queue, op.item)).fetchone()
        if op.only_earlier and row is not None and row[0] <= due_us:
            if row[1] is None:
                return
            # Under a claim the time held is the lease's end: the work begun does not cover this request, so the claim is
            # invalidated, and the item is due when the lease ends.
            due_us = row[0]
        self._run(
            "INSERT INTO due (queue, item, due_us, body, token, attempts) VALUES (?, ?, ?, ?, NULL, 0) "
            "ON CONFLICT DO UPDATE SET due_us = excluded.due_us, body = excluded.body, token = NULL",
            (op.queue, op.item, due_us, op.body),
        )

    def _claim_due(self, op: ops.ClaimDue) -> list[Claim]:
        now_us, limit = to_micros(op.now), checked_amount(op.limit, what="limit")
        rows = self._run(
            "SELECT item, body, attempts FROM due WHERE queue = ? AND due_us <= ? ORDER BY due_us, item LIMIT ?",
            (op.queue, now_us, limit),
        ).fetchall()
        until_us, token = now_us + round(op.lease_s * 1_000_000), secrets.token_hex(16)
        for item, _, _ in rows:
            self._run(
                "UPDATE due SET due_us = ?, token = ?, attempts = attempts + 1 WHERE queue = ? AND item = ?",
                (until_us, token, op.queue, item),
            )
        return [Claim(item=item, body=body, token=token, attempts=attempts + 1) for item, body, attempts in rows]

    def _settle_due(self, op: ops.SettleDue) -> bool:
        claim = (op.queue, op.item, op.token)
        if op.retry_at is None:
            return self._run("DELETE FROM due WHERE queue = ? AND item = ? AND token = ?", claim).rowcount == 1
        retry = "UPDATE due SET due_us = ?, token = NULL WHERE queue = ? AND item = ? AND token = ?"
        return self._run(retry, (to_micros(op.retry_at), *claim)).rowcount == 1

    def _extend_lease(self, op: ops.ExtendLease) -> bool:
        extend = "UPDATE due SET due_us = ? WHERE queue = ? AND item = ? AND token = ?"
        return self._run(extend, (to_micros(op.until), op.queue, op.item, op.token)).rowcount == 1

    def _peek_due(self, op: ops.PeekDue) -> list[tuple[str, datetime]]:
        limit = checked_amount(op.limit, what="limit")
        rows = self._run("SELECT item, due_us FROM due WHERE queue = ? ORDER BY due_us, item LIMIT ?", (op.queue, limit))
        return [(item, from_micros(due_us)) for item, due_us in rows]

    # --- keys as rows ---

    def _find(self, key: Key) -> int | None:
        """The row of a live key."""
        row = self._run(
            "SELECT id FROM keys WHERE owner = ? AND kind = ? AND name = ? AND (expires_us IS NULL OR expires_us > ?)",
            (key.owner, key.kind.value, key.name, self._now_us),
        ).fetchone()
        return row and int(row[0])

    def _open(self, key: Key, ttl_s: float | None) -> int:
        """The row of a key to write to, made when there is no live one; its time to live starts anew."""
        ttl_s = checked_ttl(ttl_s)
        address = (key.owner, key.kind.value, key.name)
        self._run("DELETE FROM keys WHERE owner = ? AND kind = ? AND name = ? AND expires_us <= ?", (*address, self._now_us))
        row = self._run(
            "INSERT INTO keys (owner, kind, name, expires_us) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET expires_us = excluded.expires_us RETURNING id",
            (*address, None if ttl_s is None else self._now_us + round(ttl_s * 1_000_000)),
        ).fetchone()
        return int(row[0])

    def _put(self, key_id: int, values: Mapping[str, bytes]) -> None:
        for name, value in values.items():
            self._run(
                "INSERT INTO fields (key_id, name, written, value) "
                "VALUES (:key, :name, (SELECT coalesce(max(written), 0) + 1 FROM fields WHERE key_id = :key), :value) "
                "ON CONFLICT DO UPDATE SET written = excluded.written, value = excluded.value",
                {"key": key_id, "name": name, "value": value},
            )

    def _delete_fields(self, key_id: int | None, names: tuple[str, ...]) -> int:
        return sum(self._run("DELETE FROM fields WHERE key_id = ? AND name = ?", (key_id, name)).rowcount for name in names)

    def _drop_if_empty(self, key_id: int | None) -> None:
        self._run(
            "DELETE FROM keys WHERE id = :key AND NOT EXISTS (SELECT 1 FROM fields WHERE key_id = :key) "
            "AND NOT EXISTS (SELECT 1 FROM entries WHERE key_id = :key)",
            {"key": key_id},
        )
