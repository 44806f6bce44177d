"""A LangGraph server (`langgraph dev`) for tests, in a process of its own and with no way out to the network."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import reserved_port

ROOT = Path(__file__).parents[1]
START_S = 600.0
"""A cold machine took 35 s to read every import of one server from its disk; a server that ended is noticed at once."""
END_S = 120.0
TIMEOUT_S = "60"
"""What the memory of the server waits for a store: a busy machine is no outage."""


def _langgraph() -> str:
    """The langgraph command: that of HINDSIGHT_LANGGRAPH_CLI, of this environment, or on the path."""
    beside = Path(sys.executable).with_name("langgraph")
    found = os.environ.get("HINDSIGHT_LANGGRAPH_CLI") or (str(beside) if beside.exists() else shutil.which("langgraph"))
    assert found, "install langgraph-cli[inmem], or deselect these tests with -m 'not platform'"
    return found


@contextmanager
def serving_project(directory: Path, *, python_path: tuple[Path, ...] = (), memory: Path | None = None) -> Iterator[str]:
    """Serve what `directory/langgraph.json` names, while the block lasts; gives the URL. The log is `directory/log`.

    Args:
        directory: of the project.
        python_path: what `pip install -e` of the project would put on the path.
        memory: where the memory is; None leaves it to the project's own settings.
    """
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HINDSIGHT_") and name != "MODEL"},
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *python_path))),
        "HINDSIGHT_TIMEOUT_S": TIMEOUT_S,
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "HTTPS_PROXY": "http://127.0.0.1:9",  # nothing outside can be reached
        "NO_PROXY": "127.0.0.1,localhost",
    }
    if memory is not None:
        environment["HINDSIGHT_PATH"] = str(memory)
    with reserved_port() as port, (directory / "log").open("wb") as log:
        command = [_langgraph(), "dev", "--no-browser", "--no-reload", "--port", str(port), "--host", "127.0.0.1"]
        process = subprocess.Popen(command, cwd=directory, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, directory / "log")
            yield url
        finally:
            process.send_signal(signal.SIGINT)  # as a person ends it
            try:
                process.wait(timeout=END_S)
            finally:
                process.kill()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_S
    while True:
        try:
            with direct.open(f"{url}/ok", timeout=10):
                return
        except OSError:  # refused, or too slow to answer yet
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(0.2)
