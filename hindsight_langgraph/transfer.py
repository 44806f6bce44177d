"""Units and their vectors as JSON lines and back: a copy of a store that any backend of any version can read.

The first line says what follows: `{"hindsight": 1, "model": ..., "dimension": ...}`. Every other line is one unit: `unit` (the stored
form of `codec.py`), `collection`, `dense` (numbers, or null), `text` and `context` (each `[[term ids], [weights]]`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

import orjson

from hindsight_langgraph.codec import decode_unit, encode_unit
from hindsight_langgraph.errors import EmbeddingMismatch, StoreCorrupt
from hindsight_langgraph.ops import Collection, ListOwners, LongTermOp, PutUnits, ScanUnits, Where
from hindsight_langgraph.plan import Op, Plan, ask, drive
from hindsight_langgraph.ports import LongTermStore
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, SparseVector

FORMAT: Final = 1
"""Goes up when a line changes its form."""

_COLLECTIONS: Final[tuple[Collection, ...]] = ("live", "cold")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportPage:
    """Some lines of an export, without their line ends; `cursor` is None after the last."""

    lines: list[bytes]
    cursor: str | None


def header(space: EmbeddingSpace) -> bytes:
    """The first line of an export."""
    return orjson.dumps({"hindsight": FORMAT, "model": space.model, "dimension": space.dimension})


def export_page(where: Where, *, collection: Collection, cursor: str | None = None, limit: int = 256) -> Plan[ExportPage]:
    """One page of an export. A unit that is being re-embedded meanwhile may come twice, never not at all."""
    page = yield from ask(ScanUnits(where=where, limit=limit, cursor=cursor, with_vectors=True, collection=collection))
    return ExportPage(lines=[_line(each, collection) for each in page.units], cursor=page.cursor)


def import_lines(lines: Sequence[bytes]) -> Plan[int]:
    """Write some lines of an export (without its first); writing them twice leaves what writing them once left.

    Returns:
        How many units were written.

    Raises:
        StoreCorrupt: a line cannot be read; nothing of these lines was written.
    """
    parsed = [_parse(line) for line in lines]
    for collection in _COLLECTIONS:
        # the last line of a unit counts: an export may hold it twice, a write may not
        units = {(unit.unit.owner, unit.unit.id): unit for where, unit in parsed if where == collection}
        if units:
            yield from ask(PutUnits(units=tuple(units.values()), collection=collection))
    return len(parsed)


def export_units(store: LongTermStore, *, owners: Sequence[str] | None = None) -> Iterator[bytes]:
    """Every line of an export of some owners, or of the whole store (None), read page by page."""
    yield header(store.space)
    for collection in _COLLECTIONS:
        everyone = store.run(ListOwners(collection=collection))
        for owner in everyone if owners is None else owners:
            cursor: str | None = None
            while True:
                page = drive(export_page(Where(owners=(owner,)), collection=collection, cursor=cursor), _running(store))
                yield from page.lines
                cursor = page.cursor
                if cursor is None:
                    break


def import_units(store: LongTermStore, lines: Iterable[bytes], *, page: int = 256) -> int:
    """Write an export into a store, page by page. A run that dies is simply started again.

    Args:
        store: Where to.
        lines: As `export_units` gave them, with or without line ends.
        page: Units of one write.

    Returns:
        How many lines were written.

    Raises:
        EmbeddingMismatch: the export's vectors come from another model.
        StoreCorrupt: a line cannot be read; the pages before it are written.
    """
    rest = iter(lines)
    check_header(next(rest, b""), store.space)
    total = 0
    while some := list(islice(rest, page)):
        total += drive(import_lines([line for line in some if line.strip()]), _running(store))
    return total


def _running(store: LongTermStore) -> Callable[[Op[Any]], Any]:
    return lambda op: store.run(cast("LongTermOp[Any]", op))


def check_header(line: bytes, space: EmbeddingSpace) -> None:
    """Refuse an export that this library or this store cannot take.

    Raises:
        StoreCorrupt: not an export, or one of a newer library.
        EmbeddingMismatch: its vectors come from another model.
    """
    try:
        found = orjson.loads(line)
        version, exported = int(found["hindsight"]), EmbeddingSpace(model=found["model"], dimension=found["dimension"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt(f"the first line is not that of an export: {error}") from error
    if version > FORMAT:
        raise StoreCorrupt(f"the export has format {version}, this library reads up to {FORMAT}; upgrade langgraph-hindsight")
    if exported != space:
        raise EmbeddingMismatch(
            f"the export holds vectors of {exported.model} ({exported.dimension} dimensions), the store takes those of {space.model} "
            f"({space.dimension}); import it with the model of the export, then change the model and run `hindsight reembed`"
        )


def _line(indexed: IndexedUnit, collection: Collection) -> bytes:
    document = {
        "unit": orjson.Fragment(encode_unit(indexed.unit)),
        "collection": collection,
        "dense": indexed.dense,
        "text": (indexed.text.indices, indexed.text.values),
        "context": (indexed.context.indices, indexed.context.values),
    }
    return orjson.dumps(document)


def _parse(line: bytes) -> tuple[Collection, IndexedUnit]:
    try:
        found = orjson.loads(line)
        collection: Collection = "cold" if found["collection"] == "cold" else "live"
        indexed = IndexedUnit(
            unit=decode_unit(orjson.dumps(found["unit"])),
            dense=None if found["dense"] is None else tuple(found["dense"]),
            text=_sparse(found["text"]),
            context=_sparse(found["context"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt(f"a line of an export cannot be read: {error}; it begins with {line[:60]!r}") from error
    return collection, indexed


def _sparse(found: Any) -> SparseVector:
    indices, values = found
    return SparseVector(indices=tuple(indices), values=tuple(values))
