"""Stages of the memory as LangSmith runs, against a stand-in for its API over HTTP."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langsmith import run_trees

from hindsight_langgraph.errors import StoreUnavailable
from hindsight_langgraph.feedback import JUDGEMENT_KEY, OUTCOME_KEY
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import Scope
from tests.bridges.conftest import connect, sent
from tests.langsmith_stand_in import LangSmith, serving
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of
from tests.servers import PATIENCE_S

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"
LOCKER = "My locker number is 42."
SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def documents(run: dict[str, Any]) -> list[dict[str, Any]]:
    return list(run["outputs"]["documents"])


def test_recall_is_a_retriever_run_whose_documents_say_why(memory: HindsightMemory, langsmith: LangSmith):
    memory.remember([("user", FACT), ("user", "I prefer red seats on the bus, said Bo."), ("user", LOCKER)], scope="u1")
    found = memory.recall(Query(text=ASKED, goal="book a trip"), scope=Scope(user_id="u1", session_id="t9"))
    sent(langsmith)
    run = langsmith.run("hindsight.recall")
    assert run["run_type"] == "retriever"
    assert run["inputs"] == {"query": ASKED, "goal": "book a trip"}
    kept = [document for document in documents(run) if document["metadata"]["kept"]]
    assert [document["metadata"]["id"] for document in kept] == [unit.id for unit in found.units]
    told = kept[0]["metadata"]
    assert kept[0]["page_content"] == found.units[0].content
    assert (told["layer"], told["region"], told["kind"]) == ("semantic", "semantic", found.units[0].kind)
    assert told["date"] == f"{found.units[0].moment:%Y-%m-%d}"
    assert set(told["terms"]) == set(found.items[0].terms)
    assert all(document["metadata"]["why"] for document in documents(run))
    cut = {document["metadata"]["id"] for document in documents(run)} - {unit.id for unit in found.units}
    assert cut <= {dropped.unit.id for dropped in found.dropped}
    assert run["outputs"]["injected"] == found.text
    assert run["extra"]["metadata"]["hindsight_user"] == "u1"
    assert run["extra"]["metadata"]["hindsight_session"] == "t9"
    assert found.run is not None
    assert found.run.id == run["id"]


def test_runs_are_sent_compressed_as_the_api_offers(memory: HindsightMemory, langsmith: LangSmith):
    for _ in range(20):  # what is traced before the client has read the offer is sent as it is
        memory.recall(ASKED, scope="u1")
        sent(langsmith)
        if "zstd" in langsmith.encodings:
            return
    raise AssertionError(f"nothing was compressed, only {langsmith.encodings}")


def test_every_stage_of_a_graphs_turn_is_a_run_under_its_node(memory: HindsightMemory, langsmith: LangSmith):
    build(memory).invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    memory.settle()
    sent(langsmith)
    (root,) = [run for run in langsmith.runs.values() if run["id"] == run["trace_id"]]
    stages = {run["name"]: run for run in langsmith.runs.values() if run["name"].startswith("hindsight.")}
    assert set(stages) == {"hindsight.recall", "hindsight.annotate", "hindsight.write"}
    assert {run["trace_id"] for run in stages.values()} == {root["id"]}
    parents = {name: langsmith.runs[run["parent_run_id"]]["name"] for name, run in stages.items()}
    assert parents == {"hindsight.recall": "recall", "hindsight.annotate": "annotate", "hindsight.write": "hindsight.annotate"}
    assert stages["hindsight.annotate"]["inputs"]["messages"][0] == {"role": "user", "content": FACT}
    assert stages["hindsight.write"]["outputs"]["statements"][0]["content"] == FACT


@pytest.mark.parametrize("way", ["annotate", "remember", "note"])
def test_the_run_of_a_write_lasts_as_long_as_the_write(
    memory: HindsightMemory, langsmith: LangSmith, monkeypatch: pytest.MonkeyPatch, way: str
):
    began: list[datetime] = []
    answer = memory._runtime.answer

    def noticed(op: Any) -> Any:
        if type(op).__name__ == "PutUnits":
            began.append(datetime.now(UTC))
        return answer(op)

    monkeypatch.setattr(memory._runtime, "answer", noticed)
    scope = Scope(user_id="u1")
    memory.note(FACT, scope=scope) if way == "note" else getattr(memory, way)([("user", FACT)], scope=scope)
    memory.settle()
    sent(langsmith)
    run = langsmith.run("hindsight.write")
    start, end = (datetime.fromisoformat(run[name]).replace(tzinfo=UTC) for name in ("start_time", "end_time"))
    assert began
    assert start < began[0] < end
    assert run["inputs"]["messages"] == [{"role": "user", "content": FACT}]


def test_a_write_that_could_not_be_done_says_so_in_its_run(memory: HindsightMemory, langsmith: LangSmith):
    memory._runtime.outages["long-term store"].failed(StoreUnavailable("no engine today"))
    memory.annotate([("user", FACT)], scope="u1")
    memory.settle()
    sent(langsmith)
    assert langsmith.run("hindsight.write")["outputs"]["status"] == "failed"


def test_the_same_under_ainvoke(memory: HindsightMemory, langsmith: LangSmith):
    asyncio.run(build(memory).ainvoke({"messages": [HumanMessage(FACT)]}, run_of("u1")))
    memory.settle()
    sent(langsmith)
    recall = langsmith.run("hindsight.recall")
    assert langsmith.runs[recall["parent_run_id"]]["name"] == "recall"
    assert langsmith.run("hindsight.write")["parent_run_id"] == langsmith.run("hindsight.annotate")["id"]


def test_consolidation_and_remembering_are_runs_too(memory: HindsightMemory, langsmith: LangSmith):
    memory.remember([("user", FACT), ("user", "ok thanks")], scope="u1")
    memory.consolidate(scope="u1")
    sent(langsmith)
    turns = langsmith.run("hindsight.remember")["outputs"]["reports"][0]["turns"]
    assert [turn["kept"] for turn in turns] == [True, False]
    assert langsmith.run("hindsight.consolidate")["outputs"]["report"]


def test_no_secret_reaches_a_run(memory: HindsightMemory, langsmith: LangSmith):
    memory.annotate([("user", f"My key is {SECRET}, use it for the billing service.")], scope="u1")
    memory.recall(f"What is {SECRET} for?", scope="u1")
    memory.settle()
    sent(langsmith)
    shown = str(langsmith.runs)
    assert "billing" in shown
    assert SECRET not in shown


def test_an_error_of_a_stage_is_shown_and_raised(memory: HindsightMemory, langsmith: LangSmith):
    memory.close()
    with pytest.raises(Exception, match="closed"):
        memory.recall(ASKED, scope="u1")
    sent(langsmith)
    assert "closed" in langsmith.run("hindsight.recall")["error"]


def test_with_tracing_off_not_one_request_is_made(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    with serving() as stand_in:
        connect(monkeypatch, stand_in.url, tracing="false")
        talk(
            memory,
            Scope(user_id="u1"),
            (FACT, "Noted."),
            (ASKED, "Window seats on trains."),
            ("Thanks, that was right!", "Gladly."),
        )
        assert memory.annotations(scope="u1")  # an outcome was read, judged, and told to nobody
        build(memory).invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
        scope = Scope(user_id="u1", session_id="t1")
        found = memory.recall(ASKED, scope=scope)
        memory.outcome(scope=scope, success=True)
        memory.consolidate(scope="u1")
        memory.settle()
        memory.close()
        assert found.run is None
        assert run_trees._CLIENT is None
        assert stand_in.requests == []


# --- feedback ------------------------------------------------------------------------------------------------------------


def finish(memory: HindsightMemory, langsmith: LangSmith, scope: Scope, *, success: bool, comment: str = "") -> None:
    memory.outcome(scope=scope, success=success, feedback=comment)
    memory.settle()
    assert memory._parts.feedback.settle(PATIENCE_S)
    sent(langsmith)


def test_an_outcome_is_feedback_on_the_runs_that_it_judges_and_on_no_earlier_one(memory: HindsightMemory, langsmith: LangSmith):
    scope = Scope(user_id="u1", session_id="t1")
    first = memory.recall(ASKED, scope=scope)
    finish(memory, langsmith, scope, success=True)
    second = memory.recall("Where is my locker?", scope=scope)
    finish(memory, langsmith, scope, success=False, comment="wrong hall")
    assert first.run
    assert second.run
    given = {one["run_id"]: (one["key"], one["score"], one.get("comment")) for one in langsmith.feedback}
    assert given == {first.run.id: (OUTCOME_KEY, 1, None), second.run.id: (OUTCOME_KEY, 0, "wrong hall")}
    assert {one["session_id"] for one in langsmith.feedback} == {langsmith.project("memory-tests")}


def talk(memory: HindsightMemory, scope: Scope, *exchanges: tuple[str, str]) -> list[Recollection]:
    """Exchanges of one thread: recall, answer, annotate, each settled before the next."""
    said: list[dict[str, str]] = []
    found = []
    for number, (user, agent) in enumerate(exchanges):
        found.append(memory.recall(user, scope=scope))
        said = [
            {"role": "user", "content": user, "id": f"u{number}"},
            {"role": "assistant", "content": agent, "id": f"a{number}"},
        ]
        memory.annotate(said, scope=scope, recollection=found[-1])
        memory.settle()
    return found


def test_an_outcome_read_from_the_conversation_is_feedback_on_the_runs_that_recalled_for_it(
    memory: HindsightMemory, langsmith: LangSmith
):
    memory.remember([("user", FACT)], scope="u1")
    scope = Scope(user_id="u1", session_id="t1")
    first, last = talk(memory, scope, (ASKED, "You prefer window seats on trains."), ("Thanks, that was right!", "Gladly."))
    assert memory._parts.feedback.settle(PATIENCE_S)
    sent(langsmith)
    assert first.run
    assert last.run
    outcomes = [one for one in langsmith.feedback if one["key"] == OUTCOME_KEY]
    assert [(one["run_id"], one["score"], one["comment"]) for one in outcomes] == [(first.run.id, 1, "Thanks, that was right!")]


def test_a_judgement_is_feedback_on_the_run_that_recalled_what_it_judges(memory: HindsightMemory, langsmith: LangSmith):
    memory.remember([("user", LOCKER)], scope="u1")
    scope = Scope(user_id="u1", session_id="t1")
    (found,) = talk(memory, scope, ("What is my locker number?", "It is 42."))
    finish(memory, langsmith, scope, success=True)
    assert found.run
    (judged,) = [one for one in langsmith.feedback if one["key"] == JUDGEMENT_KEY]
    (report,) = memory.annotations(scope=scope)
    (judgement,) = [one for one in report.judgements if one.ref.startswith("memory:")]
    assert (judged["run_id"], judged["score"]) == (found.run.id, 1.0)
    assert judged["comment"] == f"{LOCKER}: {judgement.role}, {judgement.effect} ({judgement.reason})"
    assert {one["run_id"] for one in langsmith.feedback} == {found.run.id}


def test_an_unknown_outcome_is_no_feedback(memory: HindsightMemory, langsmith: LangSmith):
    memory.recall(ASKED, scope="u1")
    memory.outcome(scope="u1", success=None)
    memory.settle()
    sent(langsmith)
    assert langsmith.feedback == []


# --- an endpoint that is dead ----------------------------------------------------------------------------------------------


def test_an_endpoint_that_never_answers_holds_nothing_up(memory: HindsightMemory, langsmith: LangSmith):
    langsmith.open.clear()  # every request to it waits from here on
    graph = build(memory)
    graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("u1", "t1"))
    scope = Scope(user_id="u1", session_id="t2")
    assert "window seats" in memory.recall(ASKED, scope=scope).text
    memory.outcome(scope=scope, success=True)
    assert memory.settle()
    assert not memory._parts.feedback.settle(0)  # it waits, alone
    assert not langsmith.runs
    langsmith.open.set()
    assert memory._parts.feedback.settle(PATIENCE_S)


@pytest.mark.slow
def test_an_endpoint_that_refuses_connections_breaks_nothing(
    memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    connect(monkeypatch, "http://127.0.0.1:9")
    scope = Scope(user_id="u1", session_id="t1")
    build(memory).invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    assert memory.recall(ASKED, scope=scope).degraded == ()
    memory.outcome(scope=scope, success=True)
    assert memory.settle()
    assert memory._parts.feedback.settle(PATIENCE_S)
    assert sum("no feedback" in record.message for record in caplog.records) == 1
    assert memory.units(scope="u1")
    run_trees.get_cached_client().cleanup(timeout=0)  # its threads would go on trying, and log so in other tests


def test_a_tracer_that_fails_stays_a_guest(memory: HindsightMemory, langsmith: LangSmith, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no trace today")

    memory.remember([("user", FACT)], scope="u1")
    for step in ("post", "end", "patch"):
        with monkeypatch.context() as broken:
            broken.setattr(f"langsmith.run_trees.RunTree.{step}", fail)
            assert "window seats" in memory.recall(ASKED, scope="u1").text


def test_runs_of_two_users_at_once_are_kept_apart(memory: HindsightMemory, langsmith: LangSmith):
    memory.remember([("user", FACT)], scope="u1")
    threads = [threading.Thread(target=memory.recall, args=(ASKED,), kwargs={"scope": user}) for user in ("u1", "u2") * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent(langsmith)
    recalls = [run for run in langsmith.runs.values() if run["name"] == "hindsight.recall"]
    assert len(recalls) == 10
    for run in recalls:
        assert bool(documents(run)) == (run["extra"]["metadata"]["hindsight_user"] == "u1")
