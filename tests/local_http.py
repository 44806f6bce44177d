"""A small HTTP server of a test's own, on a free port."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JsonRequests(BaseHTTPRequestHandler):
    """Answers with JSON, whatever the method, and logs nothing."""

    def respond(self) -> None:
        """Read the request at hand and `reply` to it."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self.respond()

    do_POST = do_PATCH = do_GET  # noqa: N815 - names that the base class calls

    def reply(self, status: int, data: bytes) -> None:
        """Answer the request at hand."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server that answers each request on a thread of its own until the block ends; gives its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
