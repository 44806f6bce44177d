"""What a retriever can learn from judged tasks: a query, what helped, what did not (SPEC E6)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Final

from hindsight_langgraph.annotation.report import AnnotationReport
from hindsight_langgraph.annotation.verdict import Effect, Judgement, unit_of
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.records import CausalRole, MemoryUnit, Record, Region

NEGATIVES: Final = 8
"""Negatives of one example."""
HARD_SHARE: Final = 0.4
"""SPEC E6: 30 to 45 % of the negatives are hard ones, similar but without effect. The rest are random."""


class Example(Record):
    """One query with the text of a unit that helped, and of units that did not."""

    query: str
    positive: str
    region: Region = Region.SEMANTIC
    """Where the unit that helped lies."""
    hard_negatives: tuple[str, ...] = ()
    """Recalled for it, and without effect or misleading."""
    random_negatives: tuple[str, ...] = ()
    domain: str | None = None
    case: str = ""
    """The task that it comes from."""


def examples_of(reports: Sequence[AnnotationReport], units: Mapping[str, MemoryUnit], *, seed: int) -> list[Example]:
    """The examples of judged tasks: one for each memory that was used and helped, or that was missed.

    Args:
        reports: of one owner.
        units: the owner's units by id; what was forgotten since teaches nothing.
        seed: draws the random negatives.
    """
    rng = random.Random(seed)  # noqa: S311 - a sample, no secret
    everything = sorted(units)
    similar = _mates(reports)
    found: list[Example] = []
    for report in reports:
        judged = _by_unit(report)
        useful = [unit_id for unit_id, j in judged.items() if helped(j)] + list(report.missed)
        useless = [unit_id for unit_id, j in judged.items() if not helped(j)]
        for unit_id in useful:
            if unit_id not in units:
                continue
            pool = [*useless, *(other for other in similar.get(unit_id, ()) if other not in useful)]
            hard = [other for other in dict.fromkeys(pool) if other in units and other not in useful][
                : round(NEGATIVES * HARD_SHARE)
            ]
            free = [other for other in everything if other not in useful and other not in hard and other not in judged]
            wanted = math.ceil(len(hard) * (1 - HARD_SHARE) / HARD_SHARE) if hard else NEGATIVES - round(NEGATIVES * HARD_SHARE)
            drawn = rng.sample(free, min(len(free), wanted))
            found.append(
                Example(
                    query=report.query or report.goal,
                    positive=index_text(units[unit_id]),
                    region=units[unit_id].region,
                    hard_negatives=tuple(index_text(units[other]) for other in hard),
                    random_negatives=tuple(index_text(units[other]) for other in drawn),
                    domain=report.domain,
                    case=report.case,
                )
            )
    return found


def helped(judgement: Judgement) -> bool:
    """Whether a memory was used and did good."""
    used = judgement.use is None or judgement.use.used
    return used and judgement.effect is Effect.POSITIVE and judgement.role is not CausalRole.NOISE


def _mates(reports: Sequence[AnnotationReport]) -> dict[str, list[str]]:
    """Units that were recalled beside a unit and never helped in that company."""
    beside: dict[str, list[str]] = {}
    for report in reports:
        judged = _by_unit(report)
        useless = [unit_id for unit_id, judgement in judged.items() if not helped(judgement)]
        for unit_id in judged:
            beside.setdefault(unit_id, []).extend(useless)
    return beside


def _by_unit(report: AnnotationReport) -> dict[str, Judgement]:
    """The judgements on memories, by unit."""
    return {unit_id: judgement for judgement in report.judgements if (unit_id := unit_of(judgement.ref)) is not None}
