"""The long-term store on a Qdrant server or cluster, for several processes at once."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hindsight_langgraph.backends.engine import EngineOp
from hindsight_langgraph.backends.long_term import LongTermPlans
from hindsight_langgraph.backends.server_calls import Call, ServerSettings, calls
from hindsight_langgraph.backends.spaces import StalePlace
from hindsight_langgraph.errors import (
    ConfigError,
    Conflict,
    EmbeddingMismatch,
    StoreAuthError,
    StoreClosed,
    StoreError,
    StoreRejected,
    StoreUnavailable,
)
from hindsight_langgraph.ops import LongTermOp
from hindsight_langgraph.plan import Op, adrive, drive
from hindsight_langgraph.records import EmbeddingSpace

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, QdrantClient

Reply = TypeVar("Reply")

_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,40}")


class QdrantLongTermStore:
    """A `LongTermStore` on a Qdrant server.

    Nothing is sent before the first request. The blocking client is shared by all threads; each event loop has an awaiting client
    of its own, which is closed with its loop. A request is tried once: whoever calls decides whether to try again.

    Compare-and-set holds between processes: a revision is a conditional write of the server, and its writer reads back whether
    it took place.
    """

    def __init__(
        self,
        url: str,
        space: EmbeddingSpace,
        *,
        api_key: str | None = None,
        prefix: str = "hindsight",
        timeout_s: float = 1.0,
        payload_m: int = 16,
        ef_construct: int = 100,
    ) -> None:
        """A store whose collections are named `<prefix>.<live or cold>.<dimension>.<model>`.

        Args:
            url: For example `http://localhost:6333`.
            space: The model and dimension of the vectors that are written.
            api_key: Sent with every request.
            prefix: Letters, digits, "_" and "-"; it keeps deployments on one server apart.
            timeout_s: The most that one round trip may take.
            payload_m: Links of the graph within one owner; 32 from 100,000 units an owner on.
            ef_construct: Candidates when that graph is built; 200 with 32 links.

        Raises:
            ConfigError: the prefix or the model's name cannot name a collection.
        """
        if not _PREFIX.fullmatch(prefix):
            raise ConfigError(f"prefix {prefix!r}: use up to 40 letters, digits, '_' and '-'")
        self._url = url
        self._space = space
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._settings = ServerSettings(prefix=prefix, payload_m=payload_m, ef_construct=ef_construct)
        self._plans = LongTermPlans(space)
        self._lock = threading.Lock()
        self._client: QdrantClient | None = None
        self._leases: dict[asyncio.AbstractEventLoop, tuple[AsyncQdrantClient, AsyncGenerator[None]]] = {}
        self._closed = False

    @property
    def space(self) -> EmbeddingSpace:
        """The model and dimension that vectors written here come from."""
        return self._space

    @property
    def stale_spaces(self) -> tuple[StalePlace, ...]:
        """Older embedding spaces that still held units when the store was opened or last re-embedded."""
        return self._plans.stale_places

    @property
    def mismatch(self) -> EmbeddingMismatch | None:
        """The error to log when units of another embedding model are in the store; known from the first request on."""
        return self._plans.mismatch

    def run(self, op: LongTermOp[Reply]) -> Reply:
        """Answer one request, blocking.

        Raises:
            StoreClosed: the store was closed.
            StoreError: see `errors.py`.
        """
        self._check_open()
        reply: Reply = drive(self._plans.answer(op), lambda request: drive(self._calls(request), self._call))
        return reply

    async def arun(self, op: LongTermOp[Reply]) -> Reply:
        """Answer one request on the running loop; raises what `run` raises."""
        self._check_open()
        if "qdrant_client" not in sys.modules:
            await asyncio.to_thread(import_module, "qdrant_client")  # takes more than a second
        reply: Reply = await adrive(self._plans.answer(op), lambda request: adrive(self._calls(request), self._acall))
        return reply

    def close(self) -> None:
        """Close the blocking client. Awaiting clients close with their loops, or by `aclose`. Again: nothing happens."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the blocking client and that of the running loop."""
        await asyncio.to_thread(self.close)
        lease = self._leases.pop(asyncio.get_running_loop(), None)
        if lease is not None:
            await lease[1].aclose()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the long-term store at {self._url} was closed; open it again")

    def _calls(self, request: Op[Any]) -> Any:
        return calls(cast("EngineOp[Any]", request), self._settings)

    def _call(self, request: Op[Any]) -> Any:
        call = cast("Call", request)
        with server_errors(self._url, call.method):
            return getattr(self._blocking(), call.method)(**call.arguments)

    async def _acall(self, request: Op[Any]) -> Any:
        call = cast("Call", request)
        with server_errors(self._url, call.method):
            client = await self._awaiting()
            async with asyncio.timeout(self._timeout_s):
                return await getattr(client, call.method)(**call.arguments)

    def _blocking(self) -> QdrantClient:
        with self._lock:
            self._check_open()
            if self._client is None:
                from qdrant_client import QdrantClient

                self._client = QdrantClient(event_hooks={"request": [self._limit_time]}, **self._arguments())
            return self._client

    def _limit_time(self, request: Any) -> None:
        """Set the time limit of a request: qdrant-client itself rounds it up to whole seconds."""
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout_s)

    async def _awaiting(self) -> AsyncQdrantClient:
        loop = asyncio.get_running_loop()
        found = self._leases.get(loop)
        if found is None:
            from qdrant_client import AsyncQdrantClient

            client = AsyncQdrantClient(**self._arguments())
            lease = _close_with_loop(client)
            await anext(lease)  # starts it; it does not wait, so that no other task comes in between
            for ended in [each for each in tuple(self._leases) if each.is_closed()]:
                self._leases.pop(ended, None)
            found = self._leases[loop] = (client, lease)
        return found[0]

    def _arguments(self) -> dict[str, Any]:
        return {
            "url": self._url,
            "api_key": self._api_key,
            "timeout": max(1, round(self._timeout_s + 0.5)),
            "check_compatibility": False,  # it would send a request from the constructor
        }


async def _close_with_loop(client: AsyncQdrantClient) -> AsyncGenerator[None]:
    """Close a client when its loop ends: a loop closes the generators that are still suspended, a client's sockets it does not."""
    try:
        yield
    finally:
        await client.close()


@contextlib.contextmanager
def server_errors(url: str, doing: str) -> Generator[None]:
    """Turn what qdrant-client raises into the tree of `errors.py`."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    where = f"{doing} at {url}"
    try:
        yield
    except UnexpectedResponse as error:
        raise _by_status(where, error.status_code or 500, _said(error)) from error
    except ResourceExhaustedResponse as error:
        raise StoreUnavailable(f"{where}: too many requests; try again in {error.retry_after_s} s") from error
    except TimeoutError as error:
        raise StoreUnavailable(f"{where}: no answer in time; try again later, or raise HINDSIGHT_TIMEOUT_S") from error
    except ResponseHandlingException as error:
        raise StoreUnavailable(f"{where}: no answer: {error}; check that the server is up and its address right") from error
    except (AssertionError, ValueError, TypeError) as error:  # the client refuses an argument before anything is sent
        raise StoreRejected(f"{where}: {error}") from error


def _said(error: Any) -> str:
    return cast("bytes", error.content).decode(errors="replace")[:300] or str(error.reason_phrase)


def _by_status(where: str, status: int, said: str) -> StoreError | Conflict:
    if status in {401, 403}:
        return StoreAuthError(f"{where}: refused ({status}): {said}; check HINDSIGHT_QDRANT_API_KEY and the rights of that key")
    if status == 409:
        return Conflict(f"{where}: {said}")
    if status >= 500 or status in {408, 429}:
        return StoreUnavailable(f"{where}: status {status}: {said}; try again later")
    return StoreRejected(f"{where}: status {status}: {said}")
