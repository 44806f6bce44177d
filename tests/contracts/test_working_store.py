"""What every working store does with fields, logs and keys, whichever backend and door."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from hindsight_langgraph.errors import StoreRejected
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import (
    AddCount,
    AppendLog,
    DeleteKeys,
    DropEntries,
    DropFields,
    FoldFields,
    ListKeys,
    LogEntry,
    ReadFields,
    ReadLog,
    ReplaceEntry,
    WorkingOp,
    WriteFields,
)
from tests.clock import NOON
from tests.contracts.working_driver import Driver

TASK = Key(owner="u1", kind=KeyKind.WORKING, name="t1")
LOG = Key(owner="u1", kind=KeyKind.SESSION, name="s1")
ODD = (
    "team-7:a.b#{x}|é", "{", "}", "{}", "a{b}c", "%", "%25", "100%", ":", "a:b", " ", "a b", "tab\tnew\nline", "nul\x00inside",
    "用户一", "👩\u200d👧", "a/b\\c", "*?[x]", "index", "due", "\u00e9", "e\u0301", "'; DROP TABLE keys; --", "x" * 500,
)  # fmt: skip
"""Owners and names that a storage form might trip over; two of them look alike."""


def entry(number: int, *, minute: int | None = None, body: bytes = b"said") -> LogEntry:
    return LogEntry(id=f"e{number:03}", at=NOON + timedelta(minutes=number if minute is None else minute), body=body)


def names(fields: dict[str, bytes]) -> list[str]:
    return list(fields)


def ids(entries: list[LogEntry]) -> list[str]:
    return [each.id for each in entries]


# --- fields ---


def test_fields_are_read_back_oldest_written_first(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"z": b"1", "a": b"2"}))
    driver.ask(WriteFields(key=TASK, fields={"m": b"3"}))
    assert list(driver.ask(ReadFields(key=TASK)).items()) == [("z", b"1"), ("a", b"2"), ("m", b"3")]


def test_a_rewritten_field_becomes_the_newest(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2", "c": b"3"}))
    driver.ask(WriteFields(key=TASK, fields={"a": b"4"}))
    assert list(driver.ask(ReadFields(key=TASK)).items()) == [("b", b"2"), ("c", b"3"), ("a", b"4")]


def test_the_order_of_more_than_nine_fields_is_kept(driver: Driver):
    for number in range(25):
        driver.ask(WriteFields(key=TASK, fields={f"f{number}": b"x"}))
    assert names(driver.ask(ReadFields(key=TASK))) == [f"f{number}" for number in range(25)]


def test_writing_the_same_fields_twice_leaves_what_writing_once_left(driver: Driver):
    for _ in range(2):
        driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2"}))
    assert list(driver.ask(ReadFields(key=TASK)).items()) == [("a", b"1"), ("b", b"2")]


@pytest.mark.parametrize("value", [b"", b":", b"12:34", bytes(range(256)), "你好".encode(), b"x" * 100_000])
def test_any_bytes_are_read_back_as_they_were_written(driver: Driver, value: bytes):
    driver.ask(WriteFields(key=TASK, fields={"f": value}))
    assert driver.ask(ReadFields(key=TASK)) == {"f": value}


def test_any_field_name_is_read_back_as_it_was_written(driver: Driver):
    fields = {name: str(number).encode() for number, name in enumerate((*ODD, "", "#", "+", "f"))}
    driver.ask(WriteFields(key=TASK, fields=fields))
    assert driver.ask(ReadFields(key=TASK)) == fields
    assert driver.ask(DropFields(key=TASK, names=tuple(fields))) == len(fields)


def test_a_key_that_was_never_written_is_empty(driver: Driver):
    assert driver.ask(ReadFields(key=TASK)) == {}
    assert driver.ask(ReadLog(key=LOG)) == []
    assert driver.ask(DropFields(key=TASK, names=("a",))) == 0
    assert driver.ask(DropEntries(key=LOG, ids=("a",))) == 0
    assert driver.ask(ReplaceEntry(key=LOG, id="a", body=b"")) is False


def test_writing_no_fields_makes_no_key(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={}))
    driver.ask(AppendLog(key=LOG, entries=()))
    assert driver.ask(ListKeys(owner="u1")) == []


def test_dropping_fields_tells_how_many_there_were(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2", "c": b"3"}))
    assert driver.ask(DropFields(key=TASK, names=("a", "c", "never"))) == 2
    assert driver.ask(DropFields(key=TASK, names=("a", "c"))) == 0
    assert driver.ask(ReadFields(key=TASK)) == {"b": b"2"}


def test_a_key_whose_last_field_was_dropped_is_gone(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    driver.ask(DropFields(key=TASK, names=("a",)))
    assert driver.ask(ListKeys(owner="u1")) == []


# --- folding ---


def test_a_fold_puts_and_removes_in_one_step(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2", "c": b"3"}))
    assert driver.ask(FoldFields(key=TASK, put={"sum": b"a, b"}, drop={"a": b"1", "b": b"2"})) is True
    assert list(driver.ask(ReadFields(key=TASK)).items()) == [("c", b"3"), ("sum", b"a, b")]


@pytest.mark.parametrize("drop", [{"a": b"1", "b": b"old"}, {"a": b"1", "never": b""}])
def test_a_fold_of_a_field_that_changed_meanwhile_changes_nothing(driver: Driver, drop: dict[str, bytes]):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2", "c": b"3"}))
    assert driver.ask(FoldFields(key=TASK, put={"sum": b"s", "c": b"9"}, drop=drop)) is False
    assert list(driver.ask(ReadFields(key=TASK)).items()) == [("a", b"1"), ("b", b"2"), ("c", b"3")]


def test_a_refused_fold_does_not_prolong_the_key(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=driver.ttl_s))
    driver.ask(FoldFields(key=TASK, put={"sum": b"s"}, drop={"a": b"other"}, ttl_s=3600))
    driver.expire()
    assert driver.ask(ReadFields(key=TASK)) == {}


def test_a_fold_may_put_the_field_that_it_drops(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"sum": b"old", "a": b"1"}))
    assert driver.ask(FoldFields(key=TASK, put={"sum": b"new"}, drop={"sum": b"old", "a": b"1"})) is True
    assert driver.ask(ReadFields(key=TASK)) == {"sum": b"new"}


def test_a_fold_that_leaves_nothing_removes_the_key(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    assert driver.ask(FoldFields(key=TASK, put={}, drop={"a": b"1"})) is True
    assert driver.ask(ListKeys(owner="u1")) == []


def test_of_many_folds_of_the_same_fields_one_is_done(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2"}))
    folds = [FoldFields(key=TASK, put={f"sum{number}": b"s"}, drop={"a": b"1", "b": b"2"}) for number in range(20)]
    assert sorted(driver.ask_together(folds)) == [False] * 19 + [True]
    assert len(driver.ask(ReadFields(key=TASK))) == 1


# --- counters ---


def test_a_counter_starts_at_zero_and_tells_its_new_value(driver: Driver):
    assert driver.ask(AddCount(key=TASK, name="turns")) == 1
    assert driver.ask(AddCount(key=TASK, name="turns", by=41)) == 42
    assert driver.ask(AddCount(key=TASK, name="turns", by=-50)) == -8
    assert driver.ask(ReadFields(key=TASK)) == {"turns": b"-8"}


def test_a_counter_goes_on_from_a_written_number(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"turns": b"9007199254740993"}))
    assert driver.ask(AddCount(key=TASK, name="turns", by=2)) == 9007199254740995


def test_a_counted_field_becomes_the_newest(driver: Driver):
    driver.ask(AddCount(key=TASK, name="a"))
    driver.ask(WriteFields(key=TASK, fields={"b": b"1"}))
    driver.ask(AddCount(key=TASK, name="a"))
    assert names(driver.ask(ReadFields(key=TASK))) == ["b", "a"]


@pytest.mark.parametrize("held", [b"many", b"", b"1.5", b" 7", b"007", b"1e3", str(2**63 - 1).encode()])
def test_adding_to_what_is_no_number_or_too_large_changes_nothing(driver: Driver, held: bytes):
    driver.ask(WriteFields(key=TASK, fields={"a": held, "b": b"1"}))
    with pytest.raises(StoreRejected):
        driver.ask(AddCount(key=TASK, name="a"))
    assert list(driver.ask(ReadFields(key=TASK)).items()) == [("a", held), ("b", b"1")]


def test_concurrent_additions_lose_none(driver: Driver):
    replies = driver.ask_together([AddCount(key=TASK, name="n") for _ in range(50)])
    assert sorted(replies) == list(range(1, 51))


# --- logs ---


def test_a_log_is_read_newest_first_or_oldest_first(driver: Driver):
    assert driver.ask(AppendLog(key=LOG, entries=(entry(2), entry(1), entry(3)))) == 3
    assert ids(driver.ask(ReadLog(key=LOG))) == ["e003", "e002", "e001"]
    assert ids(driver.ask(ReadLog(key=LOG, oldest_first=True))) == ["e001", "e002", "e003"]


def test_entries_of_the_same_moment_are_ordered_by_id(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=tuple(entry(number, minute=0) for number in (3, 1, 2))))
    assert ids(driver.ask(ReadLog(key=LOG))) == ["e003", "e002", "e001"]
    assert ids(driver.ask(ReadLog(key=LOG, oldest_first=True))) == ["e001", "e002", "e003"]


def test_an_entry_is_read_back_whole_to_the_microsecond(driver: Driver):
    moment = datetime(2025, 3, 10, 20, 0, 0, 123456, tzinfo=timezone(timedelta(hours=8)))
    said = LogEntry(id="é:{1}", at=moment, body=b"12:\x00\xff")
    driver.ask(AppendLog(key=LOG, entries=(said,)))
    assert driver.ask(ReadLog(key=LOG)) == [said]


@pytest.mark.parametrize(
    "moment", [datetime.min.replace(tzinfo=UTC), datetime(1969, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_an_entry_of_any_moment_is_read_back(driver: Driver, moment: datetime):
    driver.ask(AppendLog(key=LOG, entries=(LogEntry(id="a", at=moment, body=b""),)))
    assert driver.ask(ReadLog(key=LOG))[0].at == moment


def test_a_moment_without_timezone_is_refused_before_anything_is_written(driver: Driver):
    with pytest.raises(StoreRejected, match="timezone"):
        driver.ask(AppendLog(key=LOG, entries=(entry(1), LogEntry(id="naive", at=datetime(2025, 1, 1), body=b""))))
    assert driver.ask(ReadLog(key=LOG)) == []


def test_a_log_is_read_up_to_a_limit(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=tuple(map(entry, range(5)))))
    assert ids(driver.ask(ReadLog(key=LOG, limit=2))) == ["e004", "e003"]
    assert ids(driver.ask(ReadLog(key=LOG, limit=2, oldest_first=True))) == ["e000", "e001"]
    assert driver.ask(ReadLog(key=LOG, limit=0)) == []
    assert len(driver.ask(ReadLog(key=LOG, limit=99))) == 5


def test_an_entry_appended_again_keeps_its_first_body_and_moment(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=(entry(1, body=b"first"),)))
    assert driver.ask(AppendLog(key=LOG, entries=(entry(1, minute=9, body=b"second"), entry(2)))) == 1
    assert driver.ask(ReadLog(key=LOG, oldest_first=True)) == [entry(1, body=b"first"), entry(2)]


def test_an_id_twice_in_one_append_keeps_the_first(driver: Driver):
    assert driver.ask(AppendLog(key=LOG, entries=(entry(1, body=b"first"), entry(1, body=b"second")))) == 1
    assert [each.body for each in driver.ask(ReadLog(key=LOG))] == [b"first"]


def test_a_log_keeps_at_most_so_many_of_its_newest_entries(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=tuple(map(entry, range(5)))))
    assert driver.ask(AppendLog(key=LOG, entries=(entry(9), entry(8)), keep=3)) == 2
    assert ids(driver.ask(ReadLog(key=LOG))) == ["e009", "e008", "e004"]


def test_a_late_entry_older_than_all_kept_ones_does_not_push_them_out(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=tuple(map(entry, range(5, 8)))))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),), keep=3))
    assert ids(driver.ask(ReadLog(key=LOG))) == ["e007", "e006", "e005"]


def test_fifty_concurrent_appends_lose_none(driver: Driver):
    replies = driver.ask_together([AppendLog(key=LOG, entries=(entry(number),)) for number in range(50)])
    assert replies == [1] * 50
    assert ids(driver.ask(ReadLog(key=LOG, oldest_first=True))) == [f"e{number:03}" for number in range(50)]


def test_a_replaced_entry_keeps_its_place(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=(entry(1), entry(2), entry(3))))
    assert driver.ask(ReplaceEntry(key=LOG, id="e002", body=b"new:body")) is True
    assert driver.ask(ReadLog(key=LOG, oldest_first=True)) == [entry(1), entry(2, body=b"new:body"), entry(3)]


def test_replacing_an_entry_that_is_not_there_adds_none(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=(entry(1),)))
    assert driver.ask(ReplaceEntry(key=LOG, id="e999", body=b"new")) is False
    assert driver.ask(ReadLog(key=LOG)) == [entry(1)]


def test_dropping_entries_tells_how_many_there_were(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=tuple(map(entry, range(4)))))
    assert driver.ask(DropEntries(key=LOG, ids=("e000", "e002", "never"))) == 2
    assert driver.ask(DropEntries(key=LOG, ids=("e000",))) == 0
    assert ids(driver.ask(ReadLog(key=LOG))) == ["e003", "e001"]


def test_a_log_whose_last_entry_was_dropped_is_gone(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=(entry(1),)))
    driver.ask(DropEntries(key=LOG, ids=("e001",)))
    assert driver.ask(ListKeys(owner="u1")) == []


@pytest.mark.parametrize("request_", [ReadLog(key=LOG, limit=-1), AppendLog(key=LOG, entries=(), keep=-1)])
def test_a_negative_amount_is_refused(driver: Driver, request_: WorkingOp[object]):
    with pytest.raises(StoreRejected, match="-1"):
        driver.ask(request_)


# --- time to live ---


def test_an_expired_key_is_absent_everywhere(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=driver.ttl_s))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),), ttl_s=driver.ttl_s))
    driver.expire()
    assert driver.ask(ReadFields(key=TASK)) == {}
    assert driver.ask(ReadLog(key=LOG)) == []
    assert driver.ask(ListKeys(owner="u1")) == []
    assert driver.ask(DropFields(key=TASK, names=("a",))) == 0
    assert driver.ask(ReplaceEntry(key=LOG, id="e001", body=b"")) is False
    assert driver.ask(DeleteKeys(owner="u1")) == 0


def test_an_expired_key_written_again_starts_empty(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"old": b"1"}, ttl_s=driver.ttl_s))
    driver.ask(AddCount(key=LOG, name="n", by=7, ttl_s=driver.ttl_s))
    driver.expire()
    driver.ask(WriteFields(key=TASK, fields={"new": b"2"}))
    assert driver.ask(ReadFields(key=TASK)) == {"new": b"2"}
    assert driver.ask(AddCount(key=LOG, name="n")) == 1


def test_each_write_starts_the_time_to_live_anew(driver: Driver):
    counter = Key(owner="u1", kind=KeyKind.ACTIVITY, name="n")
    folded = Key(owner="u1", kind=KeyKind.WORKING, name="folded")
    for key in (TASK, counter, folded):
        driver.ask(WriteFields(key=key, fields={"a": b"1"}, ttl_s=driver.ttl_s))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),), ttl_s=driver.ttl_s))
    driver.ask(WriteFields(key=TASK, fields={"b": b"2"}, ttl_s=3600))
    driver.ask(AddCount(key=counter, name="a", ttl_s=3600))
    driver.ask(FoldFields(key=folded, put={"s": b""}, drop={"a": b"1"}, ttl_s=3600))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),), ttl_s=3600))
    driver.expire()
    assert driver.ask(ReadFields(key=TASK)) == {"a": b"1", "b": b"2"}
    assert driver.ask(ReadFields(key=counter)) == {"a": b"2"}
    assert driver.ask(ReadFields(key=folded)) == {"s": b""}
    assert ids(driver.ask(ReadLog(key=LOG))) == ["e001"]
    assert len(driver.ask(ListKeys(owner="u1"))) == 4


def test_a_write_without_time_to_live_keeps_the_key(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}, ttl_s=driver.ttl_s))
    driver.ask(WriteFields(key=TASK, fields={"a": b"2"}))
    driver.expire()
    assert driver.ask(ReadFields(key=TASK)) == {"a": b"2"}
    assert driver.ask(ListKeys(owner="u1")) == [TASK]


def test_a_time_to_live_may_be_shortened(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    driver.ask(AddCount(key=TASK, name="n", ttl_s=driver.ttl_s))
    driver.expire()
    assert driver.ask(ReadFields(key=TASK)) == {}


def test_requests_that_carry_no_time_to_live_leave_it_as_it_is(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1", "b": b"2"}, ttl_s=driver.ttl_s))
    driver.ask(AppendLog(key=LOG, entries=(entry(1), entry(2)), ttl_s=driver.ttl_s))
    driver.ask(DropFields(key=TASK, names=("b",)))
    driver.ask(ReplaceEntry(key=LOG, id="e001", body=b"new"))
    driver.ask(DropEntries(key=LOG, ids=("e002",)))
    driver.expire()
    assert driver.ask(ListKeys(owner="u1")) == []
    assert driver.ask(ReadFields(key=TASK)) == {}
    assert driver.ask(ReadLog(key=LOG)) == []


@pytest.mark.parametrize("ttl_s", [0.0, -1.0, float("nan"), float("inf"), 1e12])
def test_a_time_to_live_that_no_store_can_keep_is_refused(driver: Driver, ttl_s: float):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    with pytest.raises(StoreRejected, match="time to live"):
        driver.ask(WriteFields(key=TASK, fields={"a": b"2"}, ttl_s=ttl_s))
    assert driver.ask(ReadFields(key=TASK)) == {"a": b"1"}


# --- keys and owners ---


def test_keys_are_listed_of_one_kind_or_of_all(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),)))
    assert driver.ask(ListKeys(owner="u1")) == [LOG, TASK]
    assert driver.ask(ListKeys(owner="u1", kind=KeyKind.WORKING)) == [TASK]
    assert driver.ask(ListKeys(owner="u1", kind=KeyKind.HISTORY)) == []


def test_odd_owners_and_names_keep_apart_and_are_listed_as_they_were_given(driver: Driver):
    for owner in ODD:
        driver.ask(WriteFields(key=Key(owner=owner, kind=KeyKind.WORKING, name=owner), fields={"of": owner.encode()}))
    for owner in ODD:
        assert driver.ask(ListKeys(owner=owner)) == [Key(owner=owner, kind=KeyKind.WORKING, name=owner)]
        assert driver.ask(ReadFields(key=Key(owner=owner, kind=KeyKind.WORKING, name=owner))) == {"of": owner.encode()}
        assert driver.ask(DeleteKeys(owner=owner)) == 1
        assert driver.ask(ListKeys(owner=owner)) == []


def test_odd_names_of_one_owner_keep_apart(driver: Driver):
    odd = (*ODD, "", "s1:order", "s1:bodies", "s1")
    keys = [Key(owner="team-7:a.b#{x}|é", kind=KeyKind.SESSION, name=name) for name in odd]
    for key in keys:
        driver.ask(AppendLog(key=key, entries=(LogEntry(id="e", at=NOON, body=key.name.encode()),)))
    assert driver.ask(ListKeys(owner=keys[0].owner)) == sorted(keys, key=lambda key: key.name)
    assert [driver.ask(ReadLog(key=key))[0].body for key in keys] == [name.encode() for name in odd]


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_text_that_is_not_unicode_is_refused(driver: Driver, text: str):
    with pytest.raises(StoreRejected):
        driver.ask(WriteFields(key=Key(owner="u1", kind=KeyKind.WORKING, name=text), fields={"a": b"1"}))
    with pytest.raises(StoreRejected):
        driver.ask(WriteFields(key=TASK, fields={"fine": b"0", text: b"1"}))
    assert driver.ask(ListKeys(owner="u1")) == []


def test_two_owners_with_the_same_names_never_see_each_other(driver: Driver):
    for owner in ("u1", "u11", "u"):
        driver.ask(WriteFields(key=Key(owner=owner, kind=KeyKind.WORKING, name="t1"), fields={"of": owner.encode()}))
    for owner in ("u1", "u11", "u"):
        key = Key(owner=owner, kind=KeyKind.WORKING, name="t1")
        assert driver.ask(ListKeys(owner=owner)) == [key]
        assert driver.ask(ReadFields(key=key)) == {"of": owner.encode()}


def test_deleting_all_keys_of_one_owner_leaves_the_others(driver: Driver):
    other = Key(owner="u2", kind=KeyKind.WORKING, name="t1")
    for key in (TASK, other):
        driver.ask(WriteFields(key=key, fields={"a": b"1"}))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),), ttl_s=3600))
    assert driver.ask(DeleteKeys(owner="u1")) == 2
    assert driver.ask(DeleteKeys(owner="u1")) == 0
    assert driver.ask(ListKeys(owner="u1")) == []
    assert driver.ask(ReadFields(key=TASK)) == {}
    assert driver.ask(ReadLog(key=LOG)) == []
    assert driver.ask(ReadFields(key=other)) == {"a": b"1"}


def test_deleting_named_keys_leaves_the_rest_of_the_owner(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    driver.ask(AppendLog(key=LOG, entries=(entry(1),)))
    missing = Key(owner="u1", kind=KeyKind.HISTORY, name="never")
    assert driver.ask(DeleteKeys(owner="u1", keys=(LOG, missing))) == 1
    assert driver.ask(DeleteKeys(owner="u1", keys=())) == 0
    assert driver.ask(ListKeys(owner="u1")) == [TASK]


def test_a_deleted_log_that_is_written_again_starts_empty(driver: Driver):
    driver.ask(AppendLog(key=LOG, entries=(entry(1, body=b"first"),)))
    driver.ask(DeleteKeys(owner="u1"))
    assert driver.ask(AppendLog(key=LOG, entries=(entry(1, body=b"second"),))) == 1
    assert driver.ask(ReadLog(key=LOG)) == [entry(1, body=b"second")]


def test_a_request_to_delete_the_key_of_another_owner_deletes_nothing(driver: Driver):
    driver.ask(WriteFields(key=TASK, fields={"a": b"1"}))
    mine = Key(owner="u2", kind=KeyKind.WORKING, name="t1")
    driver.ask(WriteFields(key=mine, fields={"a": b"1"}))
    with pytest.raises(StoreRejected, match="another owner"):
        driver.ask(DeleteKeys(owner="u2", keys=(mine, TASK)))
    assert driver.ask(ReadFields(key=TASK)) == {"a": b"1"}
    assert driver.ask(ReadFields(key=mine)) == {"a": b"1"}


def test_many_keys_are_deleted_at_once(driver: Driver):
    keys = [Key(owner="u1", kind=KeyKind.SESSION, name=f"s{number}") for number in range(300)]
    driver.ask_together([AppendLog(key=key, entries=(entry(1),)) for key in keys])
    assert driver.ask(DeleteKeys(owner="u1")) == 300
    assert driver.ask(ListKeys(owner="u1")) == []
