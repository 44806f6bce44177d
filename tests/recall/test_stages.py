"""The pure stages of recall, one by one."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.errors import ConfigError, StoreCorrupt
from hindsight_langgraph.ops import Where
from hindsight_langgraph.recall import abstain, route_head
from hindsight_langgraph.recall.abstain import AbstentionHead
from hindsight_langgraph.recall.channels import Candidate, build_probes, merge, readable
from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.cut import cut_rank
from hindsight_langgraph.recall.decay import NEUTRAL, decay, rate_of_half_life
from hindsight_langgraph.recall.digest import digest
from hindsight_langgraph.recall.facts import HISTORY_WEIGHT, Facts
from hindsight_langgraph.recall.filter import overtaken, standing_at
from hindsight_langgraph.recall.naming import is_rival, named_things
from hindsight_langgraph.recall.recollection import Item, Query, Question, Route, Standing
from hindsight_langgraph.recall.route import by_rules, route
from hindsight_langgraph.recall.score import score
from hindsight_langgraph.recall.terms import weights
from hindsight_langgraph.records import (
    CausalRole,
    Episode,
    EpisodeEvent,
    Hit,
    Kind,
    Precision,
    Region,
    Scope,
    Status,
    TimeAnchor,
    Triple,
)
from tests.recall.stores import ALICE, NOW, T0, unit

DAY = timedelta(days=1)
FLAT = Route(scores={}, best=Region.SEMANTIC, regions=tuple(Region), sure=False, by="rules")


def cues(text: str, **fields):
    return read_cues(Query(text=text, **fields), now=NOW)


# --- decay (CASES O22) ---------------------------------------------------------------------------------------------------

THIRTY = rate_of_half_life(30)


@pytest.mark.parametrize(
    ("moment", "factor"),
    [
        ("2025-03-20T09:00:00+00:00", 1.0),
        ("2025-02-08T09:00:00+00:00", 0.5),
        ("2025-01-09T09:00:00Z", 0.25),
        ("2025-02-08T09:00:00", 0.5),
        ("2025-02-08T17:00:00+08:00", 0.5),
        ("not a date", NEUTRAL),
        (None, NEUTRAL),
    ],
)
def test_decay_reads_every_form_of_a_moment(moment: str | None, factor: float) -> None:
    assert decay(moment, T0, per_day=THIRTY) == pytest.approx(factor)


@given(st.datetimes(timezones=st.just(UTC)), st.floats(min_value=0, max_value=10))
def test_decay_is_finite_and_from_zero_to_one(moment: datetime, rate: float) -> None:
    assert 0.0 <= decay(moment, T0, per_day=rate) <= 1.0


@pytest.mark.parametrize("days", [0, -1, math.nan, math.inf])
def test_a_half_life_of_nothing_is_refused(days: float) -> None:
    with pytest.raises(ConfigError):
        rate_of_half_life(days)


# --- cues ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("How did the audit end?", Question.OUTCOME),
        ("那次招标最后怎么样了？", Question.OUTCOME),
        ("When did I last water the fern?", Question.LATEST),
        ("最近一次体检是什么情况", Question.LATEST),
        ("What was the plan originally?", Question.EARLIEST),
        ("How can I reset the meter?", Question.HOW_TO),
        ("怎么办理退款", Question.HOW_TO),
        ("Which port is it?", Question.STATE),
    ],
)
def test_the_kind_of_question_is_read_in_both_languages(text: str, question: Question) -> None:
    assert cues(text).question is question


def test_relative_times_are_read_against_the_present() -> None:
    assert [t.start.date().isoformat() for t in cues("What happened on 2025-03-12?").times] == ["2025-03-12"]


def test_things_the_caller_names_are_cues_as_well() -> None:
    assert "heron" in cues("Which port?", entities=("Heron",)).entities


@pytest.mark.parametrize("text", ["Where did I live before?", "我以前住哪里", "What was the old limit?", "When was it decided?"])
def test_questions_about_the_past_may_be_answered_by_what_was_superseded(text: str) -> None:
    assert cues(text).backward


def test_other_questions_are_answered_by_what_holds_alone() -> None:
    assert not cues("Where do I live?").backward


@pytest.mark.parametrize("text", ["Did we talk about it years ago?", "很久以前我养过什么"])
def test_the_distant_past_is_recognised(text: str) -> None:
    assert cues(text).distant


# --- route ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("Which steps lead to a rollback?", Region.PROCEDURAL),
        ("导出报表的步骤", Region.PROCEDURAL),
        ("What did she say yesterday?", Region.EPISODIC),
        ("上次开会说了什么", Region.EPISODIC),
        ("What is the default port?", Region.SEMANTIC),
        ("默认端口是什么", Region.SEMANTIC),
        ("How did we fix it last time?", Region.PROCEDURAL),
    ],
)
def test_rules_route_in_both_languages_with_procedures_before_episodes_before_facts(text: str, region: Region) -> None:
    assert route(cues(text), words=text, vector=None, head=None, asked=None).best is region


def test_an_unsure_route_searches_every_region() -> None:
    found = route(cues("hm"), words="hm", vector=None, head=None, asked=None)
    assert (found.sure, found.regions) == (False, tuple(Region))


def test_a_past_reference_adds_three_tenths_to_episodes() -> None:
    with_past, without = cues("before"), cues("before").model_copy(update={"past": False})
    gained = by_rules("before", with_past)[Region.EPISODIC] - by_rules("before", without)[Region.EPISODIC]
    assert gained == pytest.approx(0.3)


def test_a_plugged_in_router_decides() -> None:
    class Always:
        name = "mine"

        def __call__(self, text, vector, /):
            return {Region.PROCEDURAL: 0.9}

    found = route(cues("x"), words="x", vector=None, head=Always(), asked=None)
    assert (found.best, found.by) == (Region.PROCEDURAL, "mine")


def test_the_shipped_head_needs_a_vector_of_its_model() -> None:
    head = route_head.shipped_head("multilingual-e5-small-q4")
    assert head is not None
    assert head("How do I reset it?", None) is None
    assert head("How do I reset it?", [0.0] * 16) is None


def test_a_head_survives_being_saved(tmp_path: Path) -> None:
    head = route_head.shipped_head("multilingual-e5-small-q4")
    assert head is not None
    head.save(tmp_path / "head.npz")
    vector = np.linspace(-0.1, 0.1, len(head.mean)).tolist()
    assert route_head.read_head(tmp_path / "head.npz")("Which port?", vector) == pytest.approx(head("Which port?", vector))


@pytest.mark.parametrize("read", [route_head.read_head, abstain.read_head])
def test_what_is_no_head_is_refused(tmp_path: Path, read) -> None:
    (tmp_path / "head").write_bytes(b"nothing")
    with pytest.raises(StoreCorrupt, match="fit"):
        read(tmp_path / "head")


def test_an_abstention_head_survives_being_saved(tmp_path: Path) -> None:
    head = AbstentionHead(model="m", cosine_floor=0.7, weights={"likeness": 2.0}, bias=-1.0, threshold=0.3)
    head.save(tmp_path / "head.json")
    assert abstain.read_head(tmp_path / "head.json") == head


# --- channels ------------------------------------------------------------------------------------------------------------


def test_every_probe_is_bound_to_those_whom_the_caller_may_read() -> None:
    scope = Scope(user_id="alice", shared=("team",))
    read, config = cues("What did Heron do on 2025-03-12?"), RecallConfig()
    where = readable(FLAT, scope=scope, config=config, as_of=None)
    assert where.owners == scope.readers
    assert {probe.where.owners for probe in build_probes(read, (1.0,), where=where, config=config).values()} == {scope.readers}


def test_a_time_cue_opens_a_window() -> None:
    probes = build_probes(cues("What happened on 2025-03-12?"), (1.0,), where=Where(owners=ALICE.readers), config=RecallConfig())
    window = probes["said"].where
    assert window.said_from is not None
    assert window.said_before is not None
    assert window.said_from < datetime(2025, 3, 12, tzinfo=UTC) < window.said_before


def test_a_unit_that_two_channels_found_is_one_candidate_with_both_scores() -> None:
    found = merge(
        {"dense": [Hit(unit=unit("a", "x"), score=0.8)], "text": [Hit(unit=unit("a", "x"), score=3.0)]}, walks_by="dense"
    )
    assert [dict(c.channels) for c in found] == [{"dense": 0.8, "text": 3.0}]


# --- terms and scores ----------------------------------------------------------------------------------------------------


def scored(preset: Any, *units, text: str = "port", cosine: float = 0.5):
    candidates = [Candidate(unit=u, channels={"dense": cosine}) for u in units]
    return score(candidates, cues(text), FLAT, now=NOW, config=RecallConfig(preset=preset))


def test_balanced_is_cosine_importance_and_recency() -> None:
    one = unit("a", "x", base_importance=0.9, confirmations=2)
    importance = min(1.0, 0.9 * 1.2 * math.exp(-0.01 * 10))
    assert scored("balanced", one)[0].score == pytest.approx(0.6 * 0.5 + 0.25 * importance + 0.15 * math.exp(-0.02 * 10))


def test_decay_scales_the_cosine_by_age_at_the_regions_rate() -> None:
    assert scored("decay", unit("a", "x"))[0].score == pytest.approx(0.5 * math.exp(-0.01 * 10))


def test_associative_does_not_fade_what_is_important() -> None:
    faded, kept = (scored("associative", unit("a", "x", importance=value))[0].score for value in (0.5, 0.9))
    assert faded == pytest.approx(0.5 * math.exp(-0.01 * 10))
    assert kept == pytest.approx(0.5)


def test_causal_keeps_a_floor_under_the_recency_of_a_cause() -> None:
    old: dict[str, Any] = {"at": NOW - 400 * DAY, "importance": 0.9}
    cause, noise = (
        scored("causal", unit("a", "x", role=role, **old))[0].score for role in (CausalRole.DIRECT_CAUSE, CausalRole.NOISE)
    )
    access = 1 / (1 + 0.1 * math.log1p(20))
    assert cause == pytest.approx(0.4 * 0.5 + 0.35 * 0.9 + 0.15 * 0.5 + 0.1 * access)
    assert noise == pytest.approx(0.4 * 0.5 + 0.15 * math.exp(-0.02 * 400) + 0.1 * access)


def test_weighted_normalises_the_weights_over_the_candidates() -> None:
    best, worst = scored("weighted", unit("a", "x", confidence=1.0, references=50), unit("b", "x", confidence=0.2))
    assert (best.terms["weight"], worst.terms["weight"]) == (1.0, 0.0)


def test_a_superseded_unit_weighs_a_tenth_at_most() -> None:
    old = unit("a", "x", status=Status.SUPERSEDED, confidence=1.0, references=50)
    assert weights([Facts(old)], NOW, per_day=0.0).tolist() == [HISTORY_WEIGHT]


@given(
    st.lists(
        st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2060, 1, 1), timezones=st.just(UTC)),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["fused", "balanced", "decay", "weighted", "associative", "causal"]),
)
def test_scores_are_finite_and_in_one_order_whatever_the_clocks_say(moments: list[datetime], preset: Any) -> None:
    found = scored(preset, *(unit(str(i), "x", at=moment) for i, moment in enumerate(moments)))
    values = [s.score for s in found]
    assert all(math.isfinite(v) for v in values)
    assert values == sorted(values, reverse=True)


def test_failure_and_preference_are_scaled_where_the_store_has_no_annotations() -> None:
    failed = unit("a", "x", kind=Kind.EPISODE, episode=Episode(goal="x", success=False))
    plain = scored("balanced", failed)[0].score
    config = RecallConfig(preset="balanced", failure_factor=0.5)
    halved = score([Candidate(unit=failed, channels={"dense": 0.5})], cues("port"), FLAT, now=NOW, config=config)[0].score
    assert halved == pytest.approx(plain / 2)


def test_a_failure_gains_where_the_situation_is_worded_like_its_own() -> None:
    failed: dict[str, Any] = {"kind": Kind.EPISODE, "content": "port is taken"}
    one = unit("a", **failed, episode=Episode(goal="x", success=False))
    other = unit("b", **failed, episode=Episode(goal="x", success=True))
    assert [s.unit.id for s in scored("balanced", other, one, text="the port is taken")] == ["a", "b"]


# --- things --------------------------------------------------------------------------------------------------------------


def test_a_name_inside_a_longer_one_is_another_thing() -> None:
    units = [unit("a", "x", entities=("heron",)), unit("b", "x", entities=("heron lite",))]
    assert named_things("the cap of Heron Lite", units) == {"heron lite"}
    named = named_things("the cap of Heron", units)
    things = frozenset({"heron", "heron lite"})
    assert [is_rival(u, named, things) for u in units] == [False, True]


def test_a_name_is_a_whole_word() -> None:
    assert named_things("the heronry", [unit("a", "x", entities=("heron",))]) == frozenset()


# --- standing ------------------------------------------------------------------------------------------------------------


def test_an_announced_change_makes_history_at_once() -> None:
    old = unit("a", "x", status=Status.SUPERSEDED, updated_at=T0 + DAY, valid_to=T0 + 30 * DAY)
    assert standing_at(old, T0 + 2 * DAY) is Standing.HISTORY


def test_a_second_value_of_many_overtakes_nothing() -> None:
    told = [
        unit(str(i), "x", at=T0 + i * DAY, triple=Triple(subject="user", attribute="speaks", value=v, multi_valued=True))
        for i, v in enumerate(("English", "Chinese"))
    ]
    assert overtaken(told) == frozenset()


# --- cut -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "stay"),
    [
        ([0.9, 0.7, 0.69], 1),
        ([0.9, 0.84, 0.83, 0.82], 2),
        ([0.9, 0.89, 0.7], 2),
        ([0.90, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84], 5),
        ([0.9], 1),
        ([], 0),
    ],
)
def test_the_cut_falls_at_the_first_gap(scores: list[float], stay: int) -> None:
    assert cut_rank(scores, RecallConfig()) == stay


@given(st.lists(st.floats(min_value=-1, max_value=2), max_size=40))
def test_the_cut_keeps_some_but_no_more_than_ten(scores: list[float]) -> None:
    stay = cut_rank(sorted(scores, reverse=True), RecallConfig())
    assert min(len(scores), 1) <= stay <= min(len(scores), 10)


# --- digest --------------------------------------------------------------------------------------------------------------


def told(one, topics: tuple[str, ...] = ()):
    return digest(Item(unit=one, score=1.0, terms={}), topics)


def test_an_episode_is_told_as_situation_action_and_result() -> None:
    episode = Episode(
        goal="deploy Heron", events=(EpisodeEvent(step=1, kind="tool", content="ran the migration"),), outcome="rolled back"
    )
    text = told(unit("e", "x", kind=Kind.EPISODE, episode=episode)).text
    assert text == "situation: deploy Heron / action: ran the migration / result: rolled back"


def test_a_long_turn_is_cut_to_the_sentences_that_answer() -> None:
    filler = " ".join(f"Sentence number {i} is about nothing at all." for i in range(40))
    text = told(unit("r", f"{filler} My blood type is B negative. {filler}", raw=True), ("blood", "type")).text
    assert "My blood type is B negative." in text
    assert len(text) <= 400


@pytest.mark.parametrize(
    ("kind", "region", "label"),
    [
        (Kind.PREFERENCE, Region.SEMANTIC, "preference"),
        (Kind.FACT, Region.SEMANTIC, "fact"),
        (Kind.PROCEDURE, Region.PROCEDURAL, "procedure"),
        (Kind.DECISION, Region.EPISODIC, "episode"),
    ],
)
def test_every_kind_has_its_label(kind: Kind, region: Region, label: str) -> None:
    assert told(unit("a", "x", kind=kind, region=region)).label == label


def test_the_day_a_unit_speaks_of_stands_beside_the_day_it_was_said() -> None:
    anchor = TimeAnchor(start=datetime(2025, 5, 10, tzinfo=UTC), end=datetime(2025, 5, 11, tzinfo=UTC), precision=Precision.DAY)
    assert told(unit("a", "x", anchor=anchor)).date == "2025-03-10, about 2025-05-10"
