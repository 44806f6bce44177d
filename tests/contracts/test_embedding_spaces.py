"""A store whose embedding model has changed (SPEC A11, case O14): nothing is lost, recall is degraded and says so, re-embedding heals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from hindsight_langgraph.backends.engine import Remove
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.errors import ConfigError, EmbeddingMismatch, ModelUnavailable, StoreCorrupt
from hindsight_langgraph.lexical import query_vector
from hindsight_langgraph.ops import (
    AttachEmbeddings,
    CountUnits,
    DeleteUnits,
    Embed,
    FetchUnits,
    ListOwners,
    LongTermOp,
    Probe,
    PutUnits,
    ReviseUnits,
    ScanUnits,
    SearchUnits,
    UnembeddedUnits,
    Where,
)
from hindsight_langgraph.plan import Op, adrive, drive
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, MemoryUnit
from hindsight_langgraph.reembed import reembed
from hindsight_langgraph.transfer import export_page, export_units, header, import_lines, import_units
from tests.contracts.long_term import ALICE, BOB, SPACE, Asker, Bench, Store, direction, index, indexed, make_unit, of, unit_id

LARGER = EmbeddingSpace(model="large/model-16", dimension=16)
SAME_SIZE = EmbeddingSpace(model="other/model-8", dimension=8)


def embed(text: str, dimension: int) -> tuple[float, ...]:
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(byte / 255 + 0.01 for byte in digest[:dimension])


def answering(ask: Asker, interrupt: Callable[[Op[Any]], None] = lambda _op: None) -> Callable[[Op[Any]], Any]:
    """Answers a plan's requests: `Embed` by a toy model, all else by the store. `interrupt` may raise before any of them."""

    async def answer(op: Op[Any]) -> Any:
        interrupt(op)
        if isinstance(op, Embed):
            return [embed(text, ask.store.space.dimension) for text in op.texts]
        return await ask(op)  # type: ignore[arg-type]  # the plans under test ask nothing else

    return answer


async def old_store(bench: Bench, units: int = 10) -> Asker:
    """A store with units of the old model."""
    ask = bench.open()
    await ask.put(*(indexed(n) for n in range(units)))
    return ask


async def changed_store(bench: Bench, space: EmbeddingSpace = LARGER, units: int = 10) -> Asker:
    """The same data opened with another model."""
    return await bench.reopen(await old_store(bench, units), space)


async def all_units(ask: Asker, owner: str = ALICE) -> list[MemoryUnit]:
    found: list[MemoryUnit] = []
    cursor, first = None, True
    while first or cursor is not None:
        page = await ask(ScanUnits(where=of(owner), limit=4, cursor=cursor))
        found += [each.unit for each in page.units]
        cursor, first = page.cursor, False
    return sorted(found, key=lambda unit: unit.id)


async def by_words(ask: Asker, words: str) -> list[str]:
    [hits] = await ask(SearchUnits(probes=(Probe(where=of(), limit=9, text=query_vector(words)),)))
    return [hit.unit.id for hit in hits]


async def by_meaning(ask: Asker, text: str) -> list[str]:
    dense = embed(text, ask.store.space.dimension)
    [hits] = await ask(SearchUnits(probes=(Probe(where=of(), limit=9, dense=dense),)))
    return [hit.unit.id for hit in hits]


# --- O14: the model changed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [LARGER, SAME_SIZE], ids=["other size", "same size, other model"])
async def test_o14_the_message_names_collection_old_and_new_model_and_size_and_what_to_run(
    bench: Bench, space: EmbeddingSpace
) -> None:
    ask = await changed_store(bench, space)
    await ask(CountUnits(where=of()))
    mismatch = ask.store.mismatch
    assert isinstance(mismatch, EmbeddingMismatch)
    for part in (
        "live.",
        SPACE.model,
        "8 dimensions",
        space.model,
        f"{space.dimension} dimensions",
        "10 units",
        "hindsight reembed",
    ):
        assert part in str(mismatch)
    [stale] = ask.store.stale_spaces
    assert (stale.place.space, stale.units) == (SPACE, 10)


async def test_o14_every_unit_of_the_old_model_is_still_read_and_found_by_words(bench: Bench) -> None:
    ask = await changed_store(bench)
    assert await all_units(ask) == [make_unit(n) for n in range(10)]
    assert await ask(CountUnits(where=of())) == {"": 10}
    assert await ask(CountUnits(where=of(), by="kind")) == {"fact": 10}
    assert await ask(FetchUnits(where=of(ids=(unit_id(3), unit_id(1))))) == [make_unit(3), make_unit(1)]
    assert await by_words(ask, "topic7") == [unit_id(7)]
    assert await ask(ListOwners()) == [ALICE]


async def test_o14_a_dense_probe_is_answered_by_the_new_model_alone_and_does_not_fail(bench: Bench) -> None:
    ask = await changed_store(bench, SAME_SIZE)
    assert await by_meaning(ask, "anything") == []
    await ask.put(indexed(20))
    assert await by_meaning(ask, "anything") == [unit_id(20)]


async def test_o14_going_back_to_the_old_model_finds_everything_as_it_was(bench: Bench) -> None:
    ask = await changed_store(bench)
    await ask.put(indexed(20, dimension=16))
    ask = await bench.reopen(ask, SPACE)
    assert len(await all_units(ask)) == 11
    [hits] = await ask(SearchUnits(probes=(Probe(where=of(), limit=1, dense=direction(4)),)))
    assert hits[0].unit == make_unit(4)


async def test_without_a_change_there_is_no_mismatch(bench: Bench) -> None:
    ask = await bench.reopen(await old_store(bench))
    await ask(CountUnits(where=of()))
    assert ask.store.mismatch is None
    assert ask.store.stale_spaces == ()


async def test_new_units_go_to_the_new_space_and_are_counted_and_ranked_beside_the_old(bench: Bench) -> None:
    ask = await changed_store(bench)
    await ask.put(indexed(20, dimension=16, content="note about topic7 too"))
    assert await ask(CountUnits(where=of(), by="kind")) == {"fact": 11}
    assert set(await by_words(ask, "topic7")) == {unit_id(7), unit_id(20)}
    [newest] = await ask(SearchUnits(probes=(Probe(where=of(), limit=3, newest=True),)))
    assert [hit.unit.id for hit in newest] == [unit_id(0), unit_id(1), unit_id(2)]


async def test_an_old_unit_can_be_replaced_revised_and_deleted(bench: Bench) -> None:
    ask = await changed_store(bench)
    await ask.put(indexed(1, dimension=16, content="replaced"))
    assert await ask(ReviseUnits(units=(make_unit(2, revision=1, content="revised"), make_unit(3, revision=5)))) == [unit_id(3)]
    assert await ask(DeleteUnits(where=of(ids=(unit_id(4), unit_id(1))))) == 2
    left = {unit.id: unit.content for unit in await all_units(ask)}
    assert len(left) == 8
    assert left[unit_id(2)] == "revised"
    assert unit_id(1) not in left
    assert await ask(DeleteUnits(where=of())) == 8
    assert await all_units(ask) == []


class Died(Exception):
    """The process went away here."""


def die_before_removing(store: Store, op: LongTermOp[Any]) -> None:
    """Run a request up to where it takes older copies away, as a process that dies there would."""

    def answer(request: Op[Any]) -> Any:
        if isinstance(request, Remove):
            raise Died
        if isinstance(store, EdgeLongTermStore):
            return store._answer(request, set())
        return drive(store._calls(request), store._call)

    with pytest.raises(Died):
        drive(store._plans.answer(op), answer)


async def test_a_unit_that_a_crash_left_in_both_spaces_counts_once_and_the_newer_copy_is_read(bench: Bench) -> None:
    ask = await changed_store(bench)
    newer = indexed(1, dimension=16, content="newer copy about topic1", session_id="new")
    die_before_removing(ask.store, PutUnits(units=(newer,)))
    ask = await bench.reopen(ask, LARGER)
    assert await ask(CountUnits(where=of())) == {"": 10}
    assert await ask(CountUnits(where=of(), by="kind")) == {"fact": 10}
    assert [unit for unit in await all_units(ask) if unit.id == unit_id(1)] == [newer.unit]
    assert await ask(FetchUnits(where=of(ids=(unit_id(1),)))) == [newer.unit]
    assert await by_words(ask, "topic1") == [unit_id(1)]
    assert await ask(CountUnits(where=of(sessions=("default",)))) == {"": 9}


async def test_a_unit_that_a_crash_left_in_both_spaces_is_deleted_whole(bench: Bench) -> None:
    ask = await changed_store(bench)
    die_before_removing(ask.store, PutUnits(units=(indexed(1, dimension=16, session_id="new"),)))
    assert await ask(DeleteUnits(where=of(sessions=("new",)))) == 1
    assert unit_id(1) not in [unit.id for unit in await all_units(ask)]


async def test_a_move_that_died_half_way_is_finished_by_the_next_run(bench: Bench) -> None:
    ask = await changed_store(bench)
    units = await ask(UnembeddedUnits(limit=10))
    die_before_removing(ask.store, AttachEmbeddings(units=with_embeddings(units, 16)))
    assert await ask(CountUnits(where=of())) == {"": 10}
    await adrive(reembed(), answering(ask))
    assert await all_units(ask) == [make_unit(n) for n in range(10)]
    assert ask.store.mismatch is None


async def test_one_user_sees_nothing_of_another_in_an_older_space_either(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(indexed(1), indexed(2, BOB))
    ask = await bench.reopen(ask, LARGER)
    assert [unit.id for unit in await all_units(ask)] == [unit_id(1)]
    assert await ask(FetchUnits(where=of(ids=(unit_id(2),)))) == []
    assert await by_words(ask, "topic2") == []
    assert await ask(ReviseUnits(units=(make_unit(2, revision=1),))) == [unit_id(2)]
    assert await ask(DeleteUnits(where=of())) == 1
    assert await ask(FetchUnits(where=of(BOB, ids=(unit_id(2),)))) == [make_unit(2, BOB)]


@pytest.mark.parametrize("model", [" ", "m" * 300])
def test_a_model_whose_name_cannot_name_a_store_is_refused(bench: Bench, model: str) -> None:
    with pytest.raises(ConfigError, match="name"):
        bench.store(EmbeddingSpace(model=model, dimension=8))


@pytest.mark.parametrize("model", ["a=2Fb", "a/b", "模型", "A b?c*:d", "text-embedding-3-small"])
async def test_models_are_told_apart_by_their_exact_name(bench: Bench, model: str) -> None:
    ask = await changed_store(bench, EmbeddingSpace(model=model, dimension=8), units=1)
    ask = await bench.reopen(ask, LARGER)
    await ask.put(indexed(5, dimension=16))
    assert [stale.place.space for stale in ask.store.stale_spaces] == [SPACE]
    assert len(await all_units(ask)) == 2


# --- re-embedding --------------------------------------------------------------------------------------------------------


async def test_reembedding_brings_every_unit_into_the_new_space(bench: Bench) -> None:
    ask = await changed_store(bench)
    await ask(PutUnits(units=(indexed(30, dimension=16),), collection="cold"))
    assert await adrive(reembed(page=4), answering(ask)) == 10
    assert await all_units(ask) == [make_unit(n) for n in range(10)]
    assert len(await by_meaning(ask, "anything")) == 9
    assert await by_words(ask, "topic7") == [unit_id(7)]
    assert ask.store.mismatch is None
    assert await adrive(reembed(), answering(ask)) == 0


async def test_cold_units_and_those_of_every_user_are_re_embedded_too(bench: Bench) -> None:
    ask = bench.open()
    await ask(PutUnits(units=(indexed(1), indexed(2, BOB)), collection="cold"))
    await ask.put(indexed(3, BOB))
    ask = await bench.reopen(ask, LARGER)
    assert await adrive(reembed(), answering(ask)) == 3
    page = await ask(ScanUnits(where=Where(owners=(ALICE, BOB)), collection="cold", with_vectors=True))
    assert [each.dense is not None for each in page.units] == [True, True]


@pytest.mark.parametrize("stop_before", range(1, 10))
async def test_a_run_that_dies_at_any_step_loses_and_doubles_nothing_and_the_next_one_finishes(
    bench: Bench, stop_before: int
) -> None:
    ask = await changed_store(bench)
    steps = 0

    def die(_op: Op[Any]) -> None:
        nonlocal steps
        steps += 1
        if steps == stop_before:
            raise ModelUnavailable("gone")

    with pytest.raises(ModelUnavailable):
        await adrive(reembed(page=4), answering(ask, die))
    assert await all_units(ask) == [make_unit(n) for n in range(10)]
    assert await ask(CountUnits(where=of())) == {"": 10}
    ask = await bench.reopen(ask, LARGER)
    await adrive(reembed(page=4), answering(ask))
    assert await all_units(ask) == [make_unit(n) for n in range(10)]
    assert await ask(CountUnits(where=of())) == {"": 10}


async def test_recall_answers_throughout(bench: Bench) -> None:
    ask = await changed_store(bench)
    seen: list[list[str]] = []

    async def answer(op: Op[Any]) -> Any:
        seen.append(await by_words(ask, "topic7"))
        return await answering(ask)(op)

    await adrive(reembed(page=3), answer)
    assert len(seen) > 9
    assert all(found == [unit_id(7)] for found in seen)


async def test_a_unit_forgotten_while_it_was_embedded_stays_forgotten(bench: Bench) -> None:
    ask = await changed_store(bench)
    units = await ask(UnembeddedUnits(limit=10))
    await ask(DeleteUnits(where=of(ids=(unit_id(3),))))
    assert await ask(AttachEmbeddings(units=with_embeddings(units, 16))) == 9
    assert unit_id(3) not in [unit.id for unit in await all_units(ask)]


async def test_a_unit_revised_while_it_was_embedded_keeps_the_revision(bench: Bench) -> None:
    ask = await changed_store(bench)
    units = await ask(UnembeddedUnits(limit=10))
    assert await ask(ReviseUnits(units=(make_unit(3, revision=1, content="revised"),))) == []
    assert await ask(AttachEmbeddings(units=with_embeddings(units, 16))) == 9
    assert await adrive(reembed(), answering(ask)) == 1
    assert [unit.content for unit in await ask(FetchUnits(where=of(ids=(unit_id(3),))))] == ["revised"]


async def test_a_unit_replaced_while_it_was_embedded_keeps_what_replaced_it(bench: Bench) -> None:
    ask = await changed_store(bench)
    units = await ask(UnembeddedUnits(limit=10))
    await ask.put(indexed(3, dimension=16, content="replaced"))
    assert await ask(AttachEmbeddings(units=with_embeddings(units, 16))) == 9
    assert [unit.content for unit in await ask(FetchUnits(where=of(ids=(unit_id(3),))))] == ["replaced"]
    assert await ask(CountUnits(where=of())) == {"": 10}


def with_embeddings(units: list[IndexedUnit], dimension: int) -> tuple[IndexedUnit, ...]:
    return tuple(each.model_copy(update={"dense": embed(each.unit.id, dimension)}) for each in units)


async def test_units_stored_while_the_model_was_down_are_embedded_by_the_same_run(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(indexed(1), index(make_unit(2), None), index(make_unit(3), None))
    assert await adrive(reembed(), answering(ask)) == 2
    assert len(await by_meaning(ask, "anything")) == 3
    assert await by_words(ask, "topic2") == [unit_id(2)]
    assert await all_units(ask) == [make_unit(n) for n in (1, 2, 3)]


async def test_a_unit_without_embedding_that_changes_meanwhile_is_left_for_the_next_page(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(index(make_unit(1), None), index(make_unit(2), None), index(make_unit(3), None))
    units = await ask(UnembeddedUnits())
    assert await ask(ReviseUnits(units=(make_unit(2, revision=1),))) == []
    await ask(DeleteUnits(where=of(ids=(unit_id(3),))))
    assert await ask(AttachEmbeddings(units=with_embeddings(units, 8))) == 1
    assert [each.unit.id for each in await ask(UnembeddedUnits())] == [unit_id(2)]
    assert await ask(CountUnits(where=of())) == {"": 2}


# --- export and import ---------------------------------------------------------------------------------------------------


async def test_an_export_read_into_an_empty_store_gives_the_same_units_and_the_same_hits(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(*(indexed(n) for n in range(7)), indexed(8, BOB), index(make_unit(9), None))
    await ask(PutUnits(units=(indexed(20),), collection="cold"))
    probes = (Probe(where=of(), limit=3, dense=direction(2)), Probe(where=of(), limit=3, text=query_vector("topic4")))
    before = await ask(SearchUnits(probes=probes))
    lines = list(export_units(ask.store))
    assert len(lines) == 11
    await ask(DeleteUnits(where=Where(owners=(ALICE, BOB))))
    await ask(DeleteUnits(where=of(), collection="cold"))
    for _twice in range(2):
        assert import_units(ask.store, [line + b"\n" for line in lines], page=3) == 10
    after = await ask(SearchUnits(probes=probes))
    assert [[hit.unit for hit in hits] for hits in after] == [[hit.unit for hit in hits] for hits in before]
    assert [[hit.score for hit in hits] for hits in after] == pytest.approx(
        [pytest.approx([hit.score for hit in hits], abs=1e-4) for hits in before]
    )
    assert await ask(CountUnits(where=Where(owners=(ALICE, BOB)), by="owner")) == {ALICE: 8, BOB: 1}
    assert await ask(CountUnits(where=of(), collection="cold")) == {"": 1}


async def test_the_export_of_one_user_holds_nothing_of_another(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(indexed(1), indexed(2, BOB))
    lines = list(export_units(ask.store, owners=(ALICE,)))
    assert len(lines) == 2
    assert BOB.encode() not in b"".join(lines)


async def test_a_page_is_exported_and_imported_by_plans_as_well(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(indexed(1), indexed(2))
    page = await adrive(export_page(of(), collection="live"), answering(ask))
    await ask(DeleteUnits(where=of()))
    assert await adrive(import_lines(page.lines), answering(ask)) == 2
    assert await all_units(ask) == [make_unit(1), make_unit(2)]


async def test_a_damaged_line_is_named_and_nothing_of_its_page_is_written(bench: Bench) -> None:
    ask = bench.open()
    await ask.put(indexed(1))
    lines = [*export_units(ask.store), b'{"unit": 1}']
    await ask(DeleteUnits(where=of()))
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        import_units(ask.store, lines)
    assert await ask(CountUnits(where=of())) == {"": 0}


async def test_an_export_of_another_model_is_refused_with_what_to_do(bench: Bench) -> None:
    ask = bench.open()
    with pytest.raises(EmbeddingMismatch, match="hindsight reembed"):
        import_units(ask.store, [header(LARGER)])
    for not_ours in (b"", b"[]", b'{"hindsight": 99, "model": "m", "dimension": 8}'):
        with pytest.raises(StoreCorrupt):
            import_units(ask.store, [not_ours])
