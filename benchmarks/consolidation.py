"""What consolidation costs as the store grows, and what it leaves: `python benchmarks/consolidation.py --data ../shared --json`.

Scale: a light pass after 1,000 changed units, with 1,000 to 100,000 units stored, of one user and of 1,000 users, in an embedded store.
Time is CPU time of this process; memory is the peak that Python and numpy allocate during the pass; both to those of a store that holds
the changed units only. Share: text of the active memories to all text that was said, after full passes, on the labelled dialogues, by
language, and on LoCoMo; beside it what the labels' own words for all that still holds come to. With `--json` the last line is one JSON
object.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from benchmarks.contradictions import settings_of
from benchmarks.corpora import locomo
from benchmarks.encoding import LANGUAGES, _tools, embedded
from hindsight_langgraph.consolidation.run import Run
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.encoding.write import write_turns
from hindsight_langgraph.flows import consolidating, deciding
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import document_vector
from hindsight_langgraph.models.embedders import CachedEmbedder, HashEmbedder, LocalEmbedder
from hindsight_langgraph.ops import PutUnits, ScanUnits, Where
from hindsight_langgraph.plan import Plan, drive
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Region, Role, Scope, SparseVector, Status, Triple, Turn
from hindsight_langgraph.runtime import Runtime
from hindsight_langgraph.training.dialogues import Dialogue, read_dialogues

SIZES = (1_000, 10_000, 100_000)
CHANGED = 1_000
BATCH = 500
ROUNDS = 3
START = datetime(2025, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=60)


@lru_cache(maxsize=CHANGED)
def words_of(content: str) -> SparseVector:
    """The index terms of a content; many users say the same."""
    return document_vector(content)


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
    words = words_of(content)
    return IndexedUnit(unit=unit, dense=vector, text=words, context=words)


def fill(runtime: Runtime, owner: str, numbers: range, *, updated: datetime) -> None:
    """Store units of one owner, by their numbers; one in ten repeats the one before."""
    for begin in range(numbers.start, numbers.stop, BATCH):
        size = min(BATCH, numbers.stop - begin)
        vectors = np.random.default_rng(begin).standard_normal((size, runtime.embedder.space.dimension))
        vectors[1::10] = vectors[0::10][: len(vectors[1::10])]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        units = (made_unit(owner, begin + i, updated=updated, vector=tuple(vectors[i].tolist())) for i in range(size))
        runtime.answer(PutUnits(units=tuple(units)))


def grow(runtime: Runtime, *, users: int, before: int, after: int) -> None:
    """Add old units, of one user or spread over many, so that `after` are stored where `before` were."""
    for number in range(users):
        last = CHANGED if number == 0 and users > 1 else 0  # the changed ones are the first user's own
        numbers = range(max(last, before // users), max(last, after // users))
        fill(runtime, Scope(user_id=f"u{number}").owner, numbers, updated=START)


class Measured:
    """A store of which the first user's `CHANGED` units are new, as often as it is asked for."""

    def __init__(self, runtime: Runtime, settings: FlowSettings) -> None:
        self.runtime = runtime
        self._settings = settings
        self._run = drive(_light(settings), runtime.answer)

    def changes(self) -> int:
        """Make a light pass over them. Returns how many changes it made."""
        made = 0
        for name in self._run.passes:
            found = drive(deciding.decide(name, self._run, settings=self._settings), self.runtime.answer)
            drive(consolidating.apply(self._run, found), self.runtime.answer)
            made += len(found)
        return made

    def seconds(self) -> float:
        """CPU time of a light pass."""
        self._renew()
        begin = time.process_time()
        self.changes()
        return time.process_time() - begin

    def peak_mb(self) -> float:
        """The most that Python and numpy hold at once during a light pass."""
        self._renew()
        tracemalloc.start()
        self.changes()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / 1e6

    def _renew(self) -> None:
        fill(self.runtime, Scope(user_id="u0").owner, range(CHANGED), updated=NOW)
        gc.collect()


def scale() -> dict[str, Any]:
    """Costs by size and number of users.

    A small store is measured in turn with the growing one, so that a busy machine slows both; the best of `ROUNDS` counts.
    """
    embedder = HashEmbedder()
    settings = settings_of(embedder, _tools(load_heads(embedder.space), embedder))
    rows: list[dict[str, float]] = []
    with embedded(embedder) as small:
        reference = Measured(small, settings)
        for users in (1, 1_000):
            with embedded(embedder) as runtime:
                grown, before = Measured(runtime, settings), CHANGED
                for stored in SIZES:
                    grow(runtime, users=users, before=before, after=stored)
                    before = stored
                    rows.append({"stored": stored, "users": users, **_costs(grown, reference)})
                    print(rows[-1], file=sys.stderr)
    return {
        "light_pass_per_1000_changed": rows,
        "time_ratio": max(row["time_ratio"] for row in rows),
        "memory_ratio": max(row["memory_ratio"] for row in rows),
    }


def _costs(grown: Measured, reference: Measured) -> dict[str, float]:
    seconds, least = zip(*((grown.seconds(), reference.seconds()) for _ in range(ROUNDS)), strict=True)
    peak = grown.peak_mb()
    return {
        "seconds": round(min(seconds), 3),
        "time_ratio": round(min(seconds) / min(least), 2),
        "peak_mb": round(peak, 1),
        "memory_ratio": round(peak / reference.peak_mb(), 2),
    }


def _light(settings: FlowSettings) -> Plan[Run]:
    scope = Scope(user_id="u0")
    run = yield from consolidating.start(scope, level="light", now=NOW, settings=settings)
    return run.model_copy(update={"since": NOW - timedelta(minutes=5)})


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


def labelled_share(dialogues: Sequence[Dialogue]) -> float:
    """The same for the labels' own words, of every memory that still holds at the end."""
    stored = raw = 0
    for dialogue in dialogues:
        gone = {old for old, _ in dialogue.updates}
        raw += sum(len(turn.text) for session in dialogue.sessions for turn in session)
        stored += sum(len(memory["content"]) for memory in dialogue.memories if memory["turn_ids"][-1] not in gone)
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
        yield from consolidating.apply(run, (yield from deciding.decide(name, run, settings=settings)))
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
        for language in LANGUAGES:
            dialogues = [d for d in read_dialogues(arguments.data / "gold") if d.language == language]
            figures[f"stored_share_gold_{language}"] = kept_share((d.name, d.sessions) for d in dialogues)
            figures[f"labelled_share_gold_{language}"] = labelled_share(dialogues)
        figures["stored_share_locomo"] = kept_share(spoken(arguments.data / "data", arguments.conversations))
    for name, value in figures.items():
        print(name, *value if isinstance(value, list) else [value], sep="\n  " if isinstance(value, list) else " ")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
