"""`HindsightMiddleware` in real agents made with `create_agent`, blocking and awaiting."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.errors import MissingUser
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import RECOLLECTION_ID
from hindsight_langgraph.middleware import HindsightMiddleware
from hindsight_langgraph.records import Scope
from tests.doors.models import Scripted, calling, recorded_queries, saying
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path) as opened:
        yield opened


@tool
def timetable(city: str) -> str:
    """Trains to a city."""
    if city == "Atlantis":
        raise ValueError("no such station")
    return f"{city}: 9:00"


class EndedState(AgentState[Any]):
    outcome: NotRequired[Any]


def agent_of(memory: HindsightMemory, model: Scripted, *others: Any, first: bool = True, **more: Any) -> Any:
    ours = HindsightMiddleware(memory)
    middleware = [ours, *others] if first else [*others, ours]
    return create_agent(model, [timetable], middleware=middleware, checkpointer=InMemorySaver(), **more)


def asking(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def saved(agent: Any, run: Any) -> str:
    """Everything that the agent's checkpointer holds, as text."""
    return str([(t.checkpoint, t.metadata, t.pending_writes) for t in agent.checkpointer.list(run)])


def test_what_was_said_is_shown_to_the_model_in_another_thread_and_nowhere_persisted(memory: HindsightMemory):
    model = saying("noted", calling("timetable", city="Lyon"), "a window seat at 9:00")
    agent = agent_of(memory, model, system_prompt="You book trains.")
    agent.invoke(asking(FACT), run_of("u1", "t1"))
    state = agent.invoke(asking(ASKED), run_of("u1", "t2"))
    assert "window seats" in model.shown[1]
    assert "window seats" in model.shown[2]
    assert [m.type for m in model.seen[1]] == ["system", "human", "human"]
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]
    assert "recollection" not in state
    assert RECOLLECTION_ID not in saved(agent, run_of("u1", "t2"))
    assert "recalled_memory" not in saved(agent, run_of("u1", "t2"))
    assert "window seats on trains" not in saved(agent, run_of("u1", "t2"))


def test_the_same_under_ainvoke(memory: HindsightMemory):
    model = saying("noted", calling("timetable", city="Lyon"), "done")
    agent = agent_of(memory, model)

    async def talk() -> None:
        await agent.ainvoke(asking(FACT), run_of("u1", "t1"))
        await agent.ainvoke(asking(ASKED), run_of("u1", "t2"))

    asyncio.run(talk())
    assert ["window seats" in text for text in model.shown] == [False, True, True]


def test_another_user_is_shown_nothing_of_it(memory: HindsightMemory):
    model = saying("noted", "I do not know")
    agent = agent_of(memory, model)
    agent.invoke(asking(FACT), run_of("u1"))
    agent.invoke(asking(ASKED), run_of("u2"))
    assert "window" not in model.shown[1]


def test_a_run_without_a_user_is_an_error(memory: HindsightMemory):
    with pytest.raises(MissingUser, match="user_id"):
        agent_of(memory, saying("x")).invoke(asking(FACT), {"configurable": {"thread_id": "t"}})


def test_tool_calls_and_the_outcome_become_the_tasks_trajectory(memory: HindsightMemory):
    ours = HindsightMiddleware(memory, outcome=lambda state: state["messages"][-1].text == "At 9:00.")
    agent = create_agent(saying(calling("timetable", city="Lyon"), "At 9:00."), [timetable], middleware=[ours])
    agent.invoke(asking("When does a train go to Lyon?"), run_of("u1", "t1"))
    kept = memory.trajectory(scope=Scope(user_id="u1", session_id="t1"))
    assert [step.kind for step in kept.steps if step.kind is not StepKind.RECALL] == [
        StepKind.GOAL,
        StepKind.TOOL,
        StepKind.MESSAGE,
    ]
    assert kept.outcome is not None
    assert kept.outcome.success is True


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_tool_that_raises_ends_the_run_and_is_remembered_as_a_failure(memory: HindsightMemory, awaiting: bool):
    agent = agent_of(memory, saying(calling("timetable", city="Atlantis"), "never said"))
    question = asking("When does a train go to Atlantis?")
    with pytest.raises(ValueError, match="no such station"):
        asyncio.run(agent.ainvoke(question, run_of("u1", "t1"))) if awaiting else agent.invoke(question, run_of("u1", "t1"))
    kept = memory.trajectory(scope=Scope(user_id="u1", session_id="t1"))
    assert [step.content for step in kept.steps if step.error] == ["ValueError: no such station"]
    assert kept.outcome is not None
    assert kept.outcome.success is False


def test_the_agents_own_state_may_say_how_it_ended(memory: HindsightMemory):
    class Ending(AgentMiddleware[Any, Any, Any]):
        state_schema = EndedState

        def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"outcome": {"success": False, "feedback": "wrong train"}}

    agent_of(memory, saying("At 9:00."), Ending()).invoke(asking("When does a train go?"), run_of("u1", "t1"))
    told = memory.trajectory(scope=Scope(user_id="u1", session_id="t1")).outcome
    assert told is not None
    assert (told.success, told.feedback) == (False, "wrong train")


def test_an_exchange_of_which_nobody_says_how_it_ended_has_no_outcome(memory: HindsightMemory):
    agent_of(memory, saying("noted")).invoke(asking(FACT), run_of("u1", "t1"))
    assert memory.trajectory(scope=Scope(user_id="u1", session_id="t1")).outcome is None


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("awaiting", [False, True])
def test_beside_summarization_in_either_order_the_users_words_are_kept_and_the_summary_is_not(
    memory: HindsightMemory, first: bool, awaiting: bool
):
    summariser = SummarizationMiddleware(saying(*["the user wants something"] * 9), trigger=("messages", 2), keep=("messages", 1))
    model = saying(*[line for n in range(3) for line in (calling("timetable", id=f"c{n}", city="Lyon"), "done")])
    agent = agent_of(memory, model, summariser, first=first)
    for text in (FACT, "My locker number is 42.", ASKED):
        if awaiting:
            asyncio.run(agent.ainvoke(asking(text), run_of("u1", "t1")))
        else:
            agent.invoke(asking(text), run_of("u1", "t1"))
    memory.settle()
    contents = " | ".join(unit.content for unit in memory.units(scope="u1"))
    assert "window seats" in contents
    assert "42" in contents
    assert "the user wants something" not in contents
    assert "summary" not in contents
    assert "window seats" in model.shown[4]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("awaiting", [False, True])
def test_beside_human_approval_in_either_order_memory_is_there_after_the_resume(
    memory: HindsightMemory, first: bool, awaiting: bool
):
    memory.remember([("user", FACT)], scope="u1")
    model = saying(calling("timetable", city="Lyon"), "a window seat at 9:00")
    agent = agent_of(memory, model, HumanInTheLoopMiddleware(interrupt_on={"timetable": True}), first=first)
    approve: Command[Any] = Command(resume={"decisions": [{"type": "approve"}]})

    async def atalk() -> tuple[Any, Any]:
        return await agent.ainvoke(asking(ASKED), run_of("u1")), await agent.ainvoke(approve, run_of("u1"))

    if awaiting:
        stopped, done = asyncio.run(atalk())
    else:
        stopped, done = agent.invoke(asking(ASKED), run_of("u1")), agent.invoke(approve, run_of("u1"))
    assert stopped["__interrupt__"]
    assert done["messages"][-1].text == "a window seat at 9:00"
    assert ["window seats" in text for text in model.shown] == [True, True]


def test_streaming_gives_the_answer_token_by_token_and_no_memory_text(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    model = saying("a window seat")
    parts = list(agent_of(memory, model).stream(asking(ASKED), run_of("u1"), stream_mode="messages"))
    tokens = [chunk.text for chunk, told in parts if told["langgraph_node"] == "model" and chunk.type.startswith("AI")]
    assert "".join(tokens) == "a window seat"
    assert len(tokens) > 1
    assert not any("recalled_memory" in chunk.text for chunk, _ in parts)
    assert "window seats" in model.shown[0]


async def test_streaming_on_a_running_loop_gives_the_same(memory: HindsightMemory):
    await memory.aremember([("user", FACT)], scope="u1")
    model = saying("a window seat")
    stream = agent_of(memory, model).astream(asking(ASKED), run_of("u1"), stream_mode="messages")
    parts = [part async for part in stream]
    tokens = [chunk.text for chunk, told in parts if told["langgraph_node"] == "model" and chunk.type.startswith("AI")]
    assert "".join(tokens) == "a window seat"
    assert len(tokens) > 1
    assert not any("recalled_memory" in chunk.text for chunk, _ in parts)
    assert "window seats" in model.shown[0]


def test_its_state_is_private(memory: HindsightMemory):
    agent, plain = agent_of(memory, saying("ok")), create_agent(saying("ok"), [timetable])
    for schema in ("get_input_jsonschema", "get_output_jsonschema"):
        assert set(getattr(agent, schema)()["properties"]) == set(getattr(plain, schema)()["properties"])


def test_every_stream_mode_works(memory: HindsightMemory):
    agent = agent_of(memory, saying(*["ok"] * 5))
    for mode in ("values", "updates", "debug", "custom", "tasks"):
        list(agent.stream(asking(FACT), run_of("u1", mode), stream_mode=mode))
    memory.settle()
    assert memory.units(scope="u1")


class Seat(BaseModel):
    """A seat."""

    kind: str


@pytest.mark.parametrize("awaiting", [False, True])
def test_structured_output_works_beside_it(memory: HindsightMemory, awaiting: bool):
    memory.remember([("user", FACT)], scope="u1")
    model = saying(calling("Seat", kind="window"))
    agent = agent_of(memory, model, response_format=ToolStrategy(Seat))
    asked = asking(ASKED)
    state = asyncio.run(agent.ainvoke(asked, run_of("u1"))) if awaiting else agent.invoke(asked, run_of("u1"))
    assert state["structured_response"] == Seat(kind="window")
    assert "window seats" in model.shown[0]


def test_a_failed_tool_asks_the_memory_again(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    asked = recorded_queries(memory, monkeypatch)

    @tool
    def door(code: int) -> str:
        """Opens the door."""
        return "open"

    model = saying(calling("door", code="not a number"), "it stays shut")
    agent = create_agent(model, [door], middleware=[HindsightMiddleware(memory)])
    agent.invoke(asking("Open the door."), run_of("u1"))
    assert [bool(query.last_result) for query in asked] == [False, True]


def test_tools_that_work_ask_the_memory_no_more(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    asked = recorded_queries(memory, monkeypatch)

    @tool
    def door(code: int) -> str:
        """Opens the door."""
        return "open"

    model = saying(calling("door", code=1), calling("door", id="c2", code=2), "both are open")
    agent = create_agent(model, [door], middleware=[HindsightMiddleware(memory)])
    agent.invoke(asking("Open the doors."), run_of("u1"))
    assert [query.text for query in asked] == ["Open the doors."]


class Aiming(AgentState[Any]):
    """An agent's state that tells what it is after."""

    goal: str


def test_another_goal_asks_the_memory_again(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    asked = recorded_queries(memory, monkeypatch)

    @tool
    def turn_to(goal: str, call: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Sets the goal."""
        return Command(update={"goal": goal, "messages": [ToolMessage("turned", tool_call_id=call)]})

    model = saying(calling("turn_to", goal="write the quarterly invoice"), "done")
    agent: Any = create_agent(model, [turn_to], middleware=[HindsightMiddleware(memory)], state_schema=Aiming)
    agent.invoke({**asking("Go on."), "goal": "paint the kitchen"}, run_of("u1"))
    assert [query.goal for query in asked] == ["paint the kitchen", "write the quarterly invoice"]


def test_a_memory_that_is_down_costs_the_memory_and_not_the_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING, logger="hindsight_langgraph")
    with open_memory(tmp_path, qdrant_url="http://127.0.0.1:9", redis_url="redis://127.0.0.1:9", timeout_s=0.2) as memory:
        agent = agent_of(memory, saying(calling("timetable", city="Lyon"), "done", "done"))
        assert agent.invoke(asking(FACT), run_of("u1"))["messages"][-1].text == "done"
        assert asyncio.run(agent.ainvoke(asking(ASKED), run_of("u1")))["messages"][-1].text == "done"
    assert sum("is down" in record.getMessage() for record in caplog.records) <= 2


def test_the_model_may_have_the_tools_as_well(memory: HindsightMemory):
    model = saying(
        calling("memory_write", content="I am allergic to nuts."),
        "noted",
        calling("memory_search", id="c2", query="allergic"),
        "nuts",
    )
    agent = create_agent(model, [], middleware=[HindsightMiddleware(memory, tools=True)])
    agent.invoke(asking("Please keep my allergy in mind."), run_of("u1"))
    state = agent.invoke(asking("What am I allergic to?"), run_of("u1", "t2"))
    assert "allergic to nuts" in state["messages"][2].text


def test_without_langchain_the_import_says_what_to_install():
    code = "import sys; sys.modules['langchain'] = None; import hindsight_langgraph.middleware"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "MissingExtra: HindsightMiddleware needs LangChain: pip install 'langgraph-hindsight[langchain]'" in done.stderr


def test_an_agent_in_threads_keeps_its_users_apart(memory: HindsightMemory):
    model = saying(*["ok"] * 16)
    agent = agent_of(memory, model)
    users = [f"user{n}" for n in range(8)]
    agent.batch([asking(f"My locker number is {n + 40}.") for n in range(8)], [run_of(user, user) for user in users])
    memory.settle()
    for n, user in enumerate(users):
        contents = [unit.content for unit in memory.units(scope=user)]
        assert contents
        assert all(str(n + 40) in content for content in contents)
