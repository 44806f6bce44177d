"""A memory on disk for the tests of writing: the embedded stores, and embedders that need no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.encoding.redact import SecretRedactor
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.encoding.write import WritingTools, write_turns
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.ops import ScanUnits, Where
from hindsight_langgraph.plan import Op, drive
from hindsight_langgraph.records import MemoryUnit, Role, Scope, Status, Turn
from hindsight_langgraph.runtime import Runtime
from tests.clock import FakeClock

T0 = datetime(2025, 3, 10, 9, 0, tzinfo=UTC)
_users = count()


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """One pair of embedded stores for all tests: every test is another user of it."""
    directory = tmp_path_factory.mktemp("memory")
    clock = FakeClock(T0)
    working = SqliteWorkingStore(Path(directory) / "working.sqlite", timeout_s=60.0, clock=clock)
    long_term = EdgeLongTermStore(directory / "units", HashEmbedder.space)
    yield Runtime(working=working, long_term=long_term, embedder=HashEmbedder(), chat=None, clock=clock, retry_after_s=10.0)
    long_term.close()
    working.close()


@dataclass
class Memory:
    """One user's memory, as a test writes and reads it."""

    runtime: Runtime
    scope: Scope
    tools: WritingTools
    said: list[Turn] = field(default_factory=list)
    answer: Callable[[Op[Any]], Any] | None = None

    def turn(self, text: str, *, role: Role = Role.USER, at: datetime | None = None, **more: Any) -> Turn:
        """The next turn of the conversation, a minute after the one before."""
        number = len(self.said)
        turn = Turn(id=f"{self.scope.user_id}-{number}", role=role, text=text, at=at or T0 + timedelta(minutes=number), **more)
        self.said.append(turn)
        return turn

    def write(self, *turns: Turn, dry_run: bool = False, config: WriteConfig | None = None) -> WriteReport:
        """Write turns, with what was said before them as context."""
        before = self.said[: self.said.index(turns[0])] if turns and turns[0] in self.said else []
        plan = write_turns(
            turns, context=before, scope=self.scope, now=T0, config=config or WriteConfig(), tools=self.tools, dry_run=dry_run
        )
        return drive(plan, self.answer or self.runtime.answer)

    def say(self, *texts: str) -> list[WriteReport]:
        """Write what the user says, turn by turn."""
        return [self.write(self.turn(text)) for text in texts]

    def units(self, *statuses: Status) -> list[MemoryUnit]:
        """What is stored, of the given statuses or of all."""
        where = Where(owners=(self.scope.owner,), statuses=statuses or None)
        page = self.runtime.answer(ScanUnits(where=where, limit=1_000))
        return [item.unit for item in page.units]

    def facts(self, status: Status = Status.ACTIVE) -> set[tuple[str, str, str, bool]]:
        """The triples that are stored: (subject, attribute, value, negated)."""
        triples = [unit.triple for unit in self.units(status) if unit.triple is not None]
        return {(t.subject, t.attribute, t.value, t.negated) for t in triples}

    def using(self, **changes: Any) -> Memory:
        """The same memory with other tools."""
        return replace(self, tools=replace(self.tools, **changes))


@pytest.fixture
def memory(stores: Runtime) -> Memory:
    """The memory of a user that no other test has."""
    tools = WritingTools(
        heads=load_heads(HashEmbedder.space), aliases=AliasTable(), redactor=SecretRedactor(), space=HashEmbedder.space
    )
    return Memory(runtime=stores, scope=Scope(user_id=f"user{next(_users)}"), tools=tools)


@pytest.fixture
def another(stores: Runtime, memory: Memory) -> Memory:
    """The memory of a second user in the same stores."""
    return replace(memory, scope=Scope(user_id=f"user{next(_users)}"), said=[])


def texts_of(ops: Sequence[Op[Any]], kind: type[Op[Any]]) -> list[str]:
    """Every text in the embedding requests among `ops`."""
    return [text for op in ops if isinstance(op, kind) for text in op.texts]  # type: ignore[attr-defined]
