"""Unrelated statements never retire each other, however few are stored; questions are never memories."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path

import pytest

from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.encoding.redact import SecretRedactor
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.encoding.write import WritingTools, write_turns
from hindsight_langgraph.models.embedders import CachedEmbedder, HashEmbedder, LocalEmbedder
from hindsight_langgraph.plan import drive
from hindsight_langgraph.records import Role, Scope, Turn
from hindsight_langgraph.runtime import Runtime
from tests.clock import FakeClock

STATEMENTS = [
    "I prefer window seats on trains.",
    "I'm allergic to peanuts.",
    "My locker number is 42.",
    "I live in Tartu.",
    "I play the oboe.",
    "My brother lives in Narva.",
    "我喜欢喝乌龙茶。",
    "我的车牌尾号是 8。",
]
CHANGES = [
    "We decided to drop the mobile app.",
    "I've cancelled the trip to Oslo.",
    "Actually, the deadline is the 14th, not the 12th.",
    "Forget what I said about the boat.",
    "我们决定不做手机端了。",
    "买船那事忘掉吧。",
]
QUESTIONS = ["Which seats do I prefer?", "What must I not eat?", "Where do I live?", "我喜欢喝什么茶？", "When is the meeting"]


class Conversations:
    """Conversations of many users over one pair of embedded stores."""

    def __init__(self, directory: Path, embedder: CachedEmbedder | HashEmbedder) -> None:
        self._clock = FakeClock()
        self._embedder = embedder
        self._users = 0
        self.runtime = Runtime(
            working=SqliteWorkingStore(directory / "working.sqlite", timeout_s=60.0, clock=self._clock),
            long_term=EdgeLongTermStore(directory / "units", embedder.space),
            embedder=embedder,
            chat=None,
            clock=self._clock,
            retry_after_s=10.0,
        )
        self._tools = WritingTools(
            heads=load_heads(embedder.space), aliases=AliasTable(), redactor=SecretRedactor(), space=embedder.space
        )

    def hold(self, *texts: str) -> list[WriteReport]:
        """Write what a new user says, a day apart, and give the reports."""
        self._users += 1
        scope = Scope(user_id=f"user{self._users}")
        reports: list[WriteReport] = []
        for place, text in enumerate(texts):
            turn = Turn(id=f"{self._users}-{place}", role=Role.USER, text=text, at=self._clock.advance(days=1))
            plan = write_turns([turn], context=(), scope=scope, now=self._clock.now(), config=WriteConfig(), tools=self._tools)
            reports.append(drive(plan, self.runtime.answer))
        return reports

    def close(self) -> None:
        """Close the stores."""
        self.runtime.long_term.close()
        self.runtime.working.close()


@pytest.fixture(scope="module", params=["local", "hash"])
def conversations(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Conversations]:
    embedder = CachedEmbedder(LocalEmbedder()) if request.param == "local" else HashEmbedder()
    made = Conversations(tmp_path_factory.mktemp(request.param), embedder)
    yield made
    made.close()


def test_two_unrelated_statements_both_stay(conversations: Conversations) -> None:
    reports = [conversations.hold(*pair)[-1] for pair in list(permutations(STATEMENTS, 2))[::3]]
    assert [report.superseded for report in reports if report.superseded] == []


def test_a_change_of_something_else_retires_nothing(conversations: Conversations) -> None:
    reports = [conversations.hold(*pair)[-1] for pair in list(product(STATEMENTS, CHANGES))[::2]]
    assert [str(report) for report in reports if report.superseded] == []


def test_a_question_is_never_kept(conversations: Conversations) -> None:
    reports = [conversations.hold(statement, question)[-1] for statement, question in zip(STATEMENTS, QUESTIONS, strict=False)]
    assert [str(report) for report in reports if report.written] == []
