"""The working store in Redis or Valkey, one server or a cluster (SPEC A3, A4): core commands with Lua scripts, no module."""

from __future__ import annotations

import asyncio
from typing import TypeVar, cast

from hindsight_langgraph.backends.redis_clients import RedisClients
from hindsight_langgraph.backends.redis_errors import mapped
from hindsight_langgraph.backends.redis_keys import KeyNames
from hindsight_langgraph.backends.redis_requests import Command, Requests
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.ops import WorkingOp
from hindsight_langgraph.plan import Op, adrive, drive

Reply = TypeVar("Reply")


class RedisWorkingStore:
    """Answers every `WorkingOp`; needs Redis 6.2 or newer, or Valkey.

    Expiry is the server's own, by its clock: many machines share it, and theirs may differ.
    """

    def __init__(self, url: str, *, prefix: str, timeout_s: float, cluster: bool = False) -> None:
        """Check the settings; nothing is connected yet.

        Raises:
            ConfigError: the address or the prefix cannot be used.
        """
        if not prefix.strip() or set(prefix) & set("{}"):
            raise ConfigError(
                f"the prefix {prefix!r} is blank or has braces, which would take the place of the owner's; change it"
            )
        self._clients = RedisClients(url, timeout_s=timeout_s, cluster=cluster)
        self._requests = Requests(names=KeyNames(prefix=prefix))
        self._timeout_s = timeout_s

    def run(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request, blocking; each wait for the server is bounded by the timeout."""
        with mapped(self._clients.where):
            return cast("Reply", drive(self._requests.answer(op), self._send))

    async def arun(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request on the running loop, within the timeout; cancelled, it is done whole or not at all."""
        with mapped(self._clients.where):
            async with asyncio.timeout(self._timeout_s):
                return cast("Reply", await adrive(self._requests.answer(op), self._asend))

    def close(self) -> None:
        """Close the blocking client; later requests raise `StoreClosed`. The client of a loop closes with its loop."""
        self._clients.close()

    async def aclose(self) -> None:
        """As `close`, with the client of the running loop."""
        await self._clients.aclose()

    def _send(self, request: Op[object]) -> object:
        return self._clients.send(*cast("Command", request).parts)

    async def _asend(self, request: Op[object]) -> object:
        return await self._clients.asend(*cast("Command", request).parts)
