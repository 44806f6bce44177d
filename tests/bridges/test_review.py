"""The way back: reviewed LangSmith runs become outcomes and corrections in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langsmith import Client
from typer.testing import CliRunner

from hindsight_langgraph.cli import app
from hindsight_langgraph.errors import HindsightError, StoreUnavailable
from hindsight_langgraph.feedback import OWN_KEYS
from hindsight_langgraph.flows.reviewing import Fate, Review
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import Kind, MemoryUnit, Scope
from hindsight_langgraph.review import correction_text, review_project, verdict_of
from tests.bridges.conftest import sent
from tests.clock import NOON
from tests.langsmith_stand_in import LangSmith
from tests.memory.opening import open_memory

PROJECT = "memory-tests"
FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"
ALICE = Scope(user_id="alice", session_id="monday")


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        opened.remember([("user", FACT)], scope="alice")
        opened.remember([("user", FACT)], scope="bob")
        yield opened


def answered(memory: HindsightMemory, langsmith: LangSmith, scope: Scope = ALICE) -> Recollection:
    """An answer that was traced, with its accounts settled."""
    found = memory.recall(ASKED, scope=scope)
    assert found.units
    memory.settle()
    assert found.run is not None
    sent(langsmith, found.run.id)
    return found


def unit_of(memory: HindsightMemory, user: str = "alice") -> MemoryUnit:
    (unit,) = [unit for unit in memory.units(scope=user) if unit.content == FACT]
    return unit


def reviewed(memory: HindsightMemory, **options: Any) -> list[Fate]:
    return [one.fate for one in review_project(memory, Client(), PROJECT, **options)]


def test_a_thumbs_down_lowers_what_was_recalled_and_is_the_tasks_outcome(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    before = unit_of(memory)
    langsmith.review(found.run.id, score=0, comment="outdated")  # type: ignore[union-attr] # it was traced
    assert reviewed(memory) == [Fate.APPLIED]
    after = unit_of(memory)
    assert after.confidence == pytest.approx(before.confidence - 0.2)
    assert after.importance < before.importance
    outcome = memory.trajectory(scope=ALICE).outcome
    assert outcome is not None
    assert (outcome.success, outcome.feedback) == (False, "outdated")


def test_the_units_history_shows_the_review_and_it_can_be_taken_back(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    before = unit_of(memory)
    review = langsmith.review(found.run.id, score=0, comment="outdated")  # type: ignore[union-attr] # it was traced
    reviewed(memory)
    (event,) = memory.history(before.id, scope="alice")
    assert (event.case, event.reason) == (f"review:{review}", "the answer was reviewed as bad: outdated")
    assert event.confidence_by == pytest.approx(-0.2)
    assert memory.undo(before.id, event.id, scope="alice")
    after = unit_of(memory)
    assert after.confidence == pytest.approx(before.confidence)
    assert after.importance == pytest.approx(before.importance)
    assert reviewed(memory) == [Fate.KNOWN]
    assert unit_of(memory) == after


def test_a_thumbs_up_raises_it(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    before = unit_of(memory)
    langsmith.review(found.run.id, score=1)  # type: ignore[union-attr] # it was traced
    reviewed(memory)
    assert unit_of(memory).confidence == pytest.approx(before.confidence + 0.1)


def test_an_edited_answer_becomes_a_correction_that_is_recalled(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    edited = {"messages": [{"role": "assistant", "content": "You prefer aisle seats on trains since March."}]}
    langsmith.review(found.run.id, key="correction", correction=edited)  # type: ignore[union-attr] # it was traced
    reviewed(memory)
    (correction,) = [unit for unit in memory.units(scope="alice") if unit.kind is Kind.CORRECTION]
    assert "aisle seats on trains since March" in correction.content
    assert ASKED in correction.content
    assert correction.id in {unit.id for unit in memory.recall(ASKED, scope="alice").units}
    assert all(unit.kind is not Kind.CORRECTION for unit in memory.units(scope="bob"))


def test_a_review_touches_no_other_users_memory_even_if_a_trace_names_it(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    (document,) = langsmith.runs[found.run.id]["outputs"]["documents"]  # type: ignore[union-attr] # it was traced
    document["metadata"]["id"] = unit_of(memory, "bob").id
    before = unit_of(memory, "bob")
    langsmith.review(found.run.id, score=0)  # type: ignore[union-attr] # it was traced
    reviewed(memory)
    assert unit_of(memory, "bob") == before


def test_reviewing_again_changes_nothing(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    langsmith.review(found.run.id, score=0, correction={"output": "aisle seats"})  # type: ignore[union-attr] # it was traced
    assert reviewed(memory) == [Fate.APPLIED]
    once = memory.units(scope="alice")
    assert reviewed(memory) == [Fate.KNOWN]
    assert memory.units(scope="alice") == once


def test_a_dry_run_changes_nothing_and_says_what_would_be(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    before = memory.units(scope="alice")
    langsmith.review(found.run.id, score=0)  # type: ignore[union-attr] # it was traced
    assert reviewed(memory, dry_run=True) == [Fate.WOULD_APPLY]
    assert memory.units(scope="alice") == before
    assert reviewed(memory) == [Fate.APPLIED]


def test_a_review_that_breaks_off_goes_on_where_it_was(memory: HindsightMemory, langsmith: LangSmith):
    for _ in range(3):
        found = answered(memory, langsmith)
        langsmith.review(found.run.id, score=0)  # type: ignore[union-attr] # it was traced
    before = unit_of(memory).confidence
    asked = 0

    def refuse(method: str, path: str) -> bool:
        nonlocal asked
        asked += path.startswith("/runs/query")
        return asked >= 2  # and the client's own retries

    langsmith.refuse = refuse
    with pytest.raises(StoreUnavailable, match="goes on from here"):
        reviewed(memory)
    assert unit_of(memory).confidence == pytest.approx(before - 0.2)
    langsmith.refuse = lambda method, path: False
    assert reviewed(memory) == [Fate.KNOWN, Fate.APPLIED, Fate.APPLIED]
    assert unit_of(memory).confidence == pytest.approx(before - 0.6)


@pytest.mark.parametrize("writes", range(6))
def test_a_review_cut_off_after_any_request_ends_as_one_that_was_not(
    memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch, writes: int
):
    unit = unit_of(memory)
    review = Review(id="r1", at=NOON, scope=ALICE, question=ASKED, unit_ids=(unit.id,), success=False, correction="aisle seats")
    answer, left = memory._runtime.answer, writes

    def cut(op: Any) -> Any:
        nonlocal left
        changes = type(op).__name__ in {"WriteFields", "ReviseUnits", "AppendLog", "PutUnits"}
        reply = answer(op)
        left -= changes
        if changes and left < 0:
            raise KeyboardInterrupt  # the power is out, just after this was stored
        return reply

    with monkeypatch.context() as broken:
        broken.setattr(memory._runtime, "answer", cut)
        try:
            memory.review(review)
        except KeyboardInterrupt:
            pass
        else:
            assert writes == 5
    memory.review(review)
    assert memory.review(review).fate is Fate.KNOWN
    after = unit_of(memory)
    assert after.confidence == pytest.approx(unit.confidence - 0.2)
    assert after.revision == unit.revision + 1
    assert sum(found.kind is Kind.CORRECTION for found in memory.units(scope="alice")) == 1
    assert len(memory.history(unit.id, scope=ALICE)) == 1


async def test_a_review_is_taken_in_on_a_running_loop_too(memory: HindsightMemory):
    unit = (await memory.aunits(scope="alice"))[0]
    done = await memory.areview(Review(id="r1", at=NOON, scope=ALICE, unit_ids=(unit.id,), success=True))
    assert done.fate is Fate.APPLIED
    assert (await memory.aunits(scope="alice"))[0].confidence > unit.confidence


def test_feedback_that_says_nothing_or_is_our_own_is_left_alone(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    before = unit_of(memory)
    run = found.run.id  # type: ignore[union-attr] # it was traced
    langsmith.review(run, score=None, comment="hm")
    for own in OWN_KEYS:
        langsmith.review(run, key=own, score=0)
    assert reviewed(memory) == [Fate.NOTHING]
    assert unit_of(memory).confidence == before.confidence


def test_secrets_in_a_review_are_not_kept(memory: HindsightMemory):
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    memory.review(
        Review(id="r1", at=NOON, scope=ALICE, success=False, comment=f"it said {secret}", correction=f"never say {secret}")
    )
    assert secret not in str(memory.units(scope="alice"))
    assert secret not in str(memory.trajectory(scope=ALICE))


def test_a_correction_that_was_forgotten_is_not_brought_back(memory: HindsightMemory):
    review = Review(id="r1", at=NOON, scope=ALICE, correction="aisle seats")
    memory.review(review)
    (unit,) = [unit for unit in memory.units(scope="alice") if unit.kind is Kind.CORRECTION]
    memory.forget([unit.id], scope="alice")
    memory.review(review.model_copy(update={"id": "r1"}))
    assert all(found.kind is not Kind.CORRECTION for found in memory.units(scope="alice"))


@pytest.mark.parametrize(
    ("score", "verdict"),
    [(1, True), (True, True), (0.5, True), (0, False), (False, False), (-1, False), (0.3, None), (4, None), (None, None)],
)
def test_what_a_score_says(score: float | None, verdict: bool | None):
    assert verdict_of(score) is verdict


@pytest.mark.parametrize(
    ("correction", "text"),
    [
        (None, ""),
        ("plain", "plain"),
        ({"output": "words"}, "words"),
        ({"messages": [{"role": "assistant", "content": [{"type": "text", "text": "in parts"}]}]}, "in parts"),
        ({"score": 1}, ""),
    ],
)
def test_the_words_of_a_correction_are_found_in_any_form(correction: object, text: str):
    assert correction_text(correction) == text


def test_the_command_shows_a_table_and_counts(memory: HindsightMemory, langsmith: LangSmith):
    found = answered(memory, langsmith)
    langsmith.review(found.run.id, score=0, comment="outdated")  # type: ignore[union-attr] # it was traced
    path = str(memory.config.path)
    memory.close()
    wide = {"COLUMNS": "200", "HINDSIGHT_EMBEDDINGS": "hash"}
    for options, count in ((["--dry-run"], "1 would apply"), ([], "1 applied"), ([], "1 known")):
        result = CliRunner().invoke(app, ["review", "--project", PROJECT, "--path", path, *options], env=wide)
        assert result.exit_code == 0, result.output
        assert count in result.output
        for text in ("alice", "bad", FACT, "outdated", "100%"):
            assert text in result.output
    unknown = CliRunner().invoke(app, ["review", "--project", "nowhere", "--path", path], env=wide)
    assert isinstance(unknown.exception, HindsightError)
    assert "nowhere" in str(unknown.exception)
