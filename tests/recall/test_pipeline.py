"""What a recall brings back, and what it never does."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.ops import SearchUnits
from hindsight_langgraph.plan import adrive, drive
from hindsight_langgraph.recall.pipeline import RecallTools, recall_units
from hindsight_langgraph.recall.recollection import Query, Stage, Standing
from hindsight_langgraph.records import (
    CausalRole,
    Kind,
    MemoryUnit,
    Precision,
    Region,
    Role,
    Scope,
    Status,
    Tier,
    TimeAnchor,
    Triple,
    Turn,
    shared_owner,
)
from tests.memory.opening import open_memory
from tests.recall.stores import ALICE, NOW, T0, Remembering, unit

DAY = timedelta(days=1)


def test_what_was_remembered_is_recalled_in_english(memory: Remembering) -> None:
    memory.put(unit("a", "The project Heron deploys on Fridays."), unit("b", "The user likes oranges."))
    assert memory.recall("When does Heron deploy?").units[0].id == "a"


def test_what_was_remembered_is_recalled_in_chinese(memory: Remembering) -> None:
    memory.put(unit("a", "用户不吃香菜。"), unit("b", "测试环境每天夜里重启。"))
    assert memory.recall("我吃香菜吗？").units[0].id == "a"


def test_one_user_never_sees_the_memory_of_another(memory: Remembering) -> None:
    memory.put(unit("a", "Project Heron deploys on Fridays."), unit("b", "Project Heron deploys on Mondays.", user="bob"))
    found = memory.recall("When does Heron deploy?", scope=Scope(user_id="bob"))
    assert {u.id for u in found.units} | {d.unit.id for d in found.dropped} == {"b"}


def test_a_shared_scope_is_read_by_those_who_may(memory: Remembering) -> None:
    memory.put(unit("s", "The team's retro is on Thursdays.", owner=shared_owner("team")))
    assert memory.recall("When is the retro?", scope=Scope(user_id="alice", shared=("team",))).units[0].id == "s"


def test_a_shared_scope_is_not_read_by_others(memory: Remembering) -> None:
    memory.put(unit("s", "The team's retro is on Thursdays.", owner=shared_owner("team")))
    assert not memory.recall("When is the retro?").units


def _moved(memory: Remembering) -> None:
    memory.put(
        unit("old", "The user lives in Tartu.", status=Status.SUPERSEDED, superseded_by="new", valid_to=T0 + 5 * DAY, updated_at=T0 + 5 * DAY),
        unit("new", "The user lives in Riga.", at=T0 + 5 * DAY),
    )  # fmt: skip


def test_a_superseded_unit_is_left_out(memory: Remembering) -> None:
    _moved(memory)
    assert [u.id for u in memory.recall("Where does the user live?").units] == ["new"]


def test_a_question_about_the_past_gets_what_was_superseded_marked_as_history(memory: Remembering) -> None:
    _moved(memory)
    found = memory.recall("Where did the user originally live?")
    assert {item.unit.id: item.standing for item in found.items}["old"] is Standing.HISTORY


def test_history_is_marked_in_the_text(memory: Remembering) -> None:
    _moved(memory)
    line = next(line for line in memory.recall("Where did the user originally live?").text.splitlines() if "Tartu" in line)
    assert "no longer true since 2025-03-15" in line


def test_an_expired_unit_is_left_out(memory: Remembering) -> None:
    memory.put(unit("v", "The voucher code gives the user ten percent.", valid_to=NOW - DAY))
    found = memory.recall("Does the user have a voucher code?")
    assert not found.units
    assert found.dropped[0].reason == "superseded or expired"


def test_as_of_answers_from_what_was_valid_then(memory: Remembering) -> None:
    _moved(memory)
    found = memory.recall("Where does the user live?", as_of=T0 + DAY)
    assert [(item.unit.id, item.standing) for item in found.items] == [("old", Standing.CURRENT)]


def test_as_of_holds_where_the_clock_lags_behind_the_messages(memory: Remembering) -> None:
    past: dict[str, Any] = {"updated_at": T0 - 100 * DAY, "created_at": T0 - 100 * DAY}
    memory.put(
        unit("old", "The user lives in Tartu.", status=Status.SUPERSEDED, superseded_by="new", valid_to=T0 + 5 * DAY, **past),
        unit("new", "The user lives in Riga.", at=T0 + 5 * DAY, **past),
    )
    found = memory.recall("Where does the user live?", as_of=T0 + DAY)
    assert [(item.unit.id, item.standing) for item in found.items] == [("old", Standing.CURRENT)]


@pytest.mark.parametrize("question", ["Where did the user use to live?", "Where did the user live before?", "用户以前住在哪里？"])
def test_what_used_to_be_is_asked_for_in_many_words(memory: Remembering, question: str) -> None:
    memory.put(
        unit(
            "old",
            "The user lives in Tartu. 用户住在塔尔图。",
            status=Status.SUPERSEDED,
            superseded_by="new",
            valid_to=T0 + 5 * DAY,
        ),
        unit("new", "The user moved to Riga. 用户搬到了里加。", at=T0 + 5 * DAY),
    )
    assert "old" in {item.unit.id for item in memory.recall(question).items if item.standing is Standing.HISTORY}


def test_a_question_about_a_past_day_is_answered_by_what_held_on_it(memory: Remembering) -> None:
    def home(id_: str, city: str, *, since: int, until: int | None) -> MemoryUnit:
        start, end = T0 + since * DAY, None if until is None else T0 + until * DAY
        return unit(
            id_, f"The user lives in {city}.", at=start, valid_from=start, valid_to=end, updated_at=end or start,
            status=Status.ACTIVE if end is None else Status.SUPERSEDED, triple=Triple(subject="user", attribute="home", value=city),
            anchor=TimeAnchor(start=start, end=start + DAY, precision=Precision.DAY),
        )  # fmt: skip

    memory.put(
        home("a", "Tartu", since=0, until=20), home("b", "Riga", since=20, until=80), home("c", "Vilnius", since=80, until=None)
    )
    found = memory.recall("Where did the user live on 2025-04-25?", now=T0 + 100 * DAY)  # day 46
    assert found.units[0].id == "b"
    assert {d.unit.id: d.reason for d in found.dropped}["a"] == "had ended by the time asked about"


def test_as_of_knows_nothing_that_was_said_later(memory: Remembering) -> None:
    _moved(memory)
    assert not memory.recall("Where does the user live?", as_of=T0 - DAY).units


def test_an_older_statement_about_the_same_is_shown_as_history_though_nobody_marked_it(memory: Remembering) -> None:
    memory.put(
        unit("old", "Order 88 takes 40 loaves.", triple=Triple(subject="order 88", attribute="quantity", value="40")),
        unit("new", "Order 88 restarts with 30 loaves.", at=T0 + DAY, triple=Triple(subject="Order 88", attribute="status and quantity", value="30")),
    )  # fmt: skip
    standing = {item.unit.id: item.standing for item in memory.recall("How many loaves for order 88?").items}
    assert standing == {"new": Standing.CURRENT, "old": Standing.HISTORY}


def test_what_was_forgotten_is_never_recalled(memory: Remembering) -> None:
    memory.put(unit("p", "The user's phone ends in 4417.", sources=("t1",)))
    for forgotten in ("p", "t1"):
        found = memory.recall("What does the phone end in?", tools=RecallTools(forgotten=frozenset({forgotten})))
        assert "4417" not in found.text


def test_a_request_to_forget_is_not_repeated_to_the_model(memory: Remembering) -> None:
    memory.put(unit("c", "The user asked to forget where the spare key lies.", kind=Kind.CORRECTION), unit("o", "The user rows."))
    found = memory.recall("Where does the spare key lie?")
    assert found.text == ""
    assert found.abstained == "what was known of it has been taken back"


def test_noise_is_never_recalled(memory: Remembering) -> None:
    memory.put(unit("n", "The build log was long.", role=CausalRole.NOISE))
    assert not memory.recall("How long was the build log?").units


def _proven(memory: Remembering) -> None:
    memory.put(
        unit("plain", "The build needs the staging key."),
        unit("cause", "The build needs the staging tokens.", role=CausalRole.DIRECT_CAUSE),
        unit("context", "The build farm has a token queue in the cellar.", role=CausalRole.CONTEXT),
    )


def test_what_decided_a_task_comes_before_what_fits_as_well(memory: Remembering) -> None:
    _proven(memory)
    found = memory.recall("What does the build need?", preset="balanced", dynamic_cut=False)
    assert [u.id for u in found.units][:2] == ["cause", "plain"]


@pytest.mark.parametrize(("question", "there"), [("What does the build need?", False), ("Why does the build need it?", True)])
def test_context_is_told_where_background_is_asked_for(memory: Remembering, question: str, there: bool) -> None:
    _proven(memory)
    found = memory.recall(question, dynamic_cut=False, cut_soft_gap=0.01)
    assert ("context" in {u.id for u in found.units}) is there


def test_context_that_is_itself_the_answer_is_told(memory: Remembering) -> None:
    _proven(memory)
    assert memory.recall("Where does the build farm have its token queue?").units[0].id == "context"


def test_another_domain_is_left_out_where_the_task_has_one(memory: Remembering) -> None:
    memory.put(unit("c", "The oven in the kitchen runs hot.", domain="cooking"), unit("g", "The user likes hot tea."))
    found = memory.recall("What runs hot?", scope=Scope(user_id="alice", domain="coding"))
    assert [d.reason for d in found.dropped if d.unit.id == "c"] == ["of another domain: cooking"]


def test_a_task_may_read_several_domains_and_no_other(memory: Remembering) -> None:
    memory.put(
        *(unit(name, f"The deadline in {name} is on Friday.", domain=name) for name in ("cooking", "code", "writing")),
        unit("any", "The deadline for taxes is on Friday."),
    )
    scope = Scope(user_id="alice", domain="code", more_domains=("writing",))
    assert {u.id for u in memory.recall("Which deadline is on Friday?", scope=scope).ranking} == {"code", "writing", "any"}


def test_only_the_regions_asked_for_are_searched(memory: Remembering) -> None:
    memory.put(
        unit("s", "Heron has a runbook."),
        unit("p", "To restart Heron, drain it first.", region=Region.PROCEDURAL, kind=Kind.PROCEDURE),
    )
    found = memory.recall("Heron restart", regions=(Region.PROCEDURAL,))
    assert {u.id for u in found.units} | {d.unit.id for d in found.dropped} == {"p"}


def test_without_an_embedding_model_words_find_and_the_answer_says_so(memory: Remembering) -> None:
    memory.put(unit("a", "The user keeps bees."))
    found = memory.recall("Who keeps bees?", tools=RecallTools(embeds=False))
    assert [u.id for u in found.units] == ["a"]
    assert found.degraded == ("no embedding model: found by words alone",)


def test_a_model_that_is_down_costs_its_channel_alone(memory: Remembering) -> None:
    memory.put(unit("a", "The user keeps bees."))
    memory.model_down = True
    found = memory.recall("Who keeps bees?")
    assert [u.id for u in found.units] == ["a"]
    assert "the model is down" in found.degraded[0]


def test_a_query_vector_of_another_length_costs_its_channel_alone(memory: Remembering) -> None:
    memory.put(unit("a", "The user keeps bees."))
    memory.wrong_length = True
    found = memory.recall("Who keeps bees?")
    assert [u.id for u in found.units] == ["a"]
    assert any("channel dense" in reason for reason in found.degraded)


@pytest.mark.parametrize("config", [{"max_tokens": 0}, {"max_items": 0}])
def test_a_budget_of_nothing_asks_nothing(memory: Remembering, config: dict[str, Any]) -> None:
    memory.put(unit("a", "The user keeps bees."))
    found = memory.recall("Who keeps bees?", **config)
    assert (found.text, memory.asked) == ("", [])


def test_a_plugged_in_counter_rules_the_budget(tmp_path: Path) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 2 * len(text)  # far more than the estimate

    config = RecallConfig(max_tokens=420)
    with open_memory(tmp_path, recall=config, token_counter=count) as memory:
        memory.remember([("user", "I prefer window seats on trains."), ("user", "I prefer aisle seats on planes.")], scope="u")
        found = memory.recall("Which seats do I prefer on trains and planes?", scope="u")
    assert found.text in counted
    assert 0 < found.tokens == 2 * len(found.text) <= 420
    assert len(found.units) < 2


def test_a_blank_query_asks_nothing(memory: Remembering) -> None:
    assert (memory.recall("  \n").text, memory.asked) == ("", [])


def test_the_task_is_part_of_the_query(memory: Remembering) -> None:
    memory.put(unit("a", "The staging gateway of Heron listens on port 8410."))
    query = Query(text="Which port?", goal="configure the staging gateway of Heron", sub_step="write the config")
    found = drive(recall_units(query, scope=ALICE, now=NOW, config=RecallConfig(), tools=RecallTools()), memory.answer)
    assert [u.id for u in found.units] == ["a"]


def test_the_present_session_is_recalled_before_it_is_written(memory: Remembering) -> None:
    turn = Turn(id="t9", role=Role.USER, text="My blood type is B negative.", at=NOW - DAY)
    assert "B negative" in memory.recall("What is my blood type?", session=(turn,)).text


def test_a_turn_that_was_written_is_not_recalled_twice(memory: Remembering) -> None:
    memory.put(unit("a", "The user's blood type is B negative.", sources=("t9",)))
    turn = Turn(id="t9", role=Role.USER, text="My blood type is B negative.", at=NOW - DAY)
    assert [u.id for u in memory.recall("What is my blood type?", session=(turn,)).units] == ["a"]


def test_a_turn_that_says_what_was_superseded_since_is_not_recalled(memory: Remembering) -> None:
    memory.put(unit("a", "The user's blood type is A.", sources=("t9",), status=Status.SUPERSEDED))
    turn = Turn(id="t9", role=Role.USER, text="My blood type is A.", at=NOW - DAY)
    assert not memory.recall("What is my blood type?", session=(turn,)).units


def test_the_present_session_costs_no_search_of_its_own(memory: Remembering) -> None:
    turn = Turn(id="t9", role=Role.USER, text="My blood type is B negative.", at=NOW - DAY)
    memory.recall("What is my blood type?", session=(turn,))
    assert sum(isinstance(op, SearchUnits) for op in memory.asked) == 1


def test_a_turn_from_before_the_window_is_left_out(memory: Remembering) -> None:
    turn = Turn(id="t9", role=Role.USER, text="My blood type is B negative.", at=NOW - 8 * DAY)
    assert not memory.recall("What is my blood type?", session=(turn,)).units


def test_cold_storage_is_searched_for_the_distant_past_alone(memory: Remembering) -> None:
    memory.put(unit("c", "The user's first bicycle was green.", tier=Tier.ARCHIVE), collection="cold")
    assert not memory.recall("What colour is the bicycle?").units
    assert [u.id for u in memory.recall("What colour was the bicycle years ago?").units] == ["c"]


def test_every_candidate_is_accounted_for(memory: Remembering) -> None:
    memory.put(*(unit(f"u{i}", f"The shop sells kind {i} of bread.") for i in range(12)))
    found = memory.recall("Which bread does the shop sell?")
    assert {u.id for u in found.units} | {d.unit.id for d in found.dropped} == {f"u{i}" for i in range(12)}


def test_the_same_said_twice_is_injected_once(memory: Remembering) -> None:
    memory.put(unit("a", "The shop opens at nine."), unit("b", "The shop opens at nine."))
    found = memory.recall("When does the shop open?")
    assert len(found.units) == 1
    assert [d.stage for d in found.dropped] == [Stage.REPEAT]


def test_explain_names_every_term_of_every_candidate(memory: Remembering) -> None:
    memory.put(unit("a", "The shop opens at nine."), unit("b", "The shop is closed on Mondays."))
    told = memory.recall("When does the shop open?").explain()
    assert all(
        f"{name}=" in line for name in ("dense", "text", "entity", "region") for line in told.splitlines() if line[0] in "+-"
    )


async def test_the_awaiting_twin_recalls_the_same(memory: Remembering) -> None:
    memory.put(unit("a", "The shop opens at nine."), unit("b", "The user rows."))
    plan = recall_units(Query(text="When does the shop open?"), scope=ALICE, now=NOW, config=RecallConfig(), tools=RecallTools())
    assert await adrive(plan, memory.aanswer) == memory.recall("When does the shop open?")


@given(text=st.text(max_size=300))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_question_breaks_recall_or_its_budget(memory: Remembering, text: str) -> None:
    if not memory.asked:
        memory.put(unit("a", "The shop opens at nine."), unit("b", "用户喜欢喝茶。"))
    assert memory.recall(text, max_tokens=60).tokens <= 60


def test_the_log_keeps_every_candidate_with_its_fate_and_no_unit(memory: Remembering) -> None:
    memory.put(*(unit(f"u{i}", f"The shop sells kind {i} of bread.") for i in range(12)))
    found = memory.recall("Which bread does the shop sell?")
    logged = json.loads(found.log_entry())
    assert {entry["id"] for entry in logged["items"] + logged["dropped"]} == {f"u{i}" for i in range(12)}
    assert all(entry["terms"] for entry in logged["items"])
    assert b"sells kind" not in found.log_entry()
