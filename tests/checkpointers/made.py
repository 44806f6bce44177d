"""Checkpoints and graphs for tests."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.base.id import uuid6
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import (
    _messages_delta_reducer,  # pyright: ignore[reportPrivateUsage] — the only reducer for messages
    add_messages,
)
from typing_extensions import TypedDict

META: CheckpointMetadata = {"source": "loop", "step": 0, "parents": {}}


def config(thread: Any = "t", ns: str | None = "", checkpoint_id: str | None = None, **more: Any) -> RunnableConfig:
    configurable: dict[str, Any] = {"thread_id": thread, **more}
    if ns is not None:
        configurable["checkpoint_ns"] = ns
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable}


def checkpoint(values: dict[str, Any] | None = None, *, id: str | None = None, version: int = 1) -> Checkpoint:
    values = values or {}
    return {
        "v": 1,
        "id": id or str(uuid6(clock_seq=-1)),
        "ts": "2026-01-01T00:00:00+00:00",
        "channel_values": values,
        "channel_versions": dict.fromkeys(values, version),
        "versions_seen": {},
        "updated_channels": None,
    }


def put(
    saver: BaseCheckpointSaver[Any],
    values: dict[str, Any] | None = None,
    *,
    at: RunnableConfig | None = None,
    id: str | None = None,
    version: int = 1,
    metadata: dict[str, Any] | None = None,
) -> RunnableConfig:
    """Put one checkpoint, all of whose channels are new."""
    made = checkpoint(values, id=id, version=version)
    return saver.put(at or config(), made, {**META, **(metadata or {})}, dict(made["channel_versions"]))  # type: ignore[typeddict-item]  # metadata may have any key


def read(saver: BaseCheckpointSaver[Any], at: RunnableConfig | None = None) -> CheckpointTuple:
    found = saver.get_tuple(at or config())
    assert found is not None
    return found


def ids(found: Any) -> list[str]:
    return [one.checkpoint["id"] for one in found]


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    n: int


class DeltaChat(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]
    n: int


def chat_graph(saver: BaseCheckpointSaver[Any], state: Any = Chat) -> Any:
    """Answers each message with one of its own."""

    def agent(seen: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"answer {len(seen['messages'])}")], "n": seen.get("n", 0) + 1}

    builder: Any = StateGraph(state)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    return builder.compile(checkpointer=saver)


def say(graph: Any, text: str, at: RunnableConfig | None = None, durability: str = "sync") -> Any:
    return graph.invoke({"messages": [HumanMessage(text)]}, at or config(ns=None), durability=durability)
