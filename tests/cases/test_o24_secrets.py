"""CASES O24: secrets that a user pastes, and that a chat model or a tool echoes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.records import Scope
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

PASSWORD, TOKEN = "Pl4ce-holder!77", "tok_test_0000FAKE1111"
PASTED = f"Remember: the staging db password is {PASSWORD} and the token is {TOKEN}."


def files_with(secret: str, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def echoing(name: str, value: str, *, place: int = 0) -> list[AIMessage | ToolMessage]:
    """A tool call that names a value, and its result, which repeats it under a neutral name."""
    call = {"name": "connect", "args": {name: value}, "id": f"c{place}", "type": "tool_call"}
    told = json.dumps({"status": "ok", "note": value})
    return [AIMessage("", tool_calls=[call], id=f"a{place}"), ToolMessage(told, tool_call_id=f"c{place}", id=f"t{place}")]


def test_a_secret_that_the_model_echoes_is_in_no_unit_and_no_file(tmp_path: Path) -> None:
    echo = {
        "subject": "staging db", "attribute": "password", "value": PASSWORD, "content": f"The staging db opens with {PASSWORD}.",
        "kind": "fact", "source": "0", "entities": ["staging db", TOKEN], "replaces": TOKEN,
    }  # fmt: skip
    chat = ScriptedChat([json.dumps({"facts": [echo]})])
    with open_memory(tmp_path, chat_model=chat) as memory:
        memory.remember([HumanMessage(PASTED, id="m1")], scope="ida")
        units = memory.units(scope="ida")
    stored = "".join(unit.model_dump_json() for unit in units)
    assert "staging db" in stored
    assert chat.asked
    assert not any(secret in stored or secret in str(chat.asked) for secret in (PASSWORD, TOKEN))
    assert not files_with(PASSWORD, tmp_path) + files_with(TOKEN, tmp_path)


def test_the_report_tells_how_many_secrets_of_each_sort_were_taken_out(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        (report,) = memory.remember([HumanMessage(PASTED, id="m1"), HumanMessage("I moved to Porto.", id="m2")], scope="ida")
        (dry,) = memory.explain([HumanMessage(PASTED, id="m1")], scope="ida")
        (plain,) = memory.remember([HumanMessage("I have a dog named Kite.", id="m3")], scope="ida")
    assert report.redactions == dry.redactions == {"password": 1, "api_key": 1}
    assert "taken out: 1 api_key, 1 password" in str(report)
    assert plain.redactions == {}


def test_what_is_written_in_the_background_tells_its_secrets_whoever_writes_it(tmp_path: Path) -> None:
    heard: list[WriteReport] = []
    with open_memory(tmp_path) as memory:
        memory.on_event(lambda event: heard.append(event) if isinstance(event, WriteReport) else None)
        for i, text in enumerate(("my password is Vq7-lamp", "密码是 Tuna#4471，别外传")):
            memory.annotate([HumanMessage(text, id=f"m{i}")], scope="ida")
        memory.settle()
    assert sum(report.redactions.get("password", 0) for report in heard) == 2


def test_a_secret_that_another_message_repeats_is_stored_nowhere(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        repeated = [AIMessage(f"Noted, {PASSWORD} it is.", id="a0"), *echoing("note", PASSWORD)]
        memory.annotate([HumanMessage(PASTED, id="m1"), *repeated], scope="ida")
        memory.settle()
        assert [turn.text for turn in memory.read_session(scope="ida")][:2] == [
            '{"status": "ok", "note": "[redacted]"}', "Noted, [redacted] it is.",
        ]  # fmt: skip
    assert not files_with(PASSWORD, tmp_path)


def later(memory: HindsightMemory, door: str) -> None:
    """The secret of an earlier call comes back where nothing tells what it is."""
    if door == "annotate":
        memory.annotate(echoing("note", PASSWORD, place=1), scope="ida")
    elif door == "remember":
        memory.remember([HumanMessage(f"I moved the staging db, {PASSWORD} opens it still.", id="m9")], scope="ida")
    elif door == "recall":
        memory.recall(f"What does {PASSWORD} open?", scope="ida")
    elif door == "write_task":
        memory.write_task({"note": f"try {PASSWORD}"}, scope="ida")
    else:
        memory.outcome(scope="ida", success=False, feedback=f"{PASSWORD} did not work", error=f"refused {PASSWORD}")
    memory.settle()


@pytest.mark.parametrize("door", ["annotate", "remember", "recall", "write_task", "outcome"])
def test_a_secret_of_an_earlier_call_is_known_again_at_every_door(tmp_path: Path, door: str) -> None:
    with open_memory(tmp_path) as memory:
        memory.annotate([HumanMessage(PASTED, id="m1"), *echoing("query", "select 1")], scope="ida")
        later(memory, door)
    assert not files_with(PASSWORD, tmp_path)


def test_a_secret_of_one_user_changes_no_text_of_another(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.remember([HumanMessage(PASTED, id="m1")], scope="ida")
        memory.remember([HumanMessage(f"My cat is named {PASSWORD}, remember that.", id="m2")], scope="bo")
        assert PASSWORD in memory.units(scope="bo")[0].content


@pytest.mark.parametrize(("named", "again"), [("the wifi password is swordfish", "swordfish"), ("the PIN is 4471", "4471")])
def test_an_ordinary_word_or_number_that_was_a_secret_once_is_said_freely_later(tmp_path: Path, named: str, again: str) -> None:
    with open_memory(tmp_path) as memory:
        memory.remember([HumanMessage(named, id="m1")], scope="ida")
        memory.remember([HumanMessage(f"I am allergic to {again}, remember that.", id="m2")], scope="ida")
        assert any(again in unit.content for unit in memory.units(scope="ida"))


def test_an_error_of_a_watched_graph_is_kept_without_its_secret(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        builder: Any = StateGraph(MessagesState)

        def fail(_: MessagesState) -> MessagesState:
            raise RuntimeError(f"cannot log in with password={PASSWORD}")

        builder.add_node("fail", fail)
        builder.add_edge(START, "fail")
        graph = builder.compile(checkpointer=memory.observe(InMemorySaver()))
        with pytest.raises(RuntimeError):
            graph.invoke({"messages": [("user", "log in")]}, run_of("ida"))
        memory.settle()
        (failed,) = [step for step in memory.trajectory(scope=Scope(user_id="ida", session_id="t1")).steps if step.error]
    assert failed.content.endswith("password=[redacted]")
