"""Brings every unit of a store into its present embedding space (SPEC A11)."""

from __future__ import annotations

from typing import Final

from hindsight_langgraph.errors import Conflict
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.ops import AttachEmbeddings, Collection, Embed, UnembeddedUnits
from hindsight_langgraph.plan import Plan, ask

_IDLE_PAGES: Final = 20
"""Pages in a row of which nothing could be embedded; then something else is at work on the same units."""


def reembed(*, page: int = 64, collections: tuple[Collection, ...] = ("live", "cold")) -> Plan[int]:
    """Embed what has no embedding of the present model, page by page, until nothing is left.

    Each page is complete in itself: a run that dies is simply started again, it loses and doubles nothing, and recall answers
    throughout (by words for what is still to come). A unit that changes meanwhile is read again with a later page.

    Returns:
        How many units were embedded by this run.

    Raises:
        ModelUnavailable: the embedder failed; what was embedded before stays so.
        Conflict: other writers changed every unit of many pages in a row.
    """
    total = 0
    for collection in collections:
        idle = 0
        while units := (yield from ask(UnembeddedUnits(limit=page, collection=collection))):
            texts = tuple(index_text(each.unit) for each in units)
            vectors = yield from ask(Embed(texts=texts, purpose="document"))
            embedded = tuple(each.model_copy(update={"dense": vector}) for each, vector in zip(units, vectors, strict=True))
            done = yield from ask(AttachEmbeddings(units=embedded, collection=collection))
            total += done
            idle = 0 if done else idle + 1
            if idle == _IDLE_PAGES:
                raise Conflict(f"the units of {idle} pages changed while they were embedded; run it again when less is written")
    return total
