"""What consolidation costs as the store grows, and what it leaves: `python benchmarks/consolidation.py --data ../shared --json`.

Scale: a light pass after 1,000 changed units, with 1,000 to 100,000 units stored, of one user and of 1,000 users, in an embedded store.
Time is CPU time of this process; memory is the peak that Python and numpy allocate during the pass. Share: text of the active memories
to all text that was said, after full passes, on the labelled dialogues and on LoCoMo. With `--json` the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from benchmarks.contradictions import settings_of
from benchmarks.corpora import locomo
from benchmarks.encoding import _tools, embedded
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.encoding.write import write_turns
from hindsight_langgraph.flows import consolidating
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import document_vector
from hindsight_langgraph.models.embedders import CachedEmbedder, HashEmbedder, LocalEmbedder
from hindsight_langgraph.ops import PutUnits, ScanUnits, Where
from hindsight_langgraph.plan import Plan, drive
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Region, Role, Scope, Status, Triple, Turn
from hindsight_langgraph.runtime import Runtime
from hindsight_langgraph.training.dialogues import read_dialogues

SIZES = (1_000, 10_000, 100_000)
CHANGED = 1_000
START = datetime(2025, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=60)


def made_unit(owner: str, number: int, *, updated: datetime, vector: tuple[float, ...]) -> IndexedUnit:
    """A fact like any other: a tenth of them repeat another one."""
    number_said = number - number % 10 if number % 10 == 1 else number
    content = f"Item {number_said} lies in hall {number_said % 97}, shelf {number_said % 31}"
    said = START + timedelta(minutes=number % 80_000)
    unit = MemoryUnit(
        id=str(uuid5(NAMESPACE_OID, f"{owner} {number}")), owner=owner, content=content, region=Region.SEMANTIC, kind=Kind.FACT,
        source_text=content, sources=(f"t{number}",), said_at=said, created_at=said, updated_at=updated, entities=(f"item {number_said}",),
        triple=Triple(subject=f"item {number_said}", attribute="hall", value=str(number_said % 97)), base_importance=0.7, importance=0.7,
    )  # fmt: skip
    words = document_vector(content)
    return IndexedUnit(unit=unit, dense=vector, text=words, context=words)


def fill(runtime: Runtime, owners: Sequence[str], stored: int) -> None:
    """Store `stored` units in all, of which the first owner's last `CHANGED` are new since its last pass."""
    random = np.random.default_rng(7)
    share = stored // len(owners)
    for place, owner in enumerate(owners):
        count = max(share, CHANGED) if place == 0 else share
        for begin in range(0, count, 500):
            size = min(500, count - begin)
            vectors = random.standard_normal((size, runtime.embedder.space.dimension))
            vectors[1::10] = vectors[0::10]  # one in ten repeats the one before
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            units = tuple(
                made_unit(
                    owner,
                    begin + i,
                    updated=NOW if place == 0 and begin + i >= count - CHANGED else START,
                    vector=tuple(vectors[i].tolist()),
                )
                for i in range(size)
            )
            runtime.answer(PutUnits(units=units))


def light_cost(stored: int, users: int) -> dict[str, float]:
    """Seconds and megabytes of one light pass over `CHANGED` units, with so many stored."""
    embedder = HashEmbedder()
    settings = settings_of(embedder, _tools(load_heads(embedder.space), embedder))
    owners = [Scope(user_id=f"u{number}").owner for number in range(users)]
    with embedded(embedder) as runtime:
        fill(runtime, owners, stored)
        seconds: list[float] = []
        run = drive(_light(settings), runtime.answer)
        for _ in range(7):
            begin = time.process_time()
            for name in run.passes:
                drive(consolidating.decide(name, run, settings=settings), runtime.answer)
            seconds.append(time.process_time() - begin)
        tracemalloc.start()
        begin = time.process_time()
        changes = 0
        for name in run.passes:
            found = drive(consolidating.decide(name, run, settings=settings), runtime.answer)
            changes += len(found)
            drive(consolidating.apply(run, found), runtime.answer)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return {
        "stored": stored,
        "users": users,
        "changes": changes,
        "seconds": round(min(seconds), 3),
        "peak_mb": round(peak / 1e6, 1),
    }


def _light(settings: FlowSettings) -> Plan[consolidating.Run]:
    scope = Scope(user_id="u0")
    run = yield from consolidating.start(scope, level="light", now=NOW, settings=settings)
    return run.model_copy(update={"since": NOW - timedelta(minutes=5)})


def scale() -> dict[str, Any]:
    """Costs by size and number of users, and the ratio of the dearest to the cheapest."""
    rows: list[dict[str, float]] = []
    for users in (1, 1_000):
        for stored in SIZES:
            rows.append(light_cost(stored, users))
            print(rows[-1], file=sys.stderr)
    return {
        "light_pass_per_1000_changed": rows,
        "time_ratio": _ratio(row["seconds"] for row in rows),
        "memory_ratio": _ratio(row["peak_mb"] for row in rows),
    }


def _ratio(values: Iterable[float]) -> float:
    found = list(values)
    return round(max(found) / min(found), 2)


# --- what is kept --------------------------------------------------------------------------------------------------------


def kept_share(conversations: Iterable[tuple[str, Sequence[Sequence[Turn]]]]) -> float:
    """Text of the active memories to all text, over conversations of several sessions each."""
    embedder = CachedEmbedder(LocalEmbedder(threads=1), size=100_000)
    settings = settings_of(embedder, _tools(load_heads(embedder.space), embedder))
    stored = raw = 0
    for name, sessions in conversations:
        with embedded(embedder) as runtime:
            for number, session in enumerate(sessions):
                scope = Scope(user_id=name, session_id=f"{number}")
                now = max(turn.at for turn in session if turn.at is not None)
                raw += sum(len(turn.text) for turn in session)
                drive(_write(session, scope, now, settings), runtime.answer)
                drive(_full(scope, now, settings), runtime.answer)
            where = Where(owners=(Scope(user_id=name).owner,), statuses=(Status.ACTIVE,))
            page = runtime.answer(ScanUnits(where=where, limit=100_000))
            stored += sum(len(item.unit.content) for item in page.units)
        print(f"{name}: {stored} of {raw} characters", file=sys.stderr)
    return round(stored / raw, 4) if raw else 0.0


def spoken(data: Path, most: int) -> Iterator[tuple[str, list[list[Turn]]]]:
    """Conversations of LoCoMo as turns of their sessions."""
    for space in islice(locomo(data), most):
        sessions: dict[str, list[Turn]] = {}
        for unit in space.units:
            turn = Turn(id=unit.sources[0], role=Role.USER, text=unit.content, at=unit.moment, speaker=unit.speaker_name)
            sessions.setdefault(unit.session_id, []).append(turn)
        yield space.id, list(sessions.values())


def _write(session: Sequence[Turn], scope: Scope, now: datetime, settings: FlowSettings) -> Plan[Any]:
    return write_turns(session, context=(), scope=scope, now=now, config=settings.config.write, tools=settings.writing)


def _full(scope: Scope, now: datetime, settings: FlowSettings) -> Plan[None]:
    run = yield from consolidating.start(scope, level="full", now=now, settings=settings)
    for name in run.passes:
        yield from consolidating.apply(run, (yield from consolidating.decide(name, run, settings=settings)))
    yield from consolidating.finish(run)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared"), help="directory that holds gold/ and data/")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--conversations", type=int, default=2, help="of LoCoMo, for the share")
    parser.add_argument("--only", choices=("scale", "share"), help="one half")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    if arguments.only != "share":
        figures |= scale()
    if arguments.only != "scale":
        figures["stored_share_gold"] = kept_share((d.name, d.sessions) for d in read_dialogues(arguments.data / "gold"))
        figures["stored_share_locomo"] = kept_share(spoken(arguments.data / "data", arguments.conversations))
    for name, value in figures.items():
        print(name, *value if isinstance(value, list) else [value], sep="\n  " if isinstance(value, list) else " ")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
