"""How long a whole recall takes, embedding apart, as the memory grows.

    python -m benchmarks.latency [--sizes 1000,10000,100000] [--users 1,1000] [--questions 200] [--out FILE] [--plot PNG]

The store is the embedded one, filled with made-up units and vectors; questions are answered after an explicit warm-up. In the same run: one
bare filtered vector query of the same engine (one probe, 20 units), and one exact numpy scan of the user's vectors. Times in milliseconds.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_memory import SPACE, indexed
from benchmarks.options import parser, tell
from benchmarks.vectors import Matrix
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.ops import Embed, LongTermOp, Probe, PutUnits, SearchUnits, Where
from hindsight_langgraph.plan import Op, drive
from hindsight_langgraph.recall.pipeline import recall_units, tools_for
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.records import Kind, MemoryUnit, Region, Scope, user_owner

START = datetime(2025, 1, 1, tzinfo=UTC)
WARM_UP = 30
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
    options.add_argument("--questions", type=int, default=200)
    options.add_argument("--out", type=Path)
    options.add_argument("--plot", type=Path)
    given = options.parse_args()
    report: list[dict[str, float]] = []
    for users in map(int, given.users.split(",")):
        for row in grow(users, sorted(map(int, given.sizes.split(","))), questions=given.questions):
            report.append(row)
            print(json.dumps(row), flush=True)
    if given.out:
        given.out.write_text(json.dumps(report, indent=1) + "\n")
    if given.plot:
        plot(report, given.plot)
    tell(report, as_json=given.json)


def grow(users: int, sizes: list[int], *, questions: int) -> Iterator[dict[str, float]]:
    """One row a size, of a memory that grows from each to the next."""
    rng, made = np.random.default_rng(0), 0
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as directory:
        store = EdgeLongTermStore(Path(directory) / "units", SPACE)
        kept: list[Matrix] = []
        for size in sizes:
            while made < size:
                count = min(BATCH, size - made)
                vectors = unit_vectors(rng, count)
                rows = zip(range(made, made + count), vectors.tolist(), strict=True)
                store.run(PutUnits(units=tuple(indexed(made_up(i, users), tuple(v)) for i, v in rows)))
                kept.append(vectors[[i % users == 0 for i in range(made, made + count)]])
                made += count
            yield measured(store, np.vstack(kept), users=users, size=size, questions=questions)
        store.close()


def measured(store: EdgeLongTermStore, own: Matrix, *, users: int, size: int, questions: int) -> dict[str, float]:
    """Recall, a bare query and a scan, each for the same questions of the first user."""
    rng, words = np.random.default_rng(1), random.Random(1)
    scope, config, tools = Scope(user_id="u0"), RecallConfig(), tools_for(SPACE)
    asked = [(" ".join(words.sample(WORDS, 5)), tuple(v)) for v in unit_vectors(rng, questions + WARM_UP).tolist()]
    where = Where(owners=scope.readers)

    def recall(text: str, vector: tuple[float, ...]) -> None:
        plan = recall_units(Query(text=text), scope=scope, now=START + timedelta(days=400), config=config, tools=tools)
        drive(plan, lambda op: answer(store, op, vector))

    def bare(_: str, vector: tuple[float, ...]) -> None:
        store.run(SearchUnits(probes=(Probe(where=where, limit=20, dense=vector),)))

    def scan(_: str, vector: tuple[float, ...]) -> None:
        scores = own @ np.asarray(vector, dtype=np.float32)
        np.argpartition(-scores, min(20, len(scores) - 1))

    timings = {name: times(call, asked) for name, call in (("recall", recall), ("bare", bare), ("scan", scan))}
    shares = {f"{name}_{p}": round(float(np.percentile(t, int(p[1:]))), 2) for name, t in timings.items() for p in ("p50", "p99")}
    return {"users": users, "units": size, **shares}


def answer(store: EdgeLongTermStore, op: Op[Any], vector: tuple[float, ...]) -> Any:
    """The store's reply, or the vector where one is asked for."""
    if isinstance(op, Embed):
        return [vector]
    assert isinstance(op, LongTermOp)
    return store.run(op)


def times(call: Callable[..., Any], asked: list[tuple[str, tuple[float, ...]]]) -> list[float]:
    """Milliseconds of each call after the warm-up."""
    took: list[float] = []
    for i, (text, vector) in enumerate(asked):
        start = time.perf_counter()
        call(text, vector)
        if i >= WARM_UP:
            took.append((time.perf_counter() - start) * 1e3)
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


def plot(report: list[dict[str, float]], path: Path) -> None:
    """Median and 99th percentile by size, one line a number of users."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    for users in sorted({row["users"] for row in report}):
        rows = [row for row in report if row["users"] == users]
        for name, style in (("recall_p50", "-"), ("recall_p99", "--"), ("bare_p50", ":")):
            label = f"{name.replace('_', ' ')}, {users:g} users"
            axes.plot([row["units"] for row in rows], [row[name] for row in rows], style, marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel="units in the store", ylabel="milliseconds")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
