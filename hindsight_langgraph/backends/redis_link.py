"""A connection to Redis, Valkey or a Redis Cluster that answers blocking and awaiting callers alike."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from hindsight_langgraph.errors import ConfigError, StoreAuthError, StoreClosed, StoreError, StoreRejected, StoreUnavailable
from hindsight_langgraph.plan import Op

Reply = TypeVar("Reply")
Argument = bytes | str | int


class LinkOp(Op[Reply], Generic[Reply]):
    """A request to one Redis."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script with the digest that the server knows it by."""

    source: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha", sha1(self.source.encode()).hexdigest())  # noqa: S324 — the name that Redis gives a script


@dataclass(frozen=True, kw_only=True, slots=True)
class RunScript(LinkOp[Any]):
    """Run a script; all keys carry one hash tag."""

    script: Script
    keys: tuple[str, ...]
    args: tuple[Argument, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCommand(LinkOp[Any]):
    """Run one command."""

    parts: tuple[Argument, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCommands(LinkOp[list[Any]]):
    """Run several commands in one round trip a node, not atomically."""

    commands: tuple[tuple[Argument, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanKeys(LinkOp[list[bytes]]):
    """Every key that matches a glob pattern, on all nodes."""

    match: str


class RedisLink:
    """Clients of one server or cluster: one for blocking callers, one for each running loop.

    Args:
        url: `redis://`, `rediss://`, `unix://`, or `redis+cluster://` and `rediss+cluster://` for a cluster.
        timeout_s: The most that one request waits for an answer.

    Raises:
        ConfigError: the URL is of no such form.
    """

    def __init__(self, url: str, *, timeout_s: float = 5.0) -> None:
        scheme, *rest = urlsplit(url)
        self._cluster = scheme.endswith("+cluster")
        if scheme.removesuffix("+cluster") not in {"redis", "rediss", "unix"}:
            raise ConfigError(f"{_shown(url)!r} is no Redis URL; write redis://HOST:PORT/0 or redis+cluster://HOST:PORT")
        self._url = urlunsplit((scheme.removesuffix("+cluster"), *rest))
        self._shown = _shown(url)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: Any = None
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _OfLoop] = WeakKeyDictionary()
        self._closed = False

    def run(self, op: LinkOp[Any]) -> Any:
        """Answer one request, blocking."""
        with self._mapped():
            client = self._blocking()
            if isinstance(op, RunScript):
                return self._script(client, op)
            if isinstance(op, RunCommand):
                return client.execute_command(*op.parts)
            if isinstance(op, RunCommands):
                with client.pipeline(transaction=False) as pipe:
                    for command in op.commands:
                        pipe.execute_command(*command)
                    return pipe.execute()
            assert isinstance(op, ScanKeys)
            return list(client.scan_iter(match=op.match, count=1000))

    async def arun(self, op: LinkOp[Any]) -> Any:
        """Answer one request with the client of the running loop."""
        async with self._amapped():
            client = await self._awaiting()
            if isinstance(op, RunScript):
                return await self._ascript(client, op)
            if isinstance(op, RunCommand):
                return await client.execute_command(*op.parts)
            if isinstance(op, RunCommands):
                async with client.pipeline(transaction=False) as pipe:
                    for command in op.commands:
                        pipe.execute_command(*command)
                    return await pipe.execute()
            assert isinstance(op, ScanKeys)
            return [key async for key in client.scan_iter(match=op.match, count=1000)]

    def close(self) -> None:
        """Release the blocking client and those of running loops; a loop that is not running releases its own when it ends.

        Later requests raise `StoreClosed`.
        """
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
            running = [(loop, self._loops.pop(loop)) for loop in list(self._loops) if loop.is_running()]
        if client is not None:
            client.close()
        for loop, other in running:
            closing = asyncio.run_coroutine_threadsafe(_closed(other.guard), loop)
            if loop is not _running_loop():  # a loop cannot wait for itself; it goes on to close its client when it may
                closing.result(self._timeout_s)

    async def aclose(self) -> None:
        """As `close`, and wait until the client of the running loop is released."""
        with self._lock:
            mine = self._loops.pop(asyncio.get_running_loop(), None)
        if mine is not None:
            await mine.guard.aclose()
        self.close()

    def _script(self, client: Any, op: RunScript) -> Any:
        from redis.exceptions import NoScriptError

        try:
            return client.execute_command("EVALSHA", op.script.sha, len(op.keys), *op.keys, *op.args)
        except NoScriptError:  # a new server, or one that was restarted
            return client.execute_command("EVAL", op.script.source, len(op.keys), *op.keys, *op.args)

    async def _ascript(self, client: Any, op: RunScript) -> Any:
        from redis.exceptions import NoScriptError

        try:
            return await client.execute_command("EVALSHA", op.script.sha, len(op.keys), *op.keys, *op.args)
        except NoScriptError:  # a new server, or one that was restarted
            return await client.execute_command("EVAL", op.script.source, len(op.keys), *op.keys, *op.args)

    def _blocking(self) -> Any:
        if self._client is None or self._closed:
            with self._lock:
                self._check_open()
                if self._client is None:
                    import redis
                    from redis.retry import Retry

                    kind: Any = redis.RedisCluster if self._cluster else redis.Redis
                    self._client = kind.from_url(self._url, retry=Retry(*_patience()), **self._options())
        return self._client

    async def _awaiting(self) -> Any:
        loop = asyncio.get_running_loop()
        mine = self._loops.get(loop)
        if mine is None or self._closed:
            with self._lock:
                self._check_open()
                import redis.asyncio
                from redis.asyncio.retry import Retry

                kind: Any = redis.asyncio.RedisCluster if self._cluster else redis.asyncio.Redis
                client = kind.from_url(self._url, retry=Retry(*_patience()), **self._options())
                mine = self._loops[loop] = _OfLoop(client=client, guard=_until_closed(client))
            await anext(mine.guard)
        return mine.client

    def _options(self) -> dict[str, Any]:
        return {"socket_timeout": self._timeout_s, "socket_connect_timeout": self._timeout_s}

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the checkpoints on {self._shown} were used after close(); open a new saver")

    @contextmanager
    def _mapped(self) -> Generator[None]:
        try:
            yield
        except Exception as error:
            raise self._error_of(error) from error

    @asynccontextmanager
    async def _amapped(self) -> AsyncGenerator[None]:
        try:
            yield
        except Exception as error:
            raise self._error_of(error) from error

    def _error_of(self, error: Exception) -> Exception:
        """The error of this library for one of redis-py."""
        from redis import exceptions

        if isinstance(error, (StoreError, StoreClosed)):
            return error
        if isinstance(error, (exceptions.AuthenticationError, exceptions.NoPermissionError)):
            return StoreAuthError(f"{self._shown} refused the credentials: {error}; check user and password in the URL")
        if isinstance(error, exceptions.ResponseError) and str(error).startswith(_REFUSED):
            return StoreAuthError(f"{self._shown} refused the credentials: {error}; check user and password in the URL")
        full = isinstance(error, exceptions.OutOfMemoryError)
        if full or (isinstance(error, exceptions.ResponseError) and str(error).startswith(_PASSING)):
            return StoreUnavailable(f"{self._shown} cannot serve now: {error}; try again")
        if isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.RedisClusterException, OSError)):
            return StoreUnavailable(f"{self._shown} cannot be reached: {error}; is the server up?")
        if isinstance(error, exceptions.RedisError):
            return StoreRejected(f"{self._shown} refused the request: {error}")
        return error


_REFUSED = ("NOAUTH", "WRONGPASS", "NOPERM", "Protocol error: unauthenticated")
"""Answers to a request without the right password; the last is that of Redis 7 to a long one."""
_PASSING = ("OOM", "LOADING", "BUSY", "CLUSTERDOWN", "TRYAGAIN", "MASTERDOWN", "READONLY", "NOREPLICAS", "MISCONF")
"""Answers of a server that is up and cannot do its work at the moment."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _OfLoop:
    """The client of one loop with what closes it."""

    client: Any
    guard: AsyncGenerator[None, None]


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _closed(guard: AsyncGenerator[None, None]) -> None:
    await guard.aclose()


async def _until_closed(client: Any) -> AsyncGenerator[None, None]:
    """Closes a client when the generator is closed: by us, or by the loop itself, which at its end closes every generator."""
    try:
        yield
    finally:
        await client.aclose()


def _patience() -> tuple[Any, int]:
    """Once more at once: enough for a connection that a restarted server left behind, and a dead server is reported soon."""
    from redis.backoff import NoBackoff

    return NoBackoff(), 1


def _shown(url: str) -> str:
    """The URL without its password."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.password:
            user = parts.username or ""
            return url.replace(parts.netloc, f"{user}:***@{parts.netloc.rpartition('@')[2]}", 1)
    return url
