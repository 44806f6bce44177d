"""A stand-in for LangSmith's API over HTTP: the endpoints that tracing, feedback and review use, in memory.

It takes runs as the client sends them (multipart, compressed with zstd when it says that it can), keeps feedback, answers queries page by
page, and can be made to hang or to fail.
"""

from __future__ import annotations

import gzip
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import zstandard

from tests.local_http import JsonRequests, listening

PAGE = 2
"""Runs in one page of a query: small, so that paging happens."""


class LangSmith:
    """The state of the stand-in, and what it was asked."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.encodings: set[str] = set()
        self.runs: dict[str, dict[str, Any]] = {}
        self.feedback: list[dict[str, Any]] = []
        self.projects: dict[str, str] = {}
        self.refuse: Callable[[str, str], bool] = lambda method, path: False
        self.open = threading.Event()
        """Cleared, every request waits until it is set again."""
        self.open.set()
        self.url = ""

    def project(self, name: str) -> str:
        return self.projects.setdefault(name, str(uuid.uuid5(uuid.NAMESPACE_URL, name)))

    def run(self, name: str) -> dict[str, Any]:
        """The newest run of a name."""
        return [run for run in self.runs.values() if run.get("name") == name][-1]

    def review(self, run_id: str, key: str = "user_score", **what: Any) -> str:
        """Leave feedback as a person does in the browser. Returns its id."""
        identity = str(uuid.uuid4())
        stamp = f"2025-03-11T10:00:{len(self.feedback):02d}+00:00"
        run = self.runs[run_id]
        self.feedback.append(
            {
                "id": identity, "run_id": run_id, "trace_id": run["trace_id"], "key": key, "created_at": stamp, "modified_at": stamp,
                "session_id": self.project(run["session_name"]), **what,
            }
        )  # fmt: skip
        return identity

    # --- requests ---

    def take(self, method: str, target: str, kind: str, body: bytes) -> tuple[int, Any]:
        url = urlsplit(target)
        query = parse_qs(url.query)
        match method, url.path:
            case "GET", "/info":
                return 200, {
                    "version": "0.12.0", "instance_flags": {"zstd_compression_enabled": True},
                    "batch_ingest_config": {
                        "use_multipart_endpoint": True, "scale_up_qsize_trigger": 1000, "scale_up_nthreads_limit": 16,
                        "scale_down_nempty_trigger": 4, "size_limit": 100, "size_limit_bytes": 20_971_520,
                    },
                }  # fmt: skip
            case "POST", "/runs/multipart":
                self._parts(kind, body)
                return 202, {}
            case "GET", "/sessions":
                name = query["name"][0]
                known = self.projects.get(name)
                return 200, [self._project(name, known)] if known else []
            case "POST", "/feedback":
                self._feedback(json.loads(body))
                return 200, {}
            case "GET", "/feedback":
                return 200, self._listed(query)
            case "POST", "/runs/query":
                return 200, self._queried(json.loads(body))
            case _:
                return 404, {"detail": f"no {method} {url.path}"}

    def _project(self, name: str, identity: str) -> dict[str, Any]:
        return {"id": identity, "name": name, "tenant_id": str(uuid.UUID(int=1)), "reference_dataset_id": None}

    def _parts(self, kind: str, body: bytes) -> None:
        message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        for part in message.get_payload():
            name = part.get_param("name", header="content-disposition").split(".")  # type: ignore[union-attr] # a multipart message has parts
            data = json.loads(part.get_payload(decode=True))  # type: ignore[union-attr, arg-type] # a part holds bytes
            if name[0] == "feedback":
                self._feedback(data)
            else:
                run = self.runs.setdefault(name[1], {})
                told = {name[2]: data} if len(name) > 2 else {key: value for key, value in data.items() if value is not None}
                late = {key for key in told if run.get(key)} if name[0] == "post" else set()  # its patch may overtake a post
                run.update({key: value for key, value in told.items() if key not in late})
                if "session_name" in run:
                    self.project(run["session_name"])

    def _feedback(self, data: dict[str, Any]) -> None:
        self.feedback = [kept for kept in self.feedback if kept["id"] != data["id"]] + [data]

    def _listed(self, query: dict[str, list[str]]) -> list[dict[str, Any]]:
        found = [one for one in self.feedback if one.get("session_id") in query.get("session", [one.get("session_id")])]
        start, limit = int(query.get("offset", ["0"])[0]), int(query.get("limit", ["100"])[0])
        return found[start : start + limit]

    def _queried(self, body: dict[str, Any]) -> dict[str, Any]:
        found = [
            self._shown(run)
            for run in self.runs.values()
            if body.get("trace") in (None, run["trace_id"])
            and body.get("run_type") in (None, run["run_type"])
            and (not body.get("session") or self.project(run["session_name"]) in body["session"])
            and (not body.get("is_root") or run["trace_id"] == run["id"])
        ]
        start = int(body.get("cursor") or 0)
        page = found[start : start + PAGE]
        return {"runs": page, "cursors": {"next": str(start + PAGE) if start + PAGE < len(found) else None}}

    def _shown(self, run: dict[str, Any]) -> dict[str, Any]:
        return {**run, "session_id": self.project(run["session_name"]), "status": "success", "app_path": f"/runs/{run['id']}"}


@contextmanager
def serving() -> Iterator[LangSmith]:
    """A stand-in that listens until the block ends."""
    state = LangSmith()

    class Handler(JsonRequests):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            body = _body(self, state)
            state.requests.append((self.command, urlsplit(self.path).path))
            state.open.wait()
            if state.refuse(self.command, self.path):
                status, reply = 503, {"detail": "refused for the test"}
            else:
                status, reply = state.take(self.command, self.path, self.headers.get("Content-Type", ""), body)
            self.reply(status, json.dumps(reply).encode())

    with listening(Handler) as url:
        state.url = url
        try:
            yield state
        finally:
            state.open.set()


def _body(request: BaseHTTPRequestHandler, state: LangSmith) -> bytes:
    if "chunked" in request.headers.get("Transfer-Encoding", ""):
        body = b""
        while size := int(request.rfile.readline().strip(), 16):
            body += request.rfile.read(size)
            request.rfile.readline()
        request.rfile.readline()
    else:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
    encoding = request.headers.get("Content-Encoding", "")
    state.encodings.add(encoding)
    if encoding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return gzip.decompress(body) if encoding == "gzip" else body
