"""Memory for agents made with `create_agent`: `middleware=[HindsightMiddleware(memory)]` (extra `langchain`).

Recall runs before the agent and after a failed tool; its text enters the model's input at the call only. What the agent did is taken in
as it happens, so that nothing is lost when a summary replaces messages or a tool's error ends the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, cast

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.channels import UntrackedValue
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command

from hindsight_langgraph.call_times import CallTimes
from hindsight_langgraph.errors import MissingExtra, StoreError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import given_up, read_turns
from hindsight_langgraph.nodes.annotate import Told, latest_exchange, told_outcome
from hindsight_langgraph.nodes.base import recollection_in
from hindsight_langgraph.nodes.recall import arecollect, at_hand, query_of, recollect
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import Role, Turn
from hindsight_langgraph.scoping import scope_of

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain.tools.tool_node import ToolCallRequest
except ImportError as error:
    raise MissingExtra("HindsightMiddleware needs LangChain: pip install 'langgraph-hindsight[langchain]'") from error


class MemoryAgentState(AgentState[Any]):
    """The agent's state with what was recalled: private to the agent, never persisted."""

    recollection: NotRequired[Annotated[Recollection | None, UntrackedValue(Recollection, guard=False), PrivateStateAttr]]


class HindsightMiddleware(AgentMiddleware[MemoryAgentState, Any, Any]):
    """Gives an agent memory: it recalls before it starts, and what it did is remembered with its outcome.

    The user is read from the run, `config["configurable"]` or the context. A store or model that is down costs the memory, not the run.
    It goes beside other middleware in any order.

    Args:
        memory: the memory.
        tools: True gives the model `memory_search`, `memory_write` and `memory_forget` as well.
        outcome: says of the agent's state whether the user's goal was reached, None for unknown. Without it the outcome is what the
            state's own `outcome` says (see `AnnotateAfterStep`), else it is read from the conversation. A tool that raises ends the run
            as a failure.
    """

    state_schema = MemoryAgentState

    def __init__(
        self,
        memory: HindsightMemory,
        *,
        tools: bool = False,
        outcome: Callable[[Mapping[str, Any]], bool | None] | None = None,
    ) -> None:
        super().__init__()
        self.memory = memory
        self.tools = memory.tools() if tools else []
        self._judge = outcome
        self._times = CallTimes()

    # --- recall before the agent -----------------------------------------------------------------------------------------

    def before_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's signature
        """Recall for the user's message, then take it in."""
        scope, turns = scope_of(), read_turns(state["messages"])
        query = query_of(self.memory, turns, state=state)
        found = None if query is None else self.memory.recall(query, scope=scope, visible=_ids(turns))
        self._take_in(state["messages"], found)
        self.memory.touch(scope=scope)
        return {"recollection": found}

    async def abefore_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's signature
        """As `before_agent`."""
        scope, turns = scope_of(), read_turns(state["messages"])
        query = query_of(self.memory, turns, state=state)
        found = None if query is None else await self.memory.arecall(query, scope=scope, visible=_ids(turns))
        await self._atake_in(state["messages"], found)
        await self.memory.atouch(scope=scope)
        return {"recollection": found}

    def before_model(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's signature
        """Take in what the tools answered; recall again after a failed one, for another goal or sub-goal, or when what was recalled is lost."""
        messages, turns = state["messages"], read_turns(state["messages"])
        if turns and turns[-1].role is not Role.USER:
            self._take_in(messages, recollection_in(state))
        query = query_of(self.memory, turns, before=at_hand(recollection_in(state), scope_of()), state=state)
        if query is None:
            return None
        return {"recollection": self.memory.recall(query, scope=scope_of(), visible=_ids(turns))}

    async def abefore_model(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's signature
        """As `before_model`."""
        messages, turns = state["messages"], read_turns(state["messages"])
        if turns and turns[-1].role is not Role.USER:
            await self._atake_in(messages, recollection_in(state))
        query = query_of(self.memory, turns, before=at_hand(recollection_in(state), scope_of()), state=state)
        if query is None:
            return None
        return {"recollection": await self.memory.arecall(query, scope=scope_of(), visible=_ids(turns))}

    # --- injection at the model call -------------------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with what was recalled just before the user's message."""
        found = recollect(self.memory, request.messages, recollection_in(request.state), scope=scope_of(), state=request.state)
        began = self.memory.clock.now()
        response = handler(request.override(messages=self._shown(request, found)))
        self._times.note([message.id for message in response.result], began, self.memory.clock.now())
        return response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        found = await arecollect(
            self.memory, request.messages, recollection_in(request.state), scope=scope_of(), state=request.state
        )
        began = self.memory.clock.now()
        response = await handler(request.override(messages=self._shown(request, found)))
        self._times.note([message.id for message in response.result], began, self.memory.clock.now())
        return response

    def _shown(self, request: ModelRequest[Any], found: Recollection | None) -> list[AnyMessage]:
        return cast("list[AnyMessage]", self.memory.prompt(request.messages, found))

    # --- what the tools did ----------------------------------------------------------------------------------------------

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Take in an error that ends the run; what a tool answers is taken in with the messages."""
        began = self.memory.clock.now()
        try:
            answer = handler(request)
        except GraphBubbleUp:  # an interrupt is no failure
            raise
        except Exception as error:
            self._times.note([request.tool_call["id"]], began, self.memory.clock.now())
            self._take_in([*request.state["messages"], _failure(request, error)], recollection_in(request.state))
            self._close(Told(success=False, feedback="", error=_told(error)))
            raise
        self._times.note([request.tool_call["id"]], began, self.memory.clock.now())
        return answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """As `wrap_tool_call`."""
        began = self.memory.clock.now()
        try:
            answer = await handler(request)
        except GraphBubbleUp:
            raise
        except asyncio.CancelledError as error:  # given up from outside: how the task ended is not known by that
            self._times.note([request.tool_call["id"]], began, self.memory.clock.now())
            await self._atake_in([*request.state["messages"], _failure(request, error)], recollection_in(request.state))
            raise
        except Exception as error:
            self._times.note([request.tool_call["id"]], began, self.memory.clock.now())
            await self._atake_in([*request.state["messages"], _failure(request, error)], recollection_in(request.state))
            await self._aclose(Told(success=False, feedback="", error=_told(error)))
            raise
        self._times.note([request.tool_call["id"]], began, self.memory.clock.now())
        return answer

    # --- outcome after the agent -----------------------------------------------------------------------------------------

    def after_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's signature
        """Take in the answer, and how the exchange ended where that is told."""
        self._take_in(state["messages"], recollection_in(state))
        self._close(self._ending(state))
        return None

    async def aafter_agent(self, state: MemoryAgentState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's signature
        """As `after_agent`."""
        await self._atake_in(state["messages"], recollection_in(state))
        await self._aclose(self._ending(state))
        return None

    def _take_in(self, messages: Sequence[AnyMessage], found: Recollection | None) -> None:
        self.memory.annotate(self._exchange(messages), scope=scope_of(), recollection=found)

    async def _atake_in(self, messages: Sequence[AnyMessage], found: Recollection | None) -> None:
        await self.memory.aannotate(self._exchange(messages), scope=scope_of(), recollection=found)

    def _ending(self, state: MemoryAgentState) -> Told | None:
        if self._judge is None:
            return told_outcome(state)
        return Told(success=self._judge(cast("Mapping[str, Any]", state)), feedback="", error="")

    def _close(self, told: Told | None) -> None:
        if told is None or told["success"] is None:
            return
        try:
            self.memory.outcome(scope=scope_of(), **told)
        except StoreError:  # the outage was warned of
            if self.memory.config.on_error == "raise":
                raise

    async def _aclose(self, told: Told | None) -> None:
        if told is None or told["success"] is None:
            return
        try:
            await self.memory.aoutcome(scope=scope_of(), **told)
        except StoreError:
            if self.memory.config.on_error == "raise":
                raise

    def _exchange(self, messages: Sequence[AnyMessage]) -> list[Turn]:
        now = self.memory.clock.now()
        turns = self._times.tell(read_turns(messages, at=now), messages)
        return [*given_up(messages, at=now), *latest_exchange(turns)]


def _ids(turns: list[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def _failure(request: ToolCallRequest, error: BaseException) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(_told(error), tool_call_id=call["id"] or "", name=call["name"], status="error")


def _told(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "CancelledError: cancelled before it answered"
    return f"{type(error).__name__}: {error}"
