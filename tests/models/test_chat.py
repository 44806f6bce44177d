"""LangChain chat models behind the memory's port, over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.encoding.model_extractor import ModelExtractor
from hindsight_langgraph.encoding.redact import SecretRedactor
from hindsight_langgraph.errors import ConfigError, ModelUnavailable
from hindsight_langgraph.models.chat import LangChainChat, chat_from_spec
from hindsight_langgraph.ops import Answer, ChatMessage, Complete
from hindsight_langgraph.plan import Op, drive
from hindsight_langgraph.records import Role, Scope, Turn
from tests.local_http import JsonRequests, listening
from tests.servers import PATIENCE_S

SCHEMA = {
    "title": "memories",
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
OP = Complete(
    messages=(ChatMessage(role="system", text="Be brief."), ChatMessage(role="user", text="Hello")), schema=SCHEMA, max_tokens=64
)


class StandIn:
    """A small server of /v1/chat/completions that answers by a function of the request body."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.most_at_once = 0
        self.fewest_at_once = 0
        """An answer waits until so many were asked for at once."""
        self.delay_s = 0.0
        self.content: str | None = '{"facts": []}'
        self.finish_reason = "stop"
        self.refused: set[str] = set()
        self.status = 200
        self._at_once = 0
        self._lock = threading.Condition()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with self._lock:
            self.bodies.append(body)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            self._lock.notify_all()
            self._lock.wait_for(lambda: self.most_at_once >= self.fewest_at_once, PATIENCE_S)
        time.sleep(self.delay_s)
        with self._lock:
            self._at_once -= 1
        kind = body.get("response_format", {}).get("type", "text")
        if kind in self.refused:
            return 400, {
                "error": {
                    "message": f"response_format {kind} is not supported; you sent {body['messages']}",
                    "type": "invalid_request_error",
                }
            }
        if self.status != 200:
            return self.status, {"error": {"message": "no", "type": "server_error"}}
        message = {"role": "assistant", "content": self.content}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return 200, {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "stand-in",
            "choices": [choice],
            "usage": usage,
        }


@pytest.fixture
def stand_in() -> Iterator[tuple[StandIn, str]]:
    state = StandIn()

    class Handler(JsonRequests):
        def respond(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, value = state.answer(body)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.reply(status, json.dumps(value).encode())

    with listening(Handler) as url:
        yield state, f"{url}/v1"


def _chat(url: str, **settings: Any) -> LangChainChat:
    config = HindsightConfig(openai_api_key="sk-test", openai_base_url=url)
    return chat_from_spec("openai:gpt-tiny", config, **settings)


def test_an_answer_comes_back_with_its_finish_reason(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    server.finish_reason = "length"
    answer = _chat(url).complete(OP)
    assert (answer.text, answer.finish_reason) == ('{"facts": []}', "length")


def test_a_schema_that_is_refused_costs_no_other_schema_its_way(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    chat, other = _chat(url), {**SCHEMA, "title": "judgements"}
    server.refused = {"json_schema"}
    chat.complete(replace(OP, schema=other))
    server.refused = set()
    for schema in (other, SCHEMA):
        chat.complete(replace(OP, schema=schema))
    assert [body["response_format"]["type"] for body in server.bodies[-2:]] == ["json_object", "json_schema"]


def test_a_request_may_ask_for_freer_answers_of_a_model_that_takes_a_temperature(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    chat = _chat(url)
    for temperature in (None, 0.7):
        chat.complete(replace(OP, temperature=temperature))
    config = HindsightConfig(openai_api_key="sk-test", openai_base_url=url)
    chat_from_spec("openai:gpt-5-mini", config).complete(replace(OP, temperature=0.7))  # takes none
    assert [body.get("temperature") for body in server.bodies] == [0, 0.7, None]


async def test_the_async_twin_answers_alike(stand_in: tuple[StandIn, str]) -> None:
    _, url = stand_in
    chat = _chat(url)
    assert (await chat.acomplete(OP)).text == '{"facts": []}'
    assert chat.name == "gpt-tiny"


def test_the_request_holds_the_schema_the_limit_and_the_roles(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    _chat(url).complete(OP)
    (body,) = server.bodies
    assert body["response_format"]["json_schema"] == {"name": "memories", "schema": SCHEMA, "strict": True}
    assert 64 in {body.get("max_tokens"), body.get("max_completion_tokens")}
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_without_a_schema_the_model_is_free(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    _chat(url).complete(Complete(messages=OP.messages))
    assert "response_format" not in server.bodies[0]


@pytest.mark.parametrize(("refused", "used"), [({"json_schema"}, "json_object"), ({"json_schema", "json_object"}, "text")])
def test_a_server_without_a_json_mode_is_asked_the_next_simpler_way_and_it_is_kept(
    stand_in: tuple[StandIn, str], refused: set[str], used: str
) -> None:
    server, url = stand_in
    server.refused = refused
    chat = _chat(url)
    assert chat.complete(OP).text == '{"facts": []}'
    before = len(server.bodies)
    chat.complete(OP)
    assert [body.get("response_format", {}).get("type", "text") for body in server.bodies[before:]] == [used]


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_provider_error_is_unavailable_and_leaks_no_words_of_it(stand_in: tuple[StandIn, str], status: int) -> None:
    server, url = stand_in
    server.status = status
    with pytest.raises(ModelUnavailable, match=str(status)) as caught:
        _chat(url).complete(OP)
    assert "Hello" not in str(caught.value)


async def test_a_model_that_is_too_slow_is_unavailable(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    server.delay_s = 1.0
    with pytest.raises(ModelUnavailable, match="gpt-tiny"):
        await _chat(url, timeout_s=0.1).acomplete(OP)


def test_a_model_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable, match="try again later"):
        _chat("http://127.0.0.1:9/v1").complete(OP)


async def test_no_more_calls_than_allowed_run_at_once(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    server.delay_s, server.fewest_at_once = 0.05, 2
    chat = _chat(url, max_concurrency=2)
    await asyncio.gather(*(chat.acomplete(OP) for _ in range(6)))
    assert (len(server.bodies), server.most_at_once) == (6, 2)


def test_one_chat_serves_two_event_loops(stand_in: tuple[StandIn, str]) -> None:
    _, url = stand_in
    chat = _chat(url, max_concurrency=1)

    async def both() -> int:
        return len(await asyncio.gather(chat.acomplete(OP), chat.acomplete(OP)))

    assert [asyncio.run(both()), asyncio.run(both())] == [2, 2]


def test_an_empty_content_is_an_empty_answer(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    server.content = None
    assert _chat(url).complete(OP).text == ""


def test_the_extractor_works_end_to_end_over_the_socket(stand_in: tuple[StandIn, str]) -> None:
    server, url = stand_in
    server.content = json.dumps({"facts": [{"subject": "user", "attribute": "pet", "value": "dog", "source": [0]}]})
    turn = Turn(id="t0", role=Role.USER, text="I have a dog")
    plan = ModelExtractor(redactor=SecretRedactor()).extract([turn], context=[], scope=Scope(user_id="u1"))
    chat = _chat(url)

    def answer(op: Op[Any]) -> Answer:
        assert isinstance(op, Complete)
        return chat.complete(op)

    assert [s.content for s in drive(plan, answer).statements] == ["user pet: dog"]


class Said(BaseChatModel):
    """A chat model of another provider: no tools, no response format."""

    message: AIMessage

    @property
    def _llm_type(self) -> str:
        return "said"

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        if kwargs:
            raise TypeError(f"unexpected {sorted(kwargs)}")
        return ChatResult(generations=[ChatGeneration(message=self.message)])


def test_a_model_of_another_provider_is_asked_in_words() -> None:
    chat = LangChainChat(Said(message=AIMessage(content='{"facts": []}')))
    assert (chat.complete(OP).text, chat.name) == ('{"facts": []}', "Said")


def test_blocks_and_reasoning_are_read_apart() -> None:
    blocks: list[Any] = [
        {"type": "thinking", "thinking": "a dog?"},
        {"type": "text", "text": '{"facts"'},
        {"type": "text", "text": ": []}"},
    ]
    message = AIMessage(content=blocks, response_metadata={"stop_reason": "max_tokens"})
    answer = LangChainChat(Said(message=message)).complete(OP)
    assert (answer.text, answer.reasoning, answer.finish_reason) == ('{"facts": []}', "a dog?", "length")


def test_a_separate_reasoning_field_is_read() -> None:
    message = AIMessage(content="", additional_kwargs={"reasoning_content": '{"facts": []}'})
    answer = LangChainChat(Said(message=message)).complete(OP)
    assert (answer.text, answer.reasoning) == ("", '{"facts": []}')


class Tooled(Said):
    """A chat model that answers by a tool call."""

    parsed: Any = None

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        from langchain_core.runnables import RunnableLambda

        return RunnableLambda(lambda _: {"raw": self.message, "parsed": self.parsed, "parsing_error": None})


def test_a_tool_call_stands_for_the_text() -> None:
    chat = LangChainChat(Tooled(message=AIMessage(content=""), parsed={"facts": ["爱喝茶"]}))
    assert json.loads(chat.complete(OP).text) == {"facts": ["爱喝茶"]}


def test_a_structured_call_that_returns_nothing_is_an_empty_answer() -> None:
    assert LangChainChat(Tooled(message=AIMessage(content=""))).complete(OP).text == ""


@pytest.mark.parametrize("spec", ["gpt-5", "openai:", "acme:model", ""])
def test_a_setting_that_names_no_model_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError, match="openai:MODEL"):
        chat_from_spec(spec, HindsightConfig())


def test_a_missing_key_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        chat_from_spec("openai:gpt-tiny", HindsightConfig())


def test_no_room_for_calls_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_concurrency"):
        LangChainChat(Said(message=AIMessage(content="")), max_concurrency=0)
