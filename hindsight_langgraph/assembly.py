"""Builds a memory from its settings: which store, which model, and who closes what."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hindsight_langgraph.clock import SystemClock
from hindsight_langgraph.config import HindsightConfig, WriteConfig
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.encoding.model_extractor import ModelExtractor
from hindsight_langgraph.encoding.redact import SecretRedactor
from hindsight_langgraph.encoding.write import WritingTools
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.feedback import FeedbackSender
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.models.embedders import CachedEmbedder, LangChainEmbedder, embedder_from_config
from hindsight_langgraph.ports import Clock, Embedder, LongTermStore, StructuredChat, TokenCounter, WorkingStore
from hindsight_langgraph.recall.pipeline import RecallTools, tools_for
from hindsight_langgraph.recall.route import RouteHead
from hindsight_langgraph.recall.tokens import estimate_tokens
from hindsight_langgraph.records import EmbeddingSpace
from hindsight_langgraph.runtime import Runtime
from hindsight_langgraph.training.deployment import Shelves

if TYPE_CHECKING:
    from hindsight_langgraph.checkpointers import HindsightSaver


@dataclass(kw_only=True, slots=True)
class Parts:
    """The opened parts of one memory."""

    runtime: Runtime
    settings: FlowSettings
    feedback: FeedbackSender
    _saver: HindsightSaver | None = field(default=None)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def checkpointer(self) -> HindsightSaver:
        """The saver on the working store's engine, made at the first call."""
        from hindsight_langgraph.checkpointers.platform import saver_from

        with self._lock:  # two threads that ask first would make two, and close one
            if self._saver is None:
                self._saver = saver_from(self.settings.config)
            return self._saver

    def close(self) -> None:
        """End background work, then release every store."""
        if self.runtime.closed:
            return
        self.runtime.close_background(self.settings.config.timeout_s)
        self.feedback.settle(self.settings.config.timeout_s)
        self.runtime.closed = True
        self.runtime.long_term.close()
        self.runtime.working.close()
        if self._saver is not None:
            self._saver.close()

    async def aclose(self) -> None:
        """As `close`, for clients bound to the running loop."""
        if self.runtime.closed:
            return
        await self.runtime.writer.asettle(None, self.settings.config.timeout_s)
        await self.runtime.annotator.asettle(None, self.settings.config.timeout_s)
        await self.runtime.idler.asettle(None, self.settings.config.timeout_s)
        await asyncio.to_thread(self.feedback.settle, self.settings.config.timeout_s)
        self.runtime.close_background(0.0)
        self.runtime.closed = True
        await self.runtime.long_term.aclose()
        await self.runtime.working.aclose()
        if self._saver is not None:
            await self._saver.aclose()


def assemble(
    config: HindsightConfig,
    *,
    embeddings: Any,
    chat_model: Any,
    clock: Clock | None,
    token_counter: TokenCounter | None,
    router: RouteHead | None = None,
) -> Parts:
    """Open the stores and models that the settings name."""
    time = clock or SystemClock()
    counter = token_counter or estimate_tokens
    embedder = _embedder(config, embeddings)
    shelves = Shelves.under(config.path)
    chat = _chat(config, chat_model)
    runtime = Runtime(
        working=_working_store(config, time),
        long_term=_long_term_store(config, embedder.space),
        embedder=embedder,
        chat=chat,
        clock=time,
        retry_after_s=config.retry_after_s,
    )
    settings = FlowSettings(
        config=config,
        writing=_writing_tools(config, space=embedder.space, chat=chat is not None),
        recalling=replace(
            _recall_tools(config, space=embedder.space, counter=counter, chat=chat is not None, router=router),
            adapter=shelves.adapters.load(embedder.space),
            learned=shelves.rankers.load(),
        ),
        counter=counter,
        space=embedder.space,
        chat=chat is not None,
    )
    feedback = FeedbackSender()
    runtime.listeners.append(feedback.on_event)
    return Parts(runtime=runtime, settings=settings, feedback=feedback)


def _recall_tools(
    config: HindsightConfig, *, space: EmbeddingSpace, counter: TokenCounter, chat: bool, router: RouteHead | None
) -> RecallTools:
    tools = tools_for(space, counter=counter, directory=config.path)
    return replace(tools, chat=chat, head=router or tools.head)


def _writing_tools(config: HindsightConfig, *, space: EmbeddingSpace, chat: bool) -> WritingTools:
    redactor = SecretRedactor()
    return WritingTools(
        heads=load_heads(space, directory=config.path),  # pyright: ignore[reportArgumentType]: a frozen record is hashable
        aliases=AliasTable(),
        redactor=redactor,
        space=space,
        extractor=_extractor(config.write, redactor) if chat else None,
    )


def _extractor(config: WriteConfig, redactor: SecretRedactor) -> ModelExtractor:
    return ModelExtractor(redactor=redactor, max_turn_chars=config.max_turn_chars, max_tokens=config.answer_tokens)


def _embedder(config: HindsightConfig, embeddings: Any) -> Embedder:
    if embeddings is None:
        return embedder_from_config(config)
    if isinstance(embeddings, str):
        return embedder_from_config(config.model_copy(update={"embeddings": embeddings}))
    if hasattr(embeddings, "embed_documents") and hasattr(embeddings, "embed_query"):
        return CachedEmbedder(LangChainEmbedder(embeddings))
    if hasattr(embeddings, "embed") and hasattr(embeddings, "space"):
        port: Embedder = embeddings
        return port
    raise ConfigError(
        f"embeddings is a {type(embeddings).__name__}; pass a LangChain Embeddings, an embedder, or a spec such as 'local'"
    )


def _chat(config: HindsightConfig, chat_model: Any) -> StructuredChat | None:
    model = config.chat_model if chat_model is None else chat_model
    if model is None:
        return None
    from hindsight_langgraph.models.chat import LangChainChat, chat_from_spec

    if isinstance(model, str):
        return chat_from_spec(model, config, timeout_s=config.chat_timeout_s, max_concurrency=config.chat_concurrency)
    if hasattr(model, "complete") and hasattr(model, "acomplete"):
        port: StructuredChat = model
        return port
    if hasattr(model, "invoke") and hasattr(model, "ainvoke"):
        return LangChainChat(model, timeout_s=config.chat_timeout_s, max_concurrency=config.chat_concurrency)
    raise ConfigError(
        f"chat_model is a {type(model).__name__}; pass a LangChain chat model or a spec such as 'openai:gpt-4.1-mini'"
    )


def _working_store(config: HindsightConfig, clock: Clock) -> WorkingStore:
    if config.redis_url:
        from hindsight_langgraph.backends.redis_store import RedisWorkingStore

        return RedisWorkingStore(
            config.redis_url, prefix=config.prefix, timeout_s=config.timeout_s / 2, cluster=config.redis_cluster
        )
    from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore

    return SqliteWorkingStore(config.path / "working.sqlite", timeout_s=config.timeout_s / 2, clock=clock)


def _long_term_store(config: HindsightConfig, space: EmbeddingSpace) -> LongTermStore:
    if config.qdrant_url:
        from hindsight_langgraph.backends.qdrant_server import QdrantLongTermStore

        return QdrantLongTermStore(
            config.qdrant_url, space, api_key=config.qdrant_api_key, prefix=config.prefix, timeout_s=config.timeout_s / 2
        )
    from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore

    return EdgeLongTermStore(config.path / "units", space, durable=config.durable)
