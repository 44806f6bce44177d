"""Use any LangChain chat model as the small model of the memory: implements `ports.StructuredChat`."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from weakref import WeakKeyDictionary

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import ConfigError, ModelUnavailable
from hindsight_langgraph.ops import Answer, Complete

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.runnables import Runnable, RunnableConfig

Way = Literal["json_schema", "json_object", "tool", "plain"]
"""How a model is held to JSON: by its own schema mode, its JSON mode, a tool call, or words alone."""

_RUN: Final[Mapping[str, Any]] = {"run_name": "hindsight_chat", "tags": ["hindsight", "nostream"]}
"""`nostream` keeps the memory's own model calls out of a graph's message stream."""
_CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})


class LangChainChat:
    """A chat model behind the memory's port, with a concurrency limit of its own.

    A model that refuses one way of holding it to JSON is asked the next simpler way, and the first way that worked is kept for that
    schema.
    """

    def __init__(self, model: BaseChatModel, *, max_concurrency: int = 4, timeout_s: float = 60.0) -> None:
        if max_concurrency < 1:
            raise ConfigError(f"max_concurrency is {max_concurrency}; it must be at least 1")
        self._model = model
        self._timeout_s = timeout_s
        self._ways = _ways(model)
        self._ways_by_schema: dict[str, tuple[Way, ...]] = {}
        self._max_concurrency = max_concurrency
        self._slots = threading.Semaphore(max_concurrency)
        self._loop_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        """The model's name, for logs and traces."""
        for field in ("model_name", "model"):
            value = getattr(self._model, field, None)
            if isinstance(value, str) and value:
                return value
        return type(self._model).__name__

    def complete(self, op: Complete) -> Answer:
        """Answer one request, blocking. Raises `ModelUnavailable`."""
        with self._slots:
            return self._complete(op)

    def _complete(self, op: Complete) -> Answer:
        ways = self._ways_for(op)
        for way in ways:
            try:
                said = self._bound(op, way).invoke(_messages(op), config=_config())
            except Exception as error:
                cut = _cut_answer(error)
                if cut is not None:
                    return cut
                if way is ways[-1] or not _refuses_the_way(error):
                    raise self._unavailable(error) from error
            else:
                self._worked(way, op)
                return _answer(said)
        raise AssertionError("the last way answers or raises")

    async def acomplete(self, op: Complete) -> Answer:
        """As `complete`, on the running loop; an answer that takes longer than the timeout is given up."""
        slots = self._loop_slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._max_concurrency))
        async with slots:
            return await self._acomplete(op)

    async def _acomplete(self, op: Complete) -> Answer:
        ways = self._ways_for(op)
        for way in ways:
            try:
                async with asyncio.timeout(self._timeout_s):
                    said = await self._bound(op, way).ainvoke(_messages(op), config=_config())
            except Exception as error:
                cut = _cut_answer(error)
                if cut is not None:
                    return cut
                if way is ways[-1] or not _refuses_the_way(error):
                    raise self._unavailable(error) from error
            else:
                self._worked(way, op)
                return _answer(said)
        raise AssertionError("the last way answers or raises")

    def _ways_for(self, op: Complete) -> tuple[Way, ...]:
        return self._ways_by_schema.get(_schema_name(op), self._ways) if op.schema else ("plain",)

    def _worked(self, way: Way, op: Complete) -> None:
        if op.schema:
            self._ways_by_schema[_schema_name(op)] = self._ways[self._ways.index(way) :]

    def _bound(self, op: Complete, way: Way) -> Runnable[LanguageModelInput, Any]:
        if way == "tool":
            return self._model.with_structured_output(dict(op.schema), include_raw=True)
        settings: dict[str, Any] = {"max_tokens": op.max_tokens} if _speaks_openai(self._model) else {}
        if settings and op.temperature is not None and getattr(self._model, "temperature", None) is not None:
            settings["temperature"] = op.temperature  # a model that takes none has none
        if way == "json_schema":
            named = {"name": _schema_name(op), "schema": dict(op.schema), "strict": True}
            settings["response_format"] = {"type": "json_schema", "json_schema": named}
        elif way == "json_object":
            settings["response_format"] = {"type": "json_object"}
        return self._model.bind(**settings) if settings else self._model

    def _unavailable(self, error: Exception) -> ModelUnavailable:
        """Without the provider's own words: they may repeat the prompt or a key."""
        status = getattr(error, "status_code", None)
        code = f", HTTP {status}" if isinstance(status, int) else ""
        advice = "check the API key" if status in {401, 403} else "try again later"
        return ModelUnavailable(f"the chat model {self.name!r} did not answer ({type(error).__name__}{code}); {advice}")


def _config() -> RunnableConfig:
    config: RunnableConfig = {"run_name": _RUN["run_name"], "tags": list(_RUN["tags"])}
    return config


def _schema_name(op: Complete) -> str:
    return str(op.schema.get("title", "answer"))


def _speaks_openai(model: BaseChatModel) -> bool:
    return hasattr(model, "openai_api_base")


def _ways(model: BaseChatModel) -> tuple[Way, ...]:
    return ("json_schema", "json_object", "plain") if _speaks_openai(model) else ("tool", "plain")


def _refuses_the_way(error: Exception) -> bool:
    """A request that the server calls malformed, or a model class that has no such setting."""
    return getattr(error, "status_code", None) in {400, 404, 422} or isinstance(
        error, TypeError | NotImplementedError | ValueError
    )


def _cut_answer(error: Exception) -> Answer | None:
    """The answer inside the error that the OpenAI client raises instead of returning one that reached its limit."""
    choices = getattr(getattr(error, "completion", None), "choices", None)
    if not choices:
        return None
    return Answer(text=str(choices[0].message.content or ""), finish_reason=str(choices[0].finish_reason))


def _messages(op: Complete) -> list[tuple[str, str]]:
    return [({"user": "human", "assistant": "ai"}.get(message.role, message.role), message.text) for message in op.messages]


def _answer(said: object) -> Answer:
    if isinstance(said, dict):  # a tool call: the parsed arguments stand for the text
        call = cast("dict[str, Any]", said)
        raw = _answer(call.get("raw"))
        parsed = call.get("parsed")
        return raw if parsed is None else replace(raw, text=json.dumps(parsed, ensure_ascii=False))
    if said is None:
        return Answer(text="")
    content = getattr(said, "content", said)
    extra: Mapping[str, Any] = getattr(said, "additional_kwargs", None) or {}
    metadata: Mapping[str, Any] = getattr(said, "response_metadata", None) or {}
    reason = str(metadata.get("finish_reason") or metadata.get("stop_reason") or metadata.get("done_reason") or "")
    return Answer(
        text=_blocks(content, "text", "output_text"),
        finish_reason="length" if reason in _CUT else reason,
        reasoning=str(extra.get("reasoning_content") or _blocks(content, "reasoning", "thinking", string=False)),
    )


def _blocks(content: object, *types: str, string: bool = True) -> str:
    """The text of a message's content: a string, or a list of blocks of which those of the given types count."""
    if isinstance(content, str):
        return content if string else ""
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for block in cast("list[object]", content):
        if isinstance(block, str):
            parts.append(block if string else "")
        elif isinstance(block, dict):
            fields = cast("dict[str, object]", block)
            if fields.get("type") in types:
                parts.append(str(fields.get("text") or fields.get("reasoning") or fields.get("thinking") or ""))
    return "".join(parts)


def chat_from_spec(spec: str, config: HindsightConfig, *, timeout_s: float = 60.0, max_concurrency: int = 4) -> LangChainChat:
    """The small chat model for memory work that a setting names, behind the memory's port; raises as `openai_chat_model`."""
    return LangChainChat(
        openai_chat_model(spec, config, timeout_s=timeout_s), max_concurrency=max_concurrency, timeout_s=timeout_s
    )


def openai_chat_model(spec: str, config: HindsightConfig, *, timeout_s: float = 60.0) -> BaseChatModel:
    """The chat model that a setting such as "openai:gpt-5-mini" names; any other model can be given as an object instead.

    Raises:
        ConfigError: the provider is unknown, the model has no name, or there is no API key.
    """
    provider, _, name = spec.partition(":")
    if provider != "openai" or not name:
        raise ConfigError(
            f"chat model {spec!r} is not of the form 'openai:MODEL'; for another provider pass LangChainChat(model)"
        )
    from langchain_openai import ChatOpenAI
    from openai import OpenAIError
    from pydantic import SecretStr

    key = SecretStr(config.openai_api_key) if config.openai_api_key else None
    try:
        return ChatOpenAI(
            model=name, api_key=key, base_url=config.openai_base_url, timeout=timeout_s, max_retries=1, temperature=0
        )
    except OpenAIError as error:
        raise ConfigError(f"chat model {spec!r} needs an API key: set OPENAI_API_KEY or HINDSIGHT_OPENAI_API_KEY") from error
