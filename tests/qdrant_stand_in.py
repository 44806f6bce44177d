"""A stand-in for a Qdrant server, on a real socket: requests are parsed with qdrant-client's own models, run on its local mode.

No Qdrant server can be installed where these tests run. The stand-in proves that what the store sends is what a server's API
takes (unknown fields are refused), that replies and failures are read rightly, and that both backends give the same answers. It
proves nothing about a server's graph, payload indexes, replicas or speed. Set QDRANT_URL to run the same suite on a real server.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Literal
from urllib.parse import unquote

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient
from qdrant_client.http import models

Fault = int | float | Literal["drop"]
"""What goes wrong with one request: a status, a delay in seconds (float), or a connection that is dropped."""
Handler = Callable[["StandIn", Any, str], Any]


def _parsed(type_: Any, body: Any) -> Any:
    return TypeAdapter(type_).validate_python(body)


class StandIn(ThreadingHTTPServer):
    """Serves until `shutdown`; `faults` are used up one a request, `requests` remembers what was asked."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, *, api_key: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.api_key = api_key
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self.lock = threading.Lock()
        self.local = QdrantClient(":memory:")
        self.indexes: dict[str, dict[str, Any]] = {}
        self.created: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is part of the tests, not a trace on the terminal."""


@contextmanager
def standing_in(*, api_key: str | None = None) -> Iterator[StandIn]:
    server = StandIn(api_key=api_key)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        server.local.close()


def _collections(server: StandIn, _body: Any, _name: str) -> Any:
    return server.local.get_collections()


def _exists(server: StandIn, _body: Any, name: str) -> Any:
    return {"exists": server.local.collection_exists(name)}


def _describe(server: StandIn, _body: Any, name: str) -> Any:
    described = server.local.get_collection(name).model_dump(mode="json", exclude_none=True)
    fields = {field: {"data_type": schema["type"], "points": 0} for field, schema in server.indexes.get(name, {}).items()}
    return described | {"payload_schema": fields}


def _create(server: StandIn, body: Any, name: str) -> Any:
    request = _parsed(models.CreateCollection, body)
    server.created[name] = body
    return server.local.create_collection(name, vectors_config=request.vectors, sparse_vectors_config=request.sparse_vectors)


def _drop(server: StandIn, _body: Any, name: str) -> Any:
    server.indexes.pop(name, None)
    return server.local.delete_collection(name)


def _index(server: StandIn, body: Any, name: str) -> Any:
    request = _parsed(models.CreateFieldIndex, body)
    server.indexes.setdefault(name, {})[request.field_name] = body["field_schema"]  # local mode has no indexes of its own
    return _done()


def _query_batch(server: StandIn, body: Any, name: str) -> Any:
    requests = _parsed(models.QueryRequestBatch, body).searches
    for request in requests:
        order = getattr(request.query, "order_by", None)
        if order is not None:
            _require_index(server, name, order.key)
    return server.local.query_batch_points(name, requests)


def _scroll(server: StandIn, body: Any, name: str) -> Any:
    request = _parsed(models.ScrollRequest, body)
    points, after = server.local.scroll(
        name,
        scroll_filter=request.filter,
        limit=request.limit,
        offset=request.offset,
        with_payload=request.with_payload,
        with_vectors=request.with_vector,
    )
    return {"points": [_plain(point) for point in points], "next_page_offset": after}


def _count(server: StandIn, body: Any, name: str) -> Any:
    request = _parsed(models.CountRequest, body)
    return server.local.count(name, count_filter=request.filter, exact=bool(request.exact))


def _facet(server: StandIn, body: Any, name: str) -> Any:
    request = _parsed(models.FacetRequest, body)
    _require_index(server, name, request.key)
    return server.local.facet(name, request.key, facet_filter=request.filter, limit=request.limit, exact=bool(request.exact))


def _batch(server: StandIn, body: Any, name: str) -> Any:
    server.local.batch_update_points(name, _parsed(models.UpdateOperations, body).operations)
    return [_done()]


def _done() -> dict[str, Any]:
    return {"operation_id": 0, "status": "completed"}


def _require_index(server: StandIn, name: str, field: str) -> None:
    """A server refuses to order or count by a field without an index; local mode does not, so it is refused here."""
    if field not in server.indexes.get(name, {}):
        raise ValueError(f"no index on {field}")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.model_dump(mode="json", exclude_none=True) if isinstance(value, BaseModel) else value


_ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", ""): _collections,
    ("GET", "/exists"): _exists,
    ("GET", "/"): _describe,
    ("PUT", "/"): _create,
    ("DELETE", "/"): _drop,
    ("PUT", "/index"): _index,
    ("POST", "/points/query/batch"): _query_batch,
    ("POST", "/points/scroll"): _scroll,
    ("POST", "/points/count"): _count,
    ("POST", "/facet"): _facet,
    ("POST", "/points/batch"): _batch,
}
_PATH = re.compile(r"/collections(?:/(?P<name>[^/]+)(?P<rest>/.*)?)?")


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StandIn
    statuses: ClassVar[dict[str, int]] = {"not found": 404, "already exists": 409}

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests read `requests`."""

    def _serve(self) -> None:
        path = self.path.partition("?")[0]
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.requests.append(f"{self.command} {path}")
        fault = self.server.faults.pop(0) if self.server.faults else None
        if fault == "drop":
            self.close_connection = True
        elif isinstance(fault, int):
            self._reply(fault, {"status": {"error": "injected"}, "time": 0})
        elif self.server.api_key is not None and self.headers.get("api-key") != self.server.api_key:
            self._reply(401, {"status": {"error": "Must provide an API key"}, "time": 0})
        else:
            if isinstance(fault, float):
                time.sleep(fault)
            self._reply(*self._answered(path, json.loads(raw) if raw else None))

    def _answered(self, path: str, body: Any) -> tuple[int, Any]:
        match = _PATH.fullmatch(path)
        rest = "" if match is None or match["name"] is None else match["rest"] or "/"
        handler = _ROUTES.get((self.command, rest))
        if match is None or handler is None:
            return 404, {"status": {"error": f"no route {self.command} {path}"}, "time": 0}
        try:
            with self.server.lock:
                result = _plain(handler(self.server, body, unquote(match["name"] or "")))
        except KeyError as error:
            return 404, {"status": {"error": f"No point with id {error}"}, "time": 0}
        except ValueError as error:  # pydantic's too
            said = str(error)
            return next((code for words, code in self.statuses.items() if words in said), 400), {
                "status": {"error": said[:500]},
                "time": 0,
            }
        return 200, {"result": result, "status": "ok", "time": 0.0}

    def _reply(self, status: int, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 (the base class names them)
