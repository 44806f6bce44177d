"""How long a whole recall takes, embedding apart, as the memory grows.

    python -m benchmarks.latency [--sizes 1000,10000,100000] [--users 1,1000] [--questions 150] [--no-peers] [--out FILE] [--plot PNG]

The store is the embedded one, filled with made-up units and vectors. After an explicit warm-up each question is put in turn, in an order
that changes, to: the whole recall; one bare filtered vector query of the same engine (one probe, 20 units); one exact numpy scan of the
user's vectors; and each peer's search for 20 units of the user among the same vectors. A peer that takes too long to fill is asked at the
size that it reached, which its row says; one that cannot run here is named. Times in milliseconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_memory import SPACE, indexed
from benchmarks.latency_peers import LIMIT, Peer, peers
from benchmarks.options import parser, tell
from benchmarks.vectors import Matrix
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.ops import Embed, LongTermOp, Probe, PutUnits, SearchUnits, Where
from hindsight_langgraph.plan import Op, drive
from hindsight_langgraph.recall.pipeline import recall_units, tools_for
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.records import Kind, MemoryUnit, Region, Scope, user_owner

Row = dict[str, Any]
Call = Callable[[str, tuple[float, ...]], None]
START = datetime(2025, 1, 1, tzinfo=UTC)
WARM_UP = 30
MOST_S = 8.0
"""A call may take this long over all questions of a row."""
BATCH = 1_000
VOCABULARY = """
server deploy budget invoice garden violin oven train ticket holiday doctor meeting contract python
database backup router window coffee printer novel chapter editor river bridge lantern committee bakery
rye order courier market harbour ferry island glacier compass
"""
WORDS = VOCABULARY.split()


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sizes", default="1000,10000,100000")
    options.add_argument("--users", default="1,1000")
    options.add_argument("--questions", type=int, default=150)
    options.add_argument("--no-peers", action="store_true")
    options.add_argument("--peer-fill-s", type=float, default=20.0, help="the most that one peer may take to be filled")
    options.add_argument("--out", type=Path)
    options.add_argument("--plot", type=Path)
    given = options.parse_args()
    report: list[Row] = []
    for users in map(int, given.users.split(",")):
        for row in grow(users, sorted(map(int, given.sizes.split(","))), given):
            report.append(row)
            print(json.dumps(row), flush=True)
    if given.out:
        given.out.write_text(json.dumps(report, indent=1) + "\n")
    if given.plot:
        plot(report, given.plot)
    tell(report, as_json=given.json)


def grow(users: int, sizes: list[int], given: argparse.Namespace) -> Iterator[Row]:
    """One row a size, of a memory that grows from each to the next."""
    rng, made = np.random.default_rng(0), 0
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as name, ExitStack() as stack:
        directory = Path(name)
        store = EdgeLongTermStore(directory / "units", SPACE)
        stack.callback(store.close)
        others, missing = ([], []) if given.no_peers else stack.enter_context(peers(directory, SPACE.dimension))
        kept: list[Matrix] = []
        for size in sizes:
            while made < size:
                count = min(BATCH, size - made)
                vectors = unit_vectors(rng, count)
                owners = [f"u{i % users}" for i in range(made, made + count)]
                rows = zip(range(made, made + count), vectors.tolist(), strict=True)
                store.run(PutUnits(units=tuple(indexed(made_up(i, users), tuple(v)) for i, v in rows)))
                for peer in others:
                    peer.fill(made, owners, vectors, most_s=given.peer_fill_s)
                kept.append(vectors[[owner == "u0" for owner in owners]])
                made += count
            figures = measured(store, np.vstack(kept), others, questions=given.questions)
            yield {"users": users, "units": size, **figures, "missing": missing}


def measured(store: EdgeLongTermStore, own: Matrix, others: list[Peer], *, questions: int) -> Row:
    """Recall, a bare query, a scan and the peers, each for the same questions of the first user."""
    rng, words = np.random.default_rng(1), random.Random(1)
    scope, config, tools = Scope(user_id="u0"), RecallConfig(), tools_for(SPACE)
    asked = [(" ".join(words.sample(WORDS, 5)), tuple(v)) for v in unit_vectors(rng, questions + WARM_UP).tolist()]
    where = Where(owners=scope.readers)

    def recall(text: str, vector: tuple[float, ...]) -> None:
        plan = recall_units(Query(text=text), scope=scope, now=START + timedelta(days=400), config=config, tools=tools)
        drive(plan, lambda op: answer(store, op, vector))

    def bare(_: str, vector: tuple[float, ...]) -> None:
        store.run(SearchUnits(probes=(Probe(where=where, limit=LIMIT, dense=vector),)))

    def scan(_: str, vector: tuple[float, ...]) -> None:
        scores = own @ np.asarray(vector, dtype=np.float32)
        np.argpartition(-scores, min(LIMIT, len(scores) - 1))

    calls: dict[str, Call] = {"recall": recall, "bare": bare, "scan": scan}
    calls |= {peer.name: partial(_search, peer) for peer in others}
    timings = times(calls, asked)
    shares = {f"{name}_{p}": round(float(np.percentile(t, int(p[1:]))), 3) for name, t in timings.items() for p in ("p50", "p99")}
    ratios = {f"recall_to_{name}": round(shares["recall_p50"] / shares[f"{name}_p50"], 2) for name in ("bare", "scan")}
    return {**shares, **ratios, "peer_units": {peer.name: peer.units for peer in others}}


def _search(peer: Peer, _: str, vector: tuple[float, ...]) -> None:
    peer.search("u0", vector)


def answer(store: EdgeLongTermStore, op: Op[Any], vector: tuple[float, ...]) -> Any:
    """The store's reply, or the vector where one is asked for."""
    if isinstance(op, Embed):
        return [vector]
    assert isinstance(op, LongTermOp)
    return store.run(op)


def times(calls: dict[str, Call], asked: list[tuple[str, tuple[float, ...]]]) -> dict[str, list[float]]:
    """Milliseconds of each call after the warm-up, all calls for one question after another.

    What was filled is frozen: in one process with the peers' hundreds of thousands of objects a full collection would take 0.1 s, and
    fall on whoever is at work. A call that has taken too long altogether is not made again.
    """
    took: dict[str, list[float]] = {name: [] for name in calls}
    left = dict.fromkeys(calls, MOST_S)
    order = random.Random(2)
    gc.collect()
    gc.freeze()
    for i, (text, vector) in enumerate(asked):
        for name in order.sample(list(calls), len(calls)):
            if left[name] < 0:
                continue
            start = time.perf_counter()
            calls[name](text, vector)
            seconds = time.perf_counter() - start
            left[name] -= seconds
            if i >= WARM_UP or left[name] < MOST_S / 2:
                took[name].append(seconds * 1e3)
    gc.unfreeze()
    return took


def made_up(number: int, users: int) -> MemoryUnit:
    """A unit of user `number` modulo `users`."""
    rng = random.Random(number)
    at = START + timedelta(minutes=number)
    text = f"The user said that the {rng.choice(WORDS)} of the {rng.choice(WORDS)} needs a {rng.choice(WORDS)} by {rng.randint(1, 28)} May."
    return MemoryUnit(
        id=f"m{number}",
        owner=user_owner(f"u{number % users}"),
        content=text,
        region=Region.SEMANTIC,
        kind=Kind.FACT,
        session_id=f"s{number // 20}",
        said_at=at,
        created_at=at,
        updated_at=at,
    )


def unit_vectors(rng: np.random.Generator, count: int) -> Matrix:
    """Random vectors of length 1, [count, 384]."""
    vectors = rng.normal(size=(count, SPACE.dimension)).astype(np.float32)
    unit: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def plot(report: list[Row], path: Path) -> None:
    """Median by size with the 99th percentile of recall, one panel a number of users."""
    from matplotlib.figure import Figure

    counts = sorted({row["users"] for row in report})
    figure = Figure(figsize=(4.8 * len(counts) + 2, 4))
    panels = figure.subplots(1, len(counts), squeeze=False)[0]
    for axes, users in zip(panels, counts, strict=True):
        rows = [row for row in report if row["users"] == users]
        axes.plot(*_line(rows, "recall_p50"), "-o", linewidth=2.4, label="recall, median")
        axes.plot(*_line(rows, "recall_p99"), "--o", label="recall, p99")
        axes.plot(*_line(rows, "bare_p50"), ":", label="one bare query")
        axes.plot(*_line(rows, "scan_p50"), ":", label="numpy scan")
        for name in rows[0]["peer_units"]:
            reached = [row for row in rows if row["peer_units"][name] == row["units"]]
            axes.plot(*_line(reached, f"{name}_p50"), "-", linewidth=1.0, marker=".", label=name)
        axes.set(xscale="log", yscale="log", xlabel="units in the store", ylabel="milliseconds", title=f"users: {users:,}")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="center right", fontsize="small")
    figure.tight_layout(rect=(0, 0, 1 - 2 / (4.8 * len(counts) + 2), 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def _line(rows: list[Row], name: str) -> tuple[list[int], list[float]]:
    return [row["units"] for row in rows], [row[name] for row in rows]


if __name__ == "__main__":
    main()
