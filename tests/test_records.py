"""What a record refuses, and that stored bytes of every version are read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hindsight_langgraph.codec import UNIT_VERSION, decode_turn, decode_unit, encode_turn, encode_unit
from hindsight_langgraph.errors import MissingUser, StoreCorrupt
from hindsight_langgraph.ops import Where
from hindsight_langgraph.records import (
    Kind,
    MemoryUnit,
    Precision,
    Region,
    Role,
    Scope,
    SparseVector,
    TimeAnchor,
    Triple,
    Turn,
    shared_owner,
    user_owner,
)  # fmt: skip

NOW = datetime(2025, 3, 10, 9, tzinfo=UTC)
DATA = Path(__file__).parent / "data"


def unit(**changes: object) -> MemoryUnit:
    fields: dict[str, object] = {
        "id": "0b7d7a52-8ad5-5f0e-9a3c-4f4b7c0a0001", "owner": "user:u1", "content": "u1 keeps bees", "region": Region.SEMANTIC,
        "kind": Kind.FACT, "created_at": NOW, "updated_at": NOW,
    }  # fmt: skip
    return MemoryUnit.model_validate(fields | changes)


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_user_is_refused_everywhere(blank: str):
    with pytest.raises(MissingUser):
        Scope(user_id=blank)
    with pytest.raises(MissingUser):
        user_owner(blank)
    with pytest.raises(MissingUser):
        shared_owner(blank)
    with pytest.raises(MissingUser):
        Where(owners=(blank,))


def test_a_request_to_long_term_memory_without_an_owner_is_refused():
    with pytest.raises(MissingUser):
        Where(owners=())


def test_no_user_id_can_equal_a_shared_scope():
    assert Scope(user_id="shared:team").owner != shared_owner("team")
    assert Scope(user_id="a", shared=("team",)).readers == ("user:a", "shared:team")


def test_a_naive_moment_is_refused():
    with pytest.raises(ValidationError):
        unit(created_at=datetime(2025, 3, 10))


def test_an_anchor_cannot_end_before_it_starts():
    with pytest.raises(ValidationError):
        TimeAnchor(start=NOW, end=NOW - timedelta(days=1), precision=Precision.DAY)


def test_a_sparse_vector_has_a_weight_for_each_term():
    with pytest.raises(ValidationError):
        SparseVector(indices=(1, 2), values=(1.0,))


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan"), float("inf")])
def test_importance_is_a_finite_number_from_0_to_1(importance: float):
    with pytest.raises(ValidationError):
        unit(importance=importance)


texts = st.text(min_size=1, max_size=40)


@given(content=texts, entities=st.lists(texts, max_size=3), importance=st.floats(0, 1), negated=st.booleans(), value=texts)
def test_a_unit_survives_its_stored_form(content: str, entities: list[str], importance: float, negated: bool, value: str):
    one = unit(
        content=content,
        entities=tuple(entities),
        importance=importance,
        triple=Triple(subject="user", attribute="likes", value=value, negated=negated),
    )
    assert decode_unit(encode_unit(one)) == one


@given(text=st.text(max_size=60), role=st.sampled_from(Role))
def test_a_turn_survives_its_stored_form(text: str, role: Role):
    turn = Turn(id="t", role=role, text=text, at=NOW)
    assert decode_turn(encode_turn(turn)) == turn


@pytest.mark.parametrize("version", range(1, UNIT_VERSION + 1))
def test_bytes_of_every_version_that_was_ever_written_are_read(version: int):
    read = decode_unit((DATA / f"unit-v{version}.json").read_bytes())
    assert read.content == "u1 keeps bees"
    assert read.triple == Triple(subject="user", attribute="keeps", value="bees", multi_valued=True)


@pytest.mark.parametrize("stored", [b"", b"{", b"[]", b'{"v": 1}', b'{"v": 1, "unit": {"id": "x"}}'])
def test_bytes_that_are_no_unit_are_an_error_of_the_store(stored: bytes):
    with pytest.raises(StoreCorrupt):
        decode_unit(stored)


def test_a_unit_of_a_newer_library_says_to_upgrade():
    with pytest.raises(StoreCorrupt, match="upgrade langgraph-hindsight"):
        decode_unit(orjson.dumps({"v": UNIT_VERSION + 1, "unit": {}}))


def test_bytes_that_are_no_turn_are_an_error_of_the_store():
    with pytest.raises(StoreCorrupt):
        decode_turn(b"{}")
