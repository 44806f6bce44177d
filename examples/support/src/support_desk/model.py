"""The chat model: OpenAI or any compatible server by environment, or none at all."""

from __future__ import annotations

import os

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

from hindsight_langgraph.models.offline import OfflineChatModel


def chat_model() -> BaseChatModel:
    """The model that `MODEL` names, with `OPENAI_API_KEY` and `OPENAI_BASE_URL`; offline without it."""
    name = os.environ.get("MODEL")
    return ChatOpenAI(model=name) if name else OfflineChatModel()
