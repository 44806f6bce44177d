"""The three ways in which the harness holds a history: in full, as bare turns, or written through the public door."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import Question, Space
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.config import ConsolidationConfig, HindsightConfig, RecallConfig
from hindsight_langgraph.recall.pipeline import tools_for
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import MemoryUnit, Role, Scope, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What the answering model is given for one question."""

    text: str
    sources: frozenset[str]
    """Ids of the turns that it was read from."""


Held = Callable[[Question], Record]
"""A history that is ready to be asked."""


@contextmanager
def in_full(space: Space) -> Iterator[Held]:
    """Everything that was said, whatever the question."""
    whole = Record(text="\n".join(_line(unit) for unit in space.units), sources=frozenset(unit.id for unit in space.units))
    yield lambda _: whole


@contextmanager
def as_turns(name: str, space: Space, *, config: RecallConfig, embedder: CachedEmbedder) -> Iterator[Held]:
    """Each turn as one memory, without a gate, extraction or consolidation."""
    scope, tools = Scope(user_id=space.id), tools_for(SPACE)
    with BenchMemory(name, embedder) as memory:
        memory.put(space.units)
        yield lambda question: _record(memory.recall(question.text, scope=scope, now=question.at, config=config, tools=tools))


@contextmanager
def managed(space: Space, *, config: RecallConfig, writer: BaseChatModel | None, off: Sequence[str] = ()) -> Iterator[Held]:
    """Written session by session as an agent would, each followed by a full consolidation.

    `writer` reads the turns, rules do without it; `off` are passes of consolidation that never run.
    """
    clock = _Clock(space.units[0].moment)
    settings = HindsightConfig(
        recall=config, consolidation=ConsolidationConfig(in_process=False, off=tuple(off)), on_error="raise"
    )

    def ask(question: Question) -> Record:
        clock.moment = question.at
        return _record(memory.recall(question.text, scope=Scope(user_id=space.id, session_id="asked")))

    with (
        tempfile.TemporaryDirectory(prefix="hindsight-bench-") as directory,
        HindsightMemory.open(Path(directory), embeddings="local", chat_model=writer, config=settings, clock=clock) as memory,
    ):
        for session, units in groupby(space.units, key=lambda unit: unit.session_id):
            said = [_turn(unit) for unit in units]
            scope, clock.moment = Scope(user_id=space.id, session_id=session), max(turn.at for turn in said if turn.at)
            memory.remember(said, scope=scope)
            memory.consolidate(scope=scope)
        yield ask


class _Clock:
    """Stands at the moment of what is said or asked."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment."""
        return self.moment


def _record(found: Recollection) -> Record:
    return Record(text=found.text, sources=frozenset(source for unit in found.units for source in unit.sources))


def _turn(unit: MemoryUnit) -> Turn:
    return Turn(id=unit.id, role=unit.speaker or Role.USER, text=unit.content, at=unit.said_at, speaker=unit.speaker_name or None)


def _line(unit: MemoryUnit) -> str:
    return f"({unit.moment:%Y-%m-%d}) {unit.speaker_name or unit.speaker}: {unit.content}"
