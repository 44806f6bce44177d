"""How alike memories and steps are in meaning, asked of the embedding model in one request (SPEC E2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.verdict import Case
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.ops import Embed
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import EmbeddingSpace
from hindsight_langgraph.similarity import similarity

MOST_STEPS: Final = 24
"""Plans and messages that are compared: the last ones, where answers stand."""
_TEXT_CHARS: Final = 600


def likeness_of_steps(case: Case, *, space: EmbeddingSpace) -> Plan[Mapping[str, Mapping[int, float]]]:
    """By memory id and place, how alike a memory is to what the agent said there; nothing while the model is down."""
    places = [i for i, step in enumerate(case.steps) if step.kind in (StepKind.PLAN, StepKind.MESSAGE) and step.content.strip()][
        -MOST_STEPS:
    ]
    memories = [memory for memory in case.memories if memory.content.strip()]
    if not places or not memories:
        return {}
    texts = [memory.content for memory in memories] + [case.steps[i].content for i in places]
    try:
        vectors = yield from ask(Embed(texts=tuple(text[:_TEXT_CHARS] for text in texts), purpose="document"))
    except ModelError:
        return {}
    said = dict(zip(places, vectors[len(memories) :], strict=True))
    return {
        memory.id: {i: similarity(sum(a * b for a, b in zip(vector, other, strict=True)), space) for i, other in said.items()}
        for memory, vector in zip(memories, vectors, strict=False)
    }
