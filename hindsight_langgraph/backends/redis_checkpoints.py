"""Checkpoints on Redis, Valkey or a Redis Cluster, by core commands only.

A thread has five keys with one hash tag, so that each request is one step on one node; see `redis_checkpoint_scripts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import quote, unquote

from hindsight_langgraph.backends import redis_checkpoint_scripts as scripts
from hindsight_langgraph.backends.redis_checkpoint_rows import (
    address_of,
    escape,
    row_member,
    row_of,
    write_address,
    write_of,
)
from hindsight_langgraph.backends.redis_link import Argument, RedisLink, RunCommand, RunCommands, RunScript, ScanKeys, Script
from hindsight_langgraph.checkpoint_ops import (
    Address,
    CheckpointOp,
    CheckpointRow,
    DeleteThread,
    Found,
    ListThreads,
    Objects,
    PutCheckpoint,
    PutWrites,
    ReadChain,
    ReadCheckpoint,
    ReadObjects,
    ReadPage,
    ReadThread,
    ReadWrites,
    Sweep,
    ThreadContent,
    WriteRow,
    WriteThread,
)
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.plan import Op, Plan, adrive, ask, drive

Reply = TypeVar("Reply")
_TABLES = ("rows", "writes", "objects", "revision", "runs")
_NO_NAME = "%"
"""Stands for an empty thread id, which quoting never makes: empty braces would be no hash tag."""
_CHUNK = 500
"""Members or objects of one request when a whole thread is written; keeps a single step of the server short."""


class RedisCheckpoints:
    """A checkpoint store on one Redis or cluster.

    Args:
        url: see `RedisLink`.
        prefix: Begins every key; deployments with different prefixes do not see each other.
        timeout_s: The most that one request waits.

    Raises:
        ConfigError: the URL or the prefix cannot be used.
    """

    def __init__(self, url: str, *, prefix: str = "hindsight", timeout_s: float = 5.0) -> None:
        if not prefix or set(prefix) & set("{}"):
            raise ConfigError(f"the key prefix {prefix!r} must not be empty or contain braces: those mark the slot of a thread")
        self._prefix = f"{prefix}:checkpoints:"
        self._link = RedisLink(url, timeout_s=timeout_s)
        self._plans: Mapping[type[CheckpointOp[Any]], Callable[[Any], Plan[Any]]] = {
            PutCheckpoint: self._put,
            PutWrites: self._put_writes,
            ReadCheckpoint: self._read,
            ReadObjects: self._objects,
            ReadPage: self._page,
            ReadWrites: self._writes,
            ReadChain: self._chain,
            ListThreads: self._threads,
            DeleteThread: self._delete,
            ReadThread: self._content,
            WriteThread: self._write_thread,
            Sweep: self._sweep,
        }

    def run(self, op: CheckpointOp[Reply]) -> Reply:
        """Answer one request, blocking."""
        reply: Reply = drive(self._plans[type(op)](op), cast("Callable[[Op[Any]], Any]", self._link.run))
        return reply

    async def arun(self, op: CheckpointOp[Reply]) -> Reply:
        """Answer one request on the running loop."""
        reply: Reply = await adrive(self._plans[type(op)](op), cast("Callable[[Op[Any]], Awaitable[Any]]", self._link.arun))
        return reply

    def close(self) -> None:
        """Release every client; later requests raise `StoreClosed`."""
        self._link.close()

    async def aclose(self) -> None:
        """As `close`, waiting for the client of the running loop."""
        await self._link.aclose()

    def _keys(self, thread: str) -> tuple[str, ...]:
        tag = f"{self._prefix}{{{quote(thread, safe='', errors='surrogatepass') or _NO_NAME}}}:"
        return tuple(tag + table for table in _TABLES)

    def _script(self, script: Script, thread: str, *args: Argument) -> Plan[Any]:
        return (yield from ask(RunScript(script=script, keys=self._keys(thread), args=args)))

    # --- writing

    def _put(self, op: PutCheckpoint) -> Plan[bool]:
        row = op.row
        member: _Member = (1, address_of(row.ns, row.id), 0, row_member(row))
        runs = (escape(row.run_id),) if row.run_id else ()
        done = yield from self._write(op.thread, op.ttl_s, op.objects, (member,), needs=op.needs, runs=runs)
        return done

    def _put_writes(self, op: PutWrites) -> Plan[None]:
        members = _write_members((op.ns, op.checkpoint_id), op.writes)
        yield from self._write(op.thread, op.ttl_s, op.objects, members)

    def _write_thread(self, op: WriteThread) -> Plan[None]:
        content = op.content
        objects = [*content.values.items(), *content.nodes.items()]
        for at in range(0, len(objects), _CHUNK):
            yield from self._write(op.thread, op.ttl_s, dict(objects[at : at + _CHUNK]), ())
        members = [member for address, writes in content.writes.items() for member in _write_members(address, writes)]
        members += [(1, address_of(row.ns, row.id), 0, row_member(row)) for row in content.rows]
        runs = tuple({escape(row.run_id) for row in content.rows if row.run_id})
        for at in range(0, len(members), _CHUNK):
            yield from self._write(op.thread, op.ttl_s, {}, tuple(members[at : at + _CHUNK]), runs=runs)

    def _write(
        self,
        thread: str,
        ttl_s: float | None,
        objects: Mapping[bytes, bytes],
        members: tuple[_Member, ...],
        *,
        needs: tuple[bytes, ...] = (),
        runs: tuple[bytes, ...] = (),
    ) -> Plan[bool]:
        args: list[Argument] = [_milliseconds(ttl_s), len(needs), *needs, len(objects)]
        for key, body in objects.items():
            args += (key, body)
        args.append(len(members))
        for member in members:
            args += member
        return bool((yield from self._script(scripts.WRITE, thread, *args, *runs)))

    # --- reading

    def _read(self, op: ReadCheckpoint) -> Plan[Found | None]:
        exact = "" if op.id is None else address_of(op.ns, op.id)
        found = yield from self._script(scripts.READ, op.thread, _milliseconds(op.ttl_s), address_of(op.ns), exact)
        return None if found is None else _found(found)

    def _objects(self, op: ReadObjects) -> Plan[Objects]:
        lists, order, bodies = yield from self._script(scripts.OBJECTS, op.thread, *op.keys)
        return Objects(
            values={key: body for key, body in zip(order, bodies, strict=True) if body is not None},
            lists={key: (refs, links) for key, refs, links in lists},
        )

    def _page(self, op: ReadPage) -> Plan[list[CheckpointRow]]:
        rows_key = self._keys(op.thread)[0]
        if op.ns is None:
            members = yield from ask(RunCommand(parts=("ZRANGE", rows_key, 0, -1)))
            return _page_of([row_of(member) for member in members], op)
        below = op.after[1] if op.after is not None else op.before
        namespace = address_of(op.ns)
        high = b"(" + (namespace[:-1] + b"\x01" if below is None else address_of(op.ns, below))
        parts = ("ZREVRANGEBYLEX", rows_key, high, b"[" + namespace, "LIMIT", 0, op.limit)
        members = yield from ask(RunCommand(parts=parts))
        return [row_of(member) for member in members]

    def _writes(self, op: ReadWrites) -> Plan[list[tuple[WriteRow, ...]]]:
        found = yield from self._script(scripts.WRITES, op.thread, *(address_of(*address) for address in op.addresses))
        return [_writes_of(members) for members in found]

    def _chain(self, op: ReadChain) -> Plan[list[Found]]:
        found = yield from self._script(scripts.CHAIN, op.thread, address_of(op.ns), escape(op.id), op.limit)
        return [_found(one) for one in found]

    def _threads(self, op: ListThreads) -> Plan[list[str]]:
        if op.run_ids == ():
            return []
        literal = "".join(f"[{c}]" if c in "*?[" else "\\\\" if c == "\\" else c for c in self._prefix)
        keys = yield from ask(ScanKeys(match=f"{literal}{{*}}:{_TABLES[0]}"))
        names = sorted({_thread_of(key, self._prefix) for key in keys})
        if op.run_ids is None or not names:
            return names
        asked = tuple(escape(run_id) for run_id in op.run_ids)
        commands: tuple[tuple[Argument, ...], ...] = tuple(("SMISMEMBER", self._keys(name)[4], *asked) for name in names)
        hits = yield from ask(RunCommands(commands=commands))
        return [name for name, hit in zip(names, hits, strict=True) if any(hit)]

    # --- whole threads

    def _delete(self, op: DeleteThread) -> Plan[None]:
        yield from ask(RunCommand(parts=("UNLINK", *self._keys(op.thread))))

    def _content(self, op: ReadThread) -> Plan[ThreadContent]:
        revision, rows, members, keys, read, bodies = yield from self._script(
            scripts.CONTENT, op.thread, "1" if op.with_values else "0"
        )
        writes: dict[Address, list[WriteRow]] = {}
        for member in members:
            address, write = write_of(member)
            writes.setdefault(address, []).append(write)
        stored = dict(zip(read, bodies, strict=True))
        return ThreadContent(
            revision=int(revision),
            rows=tuple(row_of(member) for member in rows),
            writes={address: tuple(some) for address, some in writes.items()},
            keys=frozenset(keys),
            nodes={key: body for key, body in stored.items() if key[:1] == b"l"},
            values={key: body for key, body in stored.items() if key[:1] == b"v"},
        )

    def _sweep(self, op: Sweep) -> Plan[bool]:
        rows = [address_of(*address) for address in op.drop_rows]
        writes = [address_of(*address) for address in op.drop_writes]
        args: list[Argument] = [op.revision, len(rows), *rows, len(writes), *writes, len(op.put_objects)]
        for key, body in op.put_objects.items():
            args += (key, body)
        args += [len(op.drop_objects), *op.drop_objects, *(escape(run_id) for run_id in op.keep_runs)]
        return bool((yield from self._script(scripts.SWEEP, op.thread, *args)))


_Member = tuple[int, bytes, int, bytes]
"""Number of the table, address, 1 to keep what is there, member."""


def _write_members(address: Address, writes: tuple[WriteRow, ...]) -> tuple[_Member, ...]:
    begins = [write_address(address, write) for write in writes]
    return tuple((2, begin, int(write.idx >= 0), begin + write.body) for begin, write in zip(begins, writes, strict=True))


def _writes_of(members: list[bytes]) -> tuple[WriteRow, ...]:
    return tuple(write_of(member)[1] for member in members)


def _found(reply: list[Any]) -> Found:
    row, members = reply
    return Found(row=row_of(row), writes=_writes_of(members))


def _page_of(rows: list[CheckpointRow], op: ReadPage) -> list[CheckpointRow]:
    """Rows of all namespaces in order, from where the page begins."""
    rows.sort(key=lambda row: row.ns)
    rows.sort(key=lambda row: row.id, reverse=True)
    if op.before is not None:
        rows = [row for row in rows if row.id < op.before]
    if op.after is not None:
        ns, checkpoint_id = op.after
        rows = [row for row in rows if row.id < checkpoint_id or (row.id == checkpoint_id and row.ns > ns)]
    return rows[: op.limit]


def _thread_of(key: bytes | str, prefix: str) -> str:
    text = key.decode() if isinstance(key, bytes) else key
    name = text[len(prefix) + 1 : -len(_TABLES[0]) - 2]
    return "" if name == _NO_NAME else unquote(name, errors="surrogatepass")


def _milliseconds(ttl_s: float | None) -> int:
    """0 keeps; a time to live is at least a millisecond."""
    return 0 if ttl_s is None else max(1, round(ttl_s * 1000))
