"""Gives memory to a graph that is built already: `attach_memory(builder, memory, before="agent")`.

The recalling node takes over the name of the node that it stands before, so that every way to that node (an edge, a branch with or
without a path map, `Command(goto=…)`, `Send`) leads through it; the node itself goes on under `NAME.plan`. The annotating node takes over
what leaves the node that it stands after. StateGraph's `nodes`, `edges`, `waiting_edges` and `branches` are plain public attributes.
"""

# StateGraph's own types are partly unknown to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.graph import StateGraph
from langgraph.pregel.protocol import PregelProtocol
from langgraph.types import Command, Send
from typing_extensions import TypedDict, get_type_hints

from hindsight_langgraph.errors import CallError
from hindsight_langgraph.injected import stripped
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes.annotate import AnnotateAfterStep
from hindsight_langgraph.nodes.base import recollection_in
from hindsight_langgraph.nodes.recall import RecallBeforePlan, arecollect, recollect
from hindsight_langgraph.nodes.state import node_input
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.scoping import read_key, scope_of

Builder = TypeVar("Builder", bound="StateGraph[Any, Any, Any, Any]")
_PUSHED = "__pregel_push"
"""How LangGraph's metadata names the trigger of a task that a `Send` started."""


def attach_memory(
    builder: Builder, memory: HindsightMemory, *, before: str = "agent", after: str | None = None, messages_key: str = "messages"
) -> Builder:
    """Recall before one node of a graph and take in what another one did, whatever leads to them and from them.

    The node named `before` sees the recollection as a message just before the user's, and as `recollection` where its state has room
    for it; neither is persisted. A node that is a graph itself sees `recollection` only, since its own messages are persisted.

    Args:
        builder: a `StateGraph` that is not compiled yet; it is changed in place.
        memory: the memory.
        before: the node that plans: the one that calls the model.
        after: the node whose step is taken in; None means `before` itself.
        messages_key: the state key that holds the conversation.

    Returns:
        The same builder. Its drawing shows `before` (it recalls), `before.plan` (the node itself) and `after.annotate`.

    Raises:
        CallError: the builder is compiled, has no such node or no such state key, or has memory already.
    """
    after = before if after is None else after
    _check(builder, before, after, messages_key)
    plan, annotate = f"{before}.plan", f"{after}.annotate"
    step = plan if after == before else after
    _insert_recall(builder, memory, before, plan, messages_key)
    _insert_annotate(builder, memory, step, annotate, messages_key)
    return builder


def _check(builder: Any, before: str, after: str, messages_key: str) -> None:
    if not isinstance(builder, StateGraph):
        raise CallError(
            f"attach_memory takes a StateGraph before compile(), not a {type(builder).__name__}; attach, then compile"
        )
    nodes = cast("dict[str, Any]", builder.nodes)
    for name in (before, after):
        if name not in nodes:
            raise CallError(f"the graph has no node {name!r}; it has {', '.join(sorted(nodes))}")
    if f"{before}.plan" in nodes or f"{after}.annotate" in nodes:
        raise CallError(f"{before!r} or {after!r} has memory already; attach it once")
    if messages_key not in builder.channels:
        raise CallError(f"the graph's state has no {messages_key!r}; pass messages_key=… with its name")


def _insert_recall(builder: StateGraph[Any, Any, Any, Any], memory: HindsightMemory, name: str, plan: str, key: str) -> None:
    spec = builder.nodes.pop(name)
    schema = _with_recollection(builder, spec.input_schema, key)
    recall = _AttachedRecall(memory, plan=plan, messages_key=key)
    builder.add_node(name, recall, input_schema=schema, destinations=(plan,), defer=spec.defer, metadata={"memory": "recall"})
    inner = cast("Runnable[Any, Any]", spec.runnable)
    if not isinstance(inner, PregelProtocol):
        spec = replace(spec, runnable=_shown(inner, memory, schema=spec.input_schema, key=key, name=plan), input_schema=schema)
    elif "recollection" in getattr(inner, "channels", ()):  # other graphs would log a channel that they do not know
        spec = replace(spec, input_schema=schema)
    builder.nodes[plan] = spec
    if name in builder.branches:
        builder.branches[plan] = builder.branches.pop(name)
    builder.edges = {(plan if start == name else start, end) for start, end in builder.edges}
    builder.waiting_edges = {
        (tuple(plan if start == name else start for start in starts), end) for starts, end in builder.waiting_edges
    }


def _insert_annotate(builder: StateGraph[Any, Any, Any, Any], memory: HindsightMemory, step: str, name: str, key: str) -> None:
    builder.add_node(
        name, AnnotateAfterStep(memory, messages_key=key), input_schema=node_input(key), metadata={"memory": "annotate"}
    )
    if step in builder.branches:
        builder.branches[name] = builder.branches.pop(step)
    builder.edges = {(name if start == step else start, end) for start, end in builder.edges} | {(step, name)}
    builder.waiting_edges = {
        (tuple(name if start == step else start for start in starts), end) for starts, end in builder.waiting_edges
    }


def _with_recollection(builder: StateGraph[Any, Any, Any, Any], schema: type[Any], messages_key: str) -> type[Any]:
    """The schema of a node's state with the conversation and `recollection` beside its own keys."""
    hints = get_type_hints(schema, include_extras=True)
    fields = get_type_hints(node_input(messages_key), include_extras=True)
    fields |= {key: hints[key] for key in builder.schemas[schema] if key in hints}
    made: type[Any] = TypedDict(f"{schema.__name__}WithRecollection", fields, total=False)  # type: ignore[misc] # its keys are the graph's
    return made


class _AttachedRecall(RecallBeforePlan):
    """Recalls, notes that the user was active, then goes on to the node whose name it has taken."""

    def __init__(self, memory: HindsightMemory, *, plan: str, messages_key: str) -> None:
        super().__init__(memory, messages_key=messages_key)
        self.plan = plan

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - Runnable's name
        """Recall, blocking."""
        update = super().invoke(input, config, **kwargs)
        if update is not None:
            self.memory.touch(scope=scope_of(config))
        return self._go_on(input, config, update)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - Runnable's name
        """Recall on the running loop."""
        update = await super().ainvoke(input, config, **kwargs)
        if update is not None:
            await self.memory.atouch(scope=scope_of(config))
        return self._go_on(input, config, update)

    def _go_on(self, input: Any, config: RunnableConfig | None, update: dict[str, Any] | None) -> Command[Any]:  # noqa: A002 - Runnable's name
        """A task that a `Send` started hands its own input on; any other lets the node read the state."""
        if _PUSHED in (config or {}).get("metadata", {}).get("langgraph_triggers", ()) and isinstance(input, Mapping):
            return Command(goto=Send(self.plan, {**cast("Mapping[str, Any]", input), **(update or {})}))
        return Command(update=update, goto=self.plan)


def _shown(inner: Runnable[Any, Any], memory: HindsightMemory, *, schema: type[Any], key: str, name: str) -> Runnable[Any, Any]:
    """A node that sees what was recalled among its messages, and whose output is freed of it."""

    def prepared(state: Any, recollection: Recollection | None) -> Any:
        return _shown_state(memory, state, recollection, schema=schema, key=key)

    def call(state: Any, config: RunnableConfig) -> Any:
        found = recollect(memory, read_key(state, key) or [], recollection_in(state), scope=scope_of(config), state=state)
        return stripped(inner.invoke(prepared(state, found), config), key)

    async def acall(state: Any, config: RunnableConfig) -> Any:
        found = await arecollect(memory, read_key(state, key) or [], recollection_in(state), scope=scope_of(config), state=state)
        return stripped(await inner.ainvoke(prepared(state, found), config), key)

    return RunnableLambda(call, acall, name=name)


def _shown_state(memory: HindsightMemory, state: Any, recollection: Recollection | None, *, schema: type[Any], key: str) -> Any:
    if not isinstance(state, Mapping):
        return state
    fields = dict(cast("Mapping[str, Any]", state))
    if key in fields:
        fields[key] = memory.prompt(fields[key], recollection)
    fields["recollection"] = recollection
    if issubclass(schema, dict):
        return fields
    known = get_type_hints(schema)
    return schema(**{name: value for name, value in fields.items() if name in known})
