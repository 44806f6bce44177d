"""Requests to models: embedding texts, asking the small chat model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from hindsight_langgraph.plan import Op

Reply = TypeVar("Reply")


class ModelOp(Op[Reply], Generic[Reply]):
    """A request to a model."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Embed(ModelOp[list[tuple[float, ...]]]):
    """Embed texts; reply: one unit-length vector a text, as long as the space's dimension. Blank texts are a caller's fault."""

    texts: tuple[str, ...]
    purpose: Literal["query", "document"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message to the small chat model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a chat model said, as it said it."""

    text: str
    finish_reason: str = ""
    reasoning: str = ""
    """Text from a separate reasoning field, where the provider has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Complete(ModelOp[Answer]):
    """Ask the small chat model; `schema` is a JSON schema for models that can constrain their output."""

    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, object] = field(default_factory=dict[str, object])
    max_tokens: int = 800
    temperature: float | None = None
    """How freely it answers, for a model that can be told; None leaves it as the model was made."""
