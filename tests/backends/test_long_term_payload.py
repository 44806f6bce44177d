"""How a unit is kept as a point, and what is made of a point that is no unit."""

from __future__ import annotations

import pytest

from hindsight_langgraph.backends.engine import Place, parse_place
from hindsight_langgraph.backends.payload import encode_payload, moment_of, point_id, revision_of, unit_reader, writes_of
from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.records import EmbeddingSpace
from tests.contracts.long_term import ALICE, BOB, make_unit


def test_the_point_of_a_unit_depends_on_its_owner_and_stays_the_same() -> None:
    assert point_id(ALICE, "1") == point_id(ALICE, "1") == "249c652c-0821-5407-9281-18face8e3b1e"
    assert len({point_id(owner, unit) for owner in (ALICE, BOB) for unit in ("1", "2")}) == 4


def test_a_payload_remembers_its_last_writes_and_not_all() -> None:
    payload = encode_payload(make_unit(1), write="newest", earlier_writes=tuple(f"w{n}" for n in range(40)))
    assert writes_of(payload)[-2:] == ("w39", "newest")
    assert len(writes_of(payload)) == 16


def test_a_unit_read_again_is_the_same_object_and_a_changed_one_is_not() -> None:
    read = unit_reader()
    payload = encode_payload(make_unit(1), write="a")
    changed = encode_payload(make_unit(1, content="changed"), write="b")
    assert read(payload) is read(dict(payload))
    assert read(changed).content == "changed"


@pytest.mark.parametrize(
    "damage", [{"unit": "{"}, {"unit": 7}, {"unit": '{"v": 99, "unit": {}}'}, {"unit": '{"v": 1, "unit": {}}'}]
)
def test_a_damaged_point_is_reported_as_such(damage: dict[str, str | int | float | list[str]]) -> None:
    with pytest.raises(StoreCorrupt):
        unit_reader()(encode_payload(make_unit(1), write="a") | damage)


def test_a_point_without_revision_or_moment_is_reported_as_such() -> None:
    for read in (revision_of, moment_of):
        with pytest.raises(StoreCorrupt, match="export"):
            read({})


@pytest.mark.parametrize("name", ["live", "live.8", "live.0.m", "live.08.m", "warm.8.m", ".new-x", "live.x.m", "xlive.8.m"])
def test_a_name_that_is_not_of_a_place_is_none_of_ours(name: str) -> None:
    assert parse_place(name) is None


@pytest.mark.parametrize("model", ["m", "a/b", "a=2Fb", "100% new", "模型", "a.b.c", "A:B"])
def test_a_place_is_read_back_from_its_name(model: str) -> None:
    place = Place(collection="cold", space=EmbeddingSpace(model=model, dimension=384))
    assert parse_place(place.name) == place
    assert not set(place.name) & set('<>:"/\\|?*% ')
