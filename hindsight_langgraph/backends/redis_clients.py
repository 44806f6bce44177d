"""Connections to one Redis server or cluster: a client for all threads, for one server another for each running loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any, Protocol, cast

from hindsight_langgraph.backends.bounded_workers import BoundedWorkers
from hindsight_langgraph.errors import ConfigError, StoreClosed

_CONNECTIONS = 64
"""Of one client to one server; a request waits for a free one."""


class _Client(Protocol):
    """What is used of redis-py's clients, whose own signatures are untyped in places."""

    def execute_command(self, *parts: str | bytes | int) -> Any: ...

    def close(self) -> None: ...


class _AsyncClient(Protocol):
    async def execute_command(self, *parts: str | bytes | int) -> Any: ...

    async def aclose(self) -> None: ...


_Lifetime = AsyncGenerator[_AsyncClient, None]


class RedisClients:
    """Sends commands; raises what redis-py raises.

    Nothing is connected before the first command. Nothing is tried again here: the caller knows what may be repeated.
    """

    def __init__(self, url: str, *, timeout_s: float, cluster: bool) -> None:
        """Check the address.

        Raises:
            ConfigError: `url` is none of a Redis server, or names a database other than 0 of a cluster.
        """
        self.where = _checked(url, cluster=cluster)
        """The server, without its password, for messages."""
        self._url = url
        self._timeout_s = timeout_s
        self._cluster = cluster
        self._lock = threading.Lock()
        self._workers = BoundedWorkers(timeout_s=timeout_s)
        self._closed = False
        self._client: _Client | None = None
        self._loops: dict[asyncio.AbstractEventLoop, tuple[_Lifetime, _AsyncClient]] = {}

    def send(self, *parts: str | bytes | int) -> Any:
        """Send one command, blocking."""
        self._check_open()
        if self._cluster:
            # Its client asks one node after the other: with all three frozen that took four times the timeout.
            return self._workers.call(partial(self._send, *parts))
        return self._send(*parts)

    async def asend(self, *parts: str | bytes | int) -> Any:
        """Send one command on the running loop."""
        self._check_open()
        if self._cluster:
            # redis-py's awaiting cluster client drops connections that other tasks use whenever it reads the topology, at its
            # first use too (8.1: 50 first additions at once counted 51); the blocking one does not.
            return await self._workers.acall(partial(self._send, *parts))
        client = await self._of_running_loop()
        return await client.execute_command(*parts)

    def close(self) -> None:
        """Close the client of the threads; those of other loops close with their loop. Later commands raise `StoreClosed`."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        self._workers.close()
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """As `close`, with the client of the running loop."""
        self.close()
        held = self._loops.pop(asyncio.get_running_loop(), None)
        if held is not None:
            await held[0].aclose()

    def _send(self, *parts: str | bytes | int) -> Any:
        return self._blocking().execute_command(*parts)

    def _blocking(self) -> _Client:
        self._check_open()
        if (client := self._client) is not None:
            return client
        # Made outside the lock, since a cluster's client connects at once: with the server down, threads would queue up here.
        made = self._new_client()
        with self._lock:
            if self._client is None and not self._closed:
                self._client = made
                return made
        made.close()
        return self._blocking()

    async def _of_running_loop(self) -> _AsyncClient:
        loop = asyncio.get_running_loop()
        held = self._loops.get(loop)
        if held is None:
            for other in [other for other in list(self._loops) if other.is_closed()]:  # other threads add and remove meanwhile
                self._loops.pop(other, None)
            lifetime = self._lifetime(loop)
            held = self._loops[loop] = lifetime, await anext(lifetime)
        return held[1]

    async def _lifetime(self, loop: asyncio.AbstractEventLoop) -> _Lifetime:
        """A client of a loop. A loop that ends closes its unfinished async generators, so this closes the client in time."""
        client = self._new_async_client()
        try:
            yield client
        finally:
            self._loops.pop(loop, None)
            await client.aclose()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the store on {self.where} is closed; open a new one")

    def _new_client(self) -> _Client:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        options = self._options(Retry(NoBackoff(), 0))
        if self._cluster:
            return cast("_Client", redis.RedisCluster.from_url(self._url, **options))
        return cast("_Client", self._single(redis, options))

    def _new_async_client(self) -> _AsyncClient:
        import redis.asyncio
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        return cast("_AsyncClient", self._single(redis.asyncio, self._options(Retry(NoBackoff(), 0))))

    def _single(self, library: Any, options: dict[str, Any]) -> object:
        """A client of one server, from redis-py's blocking or awaiting half, which have the same names."""
        return library.Redis.from_pool(library.BlockingConnectionPool.from_url(self._url, timeout=self._timeout_s, **options))

    def _options(self, retry: object) -> dict[str, Any]:
        return {
            "socket_timeout": self._timeout_s,
            "socket_connect_timeout": self._timeout_s,
            "max_connections": _CONNECTIONS,
            "protocol": 2,  # every server has it, and it costs no handshake
            "retry": retry,
        }


def _checked(url: str, *, cluster: bool) -> str:
    from redis import connection

    library: Any = connection  # its signatures are untyped
    try:
        parts: dict[str, Any] = library.parse_url(url)
    except ValueError as error:
        # The address itself may hold a password, so that it is not repeated.
        raise ConfigError(f"the Redis address cannot be used: {error}; give redis://, rediss:// or unix://") from error
    if cluster and parts.get("db"):
        raise ConfigError(f"the Redis address names database {parts['db']}, and a cluster has only database 0")
    place = parts.get("path") or f"{parts.get('host', 'localhost')}:{parts.get('port', 6379)}"
    return f"{'the Redis cluster' if cluster else 'Redis'} at {place}"
