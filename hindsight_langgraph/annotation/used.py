"""Was a memory used? Told by citation, or by what the steps share with it: names, numbers, words, meaning (SPEC E2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_langgraph.annotation.marks import marks, shared, values, words
from hindsight_langgraph.annotation.trajectory import Step, StepKind
from hindsight_langgraph.annotation.verdict import Given, Use

CLOSE: Final = 0.8
"""Similarity (0 for unrelated texts, see `similarity.py`) from which an answer means what a memory says.

High: unrelated short Chinese texts reach 0.67 in the local model; at 0.55 it makes seven of nineteen labelled memories wrong."""
_CITED: Final = re.compile(
    r"\b(?:as|the) remembered\b|\bfrom memory\b|\bstored (?:preference|note|fact)\b|按?记(?:住|得|忆)|记忆", re.IGNORECASE
)


_DEFINES: Final = re.compile(r"\b(?:is|are) (?:an?|the|our|my|called|named)\b|是一|就是|指的是|叫做")
"""Says what something is: that bears on work with it, even where the request names it too."""


def use_of(
    memory: Given,
    steps: Sequence[Step],
    *,
    goal: str,
    others: Sequence[Given] = (),
    likeness: Mapping[int, float] | None = None,
) -> Use:
    """Whether `memory` was used in `steps`, with the reason.

    Args:
        memory: what the task was given.
        steps: what was done, in order.
        goal: the user's request; what a step shares with it anyway shows no use of a memory.
        others: the memories given beside it: one that shares all that this one shares with a step, and more, is what the step rests on.
        likeness: by place, how alike memory and step are in meaning, from 0 to 1, where an embedding model is at hand.
    """
    cited = tuple(i for i, step in enumerate(steps) if f"[{memory.id}]" in step.content or f"memory:{memory.id}" in step.content)
    if cited:
        return Use(used=True, reason="cited by its id", steps=cited, decisive=True)
    told = marks(memory.content) - marks(goal)
    earlier: frozenset[str] = frozenset()
    found: dict[int, str] = {}
    decisive = named = False
    answered: frozenset[str] = frozenset()
    asked = words(goal) | marks(goal)
    for i, step in enumerate(steps):
        if step.kind is StepKind.GOAL:
            earlier |= marks(step.content)
            continue
        text = _done(step)
        if only_here := (told - earlier) & marks(text):
            found[i] = f"carries {_listed(only_here)}"
            named = named or step.kind is StepKind.TOOL
            decisive = decisive or named
        elif step.kind is not StepKind.MESSAGE and (
            common := shared(memory.content, text) - (frozenset() if _DEFINES.search(memory.content) else asked)
        ):
            if any(common < shared(other.content, text) for other in others):
                continue
            cites = step.kind is StepKind.PLAN and bool(_CITED.search(step.content))
            found[i] = f"{'cites memory and ' if cites else ''}shares {_listed(common)}"
            decisive = decisive or cites or bool(common & _argument_words(step) - asked - answered)
        elif step.kind is StepKind.MESSAGE and (common := words(memory.content) & (words(text) - words(goal))):
            if len(common) >= 2:
                found[i] = f"says {_listed(common)}"
        elif likeness and likeness.get(i, 0.0) >= CLOSE:
            found[i] = f"means the same ({likeness[i]:.2f})"
        if step.kind is StepKind.TOOL:
            earlier |= marks(step.content)
            answered |= words(step.content)
    if not found:
        return Use(used=False, reason="no step shares a name, a number or words with it")
    first = min(found)
    return Use(used=True, reason=f"step {first + 1} {found[first]}", steps=tuple(found), decisive=decisive, named=named)


def _done(step: Step) -> str:
    """What the agent itself put into a step: its words, or the call it made; never what the tool answered."""
    return f"{step.tool or ''}\n" + "\n".join(values(step.arguments)) if step.kind is StepKind.TOOL else step.content


def _argument_words(step: Step) -> frozenset[str]:
    return words("\n".join(values(step.arguments))) if step.kind is StepKind.TOOL else frozenset()


def _listed(items: frozenset[str]) -> str:
    return ", ".join(sorted(items, key=lambda item: (-len(item), item))[:3])
