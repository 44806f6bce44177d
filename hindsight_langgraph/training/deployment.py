"""Learn from a deployment's judged tasks how to search and how to rank, version by version (SPEC E6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

from hindsight_langgraph.annotation.examples import Example
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.recall.domain_rankers import RankerShelf
from hindsight_langgraph.recall.lessons import Lesson
from hindsight_langgraph.recall.query_adapter import AdapterShelf
from hindsight_langgraph.recall.ranker import Ranker
from hindsight_langgraph.recall.trees import TreeEnsemble
from hindsight_langgraph.records import EmbeddingSpace, Record
from hindsight_langgraph.training.adapter import LEAST_EXAMPLES, LEAST_GAIN, Embed, Fit, contrasts_of, enough, fit_adapter
from hindsight_langgraph.training.outcomes import LEAST_TASKS, TrainedRanker, by_domain, fit_rankers

ADAPTERS: Final = "adapters"
RANKERS: Final = "rankers"
"""Directories of what was learnt, under the memory's own."""
Part = Literal["adapter", "ranker"]
"""What to learn: how to turn a query's vector, or how to rank what was found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelves:
    """Where the versions lie. One number names what one training changed, on either shelf."""

    adapters: AdapterShelf
    rankers: RankerShelf

    @classmethod
    def under(cls, directory: Path) -> Self:
        """The shelves of the memory in a directory."""
        return cls(adapters=AdapterShelf(directory / ADAPTERS), rankers=RankerShelf(directory / RANKERS))

    def next(self) -> int:
        """The number of the next training."""
        return max(self.adapters.next(), self.rankers.next())

    @property
    def current(self) -> int | None:
        """The last training that is in use."""
        return max((number for number in (self.adapters.current, self.rankers.current) if number is not None), default=None)

    def back(self) -> int | None:
        """Take back what the last training in use changed. Returns the one in use now, None for none."""
        last = self.current
        for shelf in (self.adapters, self.rankers):
            if last is not None and shelf.current == last:
                shelf.back()
        return self.current


class Trained(Record):
    """What a training did."""

    examples: int
    """What the query adapter had to learn from; 0 when it was not to be fitted."""
    before: float = 0.0
    """Mean reciprocal rank of what helped, on tasks held out, without the adapter."""
    after: float = 0.0
    rankers: tuple[TrainedRanker, ...] = ()
    """By domain."""
    version: int | None
    """The version in use from now on; None when everything was refused because it does not help."""

    @property
    def adapter_used(self) -> bool:
        """Whether the adapter is in use from now on."""
        return self.version is not None and self.after >= self.before + LEAST_GAIN

    def lines(self) -> list[str]:
        """A readable account."""
        fate = "in use" if self.adapter_used else "refused, it does not help"
        told = (
            [f"adapter: {self.examples} examples, held-out MRR {self.before:.3f} -> {self.after:.3f}: {fate}"]
            if self.examples
            else []
        )
        return [*told, *(ranker.line() for ranker in self.rankers)]


def learn(
    examples: Sequence[Example],
    lessons: Sequence[Lesson],
    *,
    embed: Embed,
    space: EmbeddingSpace,
    shelves: Shelves,
    shipped: Ranker | None,
    only: Part | None = None,
) -> Trained:
    """Fit a query adapter and a ranker for each domain, and put to use what helps on tasks held out.

    Args:
        examples: for the adapter.
        lessons: for the rankers.
        embed: the embedding model.
        space: its space.
        shelves: where versions lie.
        shipped: the ranker where none was learnt.
        only: one of the two; None fits whatever has enough to learn from.

    Raises:
        CallError: there is too little to learn from yet; says how much.
        MissingExtra: rankers could be fitted, and their library is not installed.
    """
    domains = {} if only == "adapter" else by_domain(lessons)
    fits_adapter = only != "ranker" and len(examples) >= LEAST_EXAMPLES
    if not domains and not fits_adapter:
        if only == "ranker":
            raise CallError(f"no domain has {LEAST_TASKS} tasks that tell what helped; keep collecting outcomes")
        enough(len(examples))
    fitted = fit_rankers(domains, shipped=shipped)
    fit = fit_adapter(contrasts_of(examples, embed), space=space) if fits_adapter else None
    return Trained(
        examples=fit.examples if fit else 0,
        before=fit.before if fit else 0.0,
        after=fit.after if fit else 0.0,
        rankers=tuple(ranker.told for ranker in fitted),
        version=_put_to_use(fit, {ranker.told.domain: ranker.trees for ranker in fitted if ranker.told.used}, shelves),
    )


def _put_to_use(fit: Fit | None, trees: dict[str, TreeEnsemble], shelves: Shelves) -> int | None:
    """Store what helps under the next number; None when nothing does."""
    adapter = fit.adapter if fit is not None and fit.helps else None
    if adapter is None and not trees:
        return None
    number = shelves.next()
    if adapter is not None:
        shelves.adapters.add(adapter, version=number)
    if trees:
        shelves.rankers.add(trees, version=number)
    return number
