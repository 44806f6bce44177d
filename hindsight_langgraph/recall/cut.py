"""Decide how many of the ranked candidates are recalled (SPEC D6, D8, D12)."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_langgraph import lexical
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.filter import Kept
from hindsight_langgraph.recall.recollection import Dropped, Stage, Standing
from hindsight_langgraph.records import CausalRole

SAME_TEXT = 0.9
"""Share of common terms from which two units say the same."""


def cut_rank(scores: Sequence[float], config: RecallConfig) -> int:
    """How many of the sorted scores stay: at most `cut_max`; up to the first wide gap, one past the first slight gap, else the default."""
    top = min(len(scores), config.cut_max)
    for rank in range(1, top):
        gap = scores[rank - 1] - scores[rank]
        if gap > config.cut_gap:
            return rank
        if gap > config.cut_soft_gap:
            return min(rank + 1, top)
    return min(config.cut_default, top)


def select(
    kept: Sequence[Kept], config: RecallConfig, *, limit: int, background: bool = False
) -> tuple[list[Kept], list[Dropped]]:
    """The `limit` best that do not repeat each other, up to the dynamic cut, in layers; the rest with the reason.

    `background` says that the question asks for what lies behind something.
    """
    varied, repeats, rest = _varied(kept, most=max(limit, config.cut_max))
    stay = min(cut_rank([k.scored.score for k in varied], config) if config.dynamic_cut else len(varied), limit)
    below = [dropped(k, Stage.CUT, f"below the cut at {stay}") for k in (*varied[stay:], *rest)]
    chosen, behind = _layered(varied[:stay], slack=config.cut_soft_gap, background=background)
    return chosen, [*repeats, *behind, *below]


def _layered(chosen: Sequence[Kept], *, slack: float, background: bool) -> tuple[list[Kept], list[Dropped]]:
    """Direct causes first, context only when background is asked for (SPEC D8).

    A role was earned in another task: it moves a unit among those that fit the question about as well as the best one, and what proved
    to be mere context stays where it does.
    """
    best = max((k.scored.score for k in chosen), default=0.0)
    close = [k for k in chosen if k.scored.score >= best - slack]
    first = [k for k in close if k.unit.role is CausalRole.DIRECT_CAUSE]
    behind = [k for k in chosen if k.unit.role is CausalRole.CONTEXT and k not in close and not background]
    others = [k for k in chosen if k not in first and k not in behind]
    return [*first, *others], [dropped(k, Stage.CUT, "context, and no background is asked for") for k in behind]


def _varied(kept: Sequence[Kept], *, most: int) -> tuple[list[Kept], list[Dropped], Sequence[Kept]]:
    """The first `most` that say different things, those that repeat one of them, and what was not looked at."""
    varied: list[Kept] = []
    repeats: list[Dropped] = []
    seen: list[tuple[frozenset[str], Standing]] = []
    for place, candidate in enumerate(kept):
        if len(varied) == most:
            return varied, repeats, kept[place:]
        words = lexical.distinct_terms(candidate.unit.content)
        if any(standing is candidate.standing and _overlap(words, other) >= SAME_TEXT for other, standing in seen):
            repeats.append(dropped(candidate, Stage.REPEAT, "says the same as a better one"))
        else:
            varied.append(candidate)
            seen.append((words, candidate.standing))
    return varied, repeats, ()


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def dropped(candidate: Kept, stage: Stage, reason: str) -> Dropped:
    """The record of a candidate that is not recalled."""
    scored = candidate.scored
    return Dropped(unit=scored.candidate.unit, score=scored.score, terms=scored.terms, stage=stage, reason=reason)
