"""What can be told of a unit by itself, whatever is asked."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

from hindsight_langgraph.lexical import Words, words_of
from hindsight_langgraph.recall import overlap, wording
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Status, Tier

ROLE_WEIGHT: Final[Mapping[CausalRole | None, float]] = MappingProxyType(
    {CausalRole.DIRECT_CAUSE: 1.0, None: 0.7, CausalRole.CONTEXT: 0.5, CausalRole.NOISE: 0.0}
)
"""SPEC C8, D8: direct causes first, noise never; a unit not yet judged stands between cause and context."""
HISTORY_WEIGHT: Final = 0.1
"""The most that a superseded unit's weight may be where history is asked for (SPEC C10)."""
MAX_ACCESS: Final = 20
FULL_CHARS: Final = 300
"""From this length on a turn is as telling as it gets."""
FIXED: Final = (
    "importance", "confidence", "role", "access", "outcome", "past", "decided", "alias", "length", "digits", "asks", "standing", "replies",
)  # fmt: skip
"""The terms that depend on the unit alone."""

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_DIGIT = re.compile(r"\d")


class Facts:
    """The facts of one unit, each found out when it is first asked for."""

    def __init__(self, unit: MemoryUnit) -> None:
        self.unit = unit
        self._forms: dict[Callable[[str], float], float] = {}

    @cached_property
    def fixed(self) -> tuple[float, ...]:
        """The values of the terms named by `FIXED`, in that order, each from 0 to 1."""
        unit, text = self.unit, self.unit.content
        return (
            unit.importance,
            unit.confidence,
            ROLE_WEIGHT[unit.role],
            math.log1p(min(unit.references, MAX_ACCESS)) / math.log1p(MAX_ACCESS),
            float(unit.episode is not None and bool(unit.episode.outcome)),
            float(unit.status is Status.SUPERSEDED),
            float(unit.kind in (Kind.DECISION, Kind.TASK_STATE, Kind.EPISODE)),
            float(unit.kind is Kind.ENTITY),
            _saying(text),
            float(self.has_digit),
            float("?" in text or "？" in text),
            float(wording.is_standing(text)),
            float(wording.answers_a_question(unit)),
        )

    @cached_property
    def marked(self) -> bool:
        """Whether it was judged, tells of an episode, states what is not so, or is a preference: all that can bias its score."""
        unit = self.unit
        judged = unit.role is not None or unit.episode is not None
        return judged or unit.kind is Kind.PREFERENCE or (unit.triple is not None and unit.triple.negated)

    @cached_property
    def said(self) -> float:
        """When it was said, in seconds since the epoch."""
        return self.unit.moment.timestamp()

    @cached_property
    def strength(self) -> tuple[float, float, float, float]:
        """The parts of its weight (SPEC C2, C10).

        When it was said or recalled last, in seconds; what does not fade, 0 to 1; 1 where time takes from it and 0 for a core unit; the
        most that it may come to.
        """
        unit = self.unit
        seen = max(unit.moment, unit.last_recalled_at or unit.moment).timestamp()
        held = unit.confidence * (1 + 0.1 * min(unit.references, 50)) / 6
        return seen, held, float(unit.tier is not Tier.CORE), HISTORY_WEIGHT if unit.status is Status.SUPERSEDED else 1.0

    @cached_property
    def words(self) -> Words:
        """The words of its content."""
        return words_of(self.unit.content)

    @cached_property
    def words_before(self) -> Words:
        """The words of what was said just before."""
        return words_of(self.unit.preceding)

    @cached_property
    def pieces(self) -> frozenset[str]:
        """What a statement holds of words and characters (`overlap.pieces_of`)."""
        return overlap.pieces_of(self.unit)

    @cached_property
    def has_digit(self) -> bool:
        """Whether its content holds a digit."""
        return bool(_DIGIT.search(self.unit.content))

    @property
    def tells_time(self) -> bool:
        """Whether it has a time of its own, or a digit that may be one."""
        return self.unit.anchor is not None or self.has_digit

    def form(self, measure: Callable[[str], float]) -> float:
        """What a measure of texts gives for its content; found out once a measure."""
        found = self._forms.get(measure)
        if found is None:
            found = self._forms[measure] = measure(self.unit.content)
        return found


class FactsMemory:
    """The facts of the units that the last recalls looked at, since recall after recall looks at the same ones.

    A unit is known by identity, and kept as long as its facts are: what was changed, here or by another process, is another object.
    A store hands out the same object again while what it holds is the same.
    """

    def __init__(self, remembered: int = 8_192) -> None:
        self._remembered = remembered
        self._kept: OrderedDict[int, Facts] = OrderedDict()

    def of(self, unit: MemoryUnit) -> Facts:
        """The facts of a unit."""
        found = self._kept.get(id(unit))
        if found is None:
            found = self._kept[id(unit)] = Facts(unit)
            if len(self._kept) > self._remembered:
                self._kept.popitem(last=False)
        return found


def _saying(text: str) -> float:
    """How much a text says: its length against a full one, 0 to 1; a Chinese character counts as the two or three letters it replaces."""
    chinese = 0 if text.isascii() else len(_CHINESE.findall(text))
    return min(1.0, (len(text) + 1.5 * chinese) / FULL_CHARS)
