"""From the first hits to what they lead to: how a thing ended, what came after, and one thing through another."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import SearchUnits
from hindsight_langgraph.records import Kind, Region, Relation, Scope, Triple
from tests.clock import NOON, FakeClock
from tests.memory.opening import open_memory
from tests.recall.stores import T0, Remembering, unit

DAY = timedelta(days=1)
MOVE = (
    (0, "We plan to move the cluster to k3s, because it is lighter."),
    (3, "The k3s trial on the staging nodes failed with storage errors."),
    (6, "After the failed trial we looked at k0s and at plain Kubernetes."),
    (9, "We decided to stay on plain Kubernetes and to drop the idea."),
    (10, "I prefer window seats on trains."),
    (11, "The k3s docs are written by Rancher."),
)
MOVE_ZH = (
    (0, "我们打算把集群迁到k3s，因为它更轻。"),
    (3, "k3s在预发环境试用失败了，存储一直报错。"),
    (9, "我们决定继续用原生Kubernetes，不迁了。"),
    (10, "我坐火车喜欢靠窗的位子。"),
)
FLAT = ((0, "My flatmate is called Maya."), (1, "Maya's sister is Lena."), (2, "Lena works at the harbour office."))
FLAT_ZH = ((0, "我的室友叫小雅。"), (1, "小雅的姐姐是丽娜。"), (2, "丽娜在港务局上班。"))
NEWS = (
    (0, "The Heron release on March 3 was postponed."),
    (7, "The Heron release on March 10 went out with the new parser."),
    (14, "The Heron release on March 17 went out without the parser."),
)


def remember(memory: HindsightMemory, *stories: tuple[tuple[int, str], ...], user: str = "u") -> None:
    """Each line in a session of its own, on its day."""
    for number, story in enumerate(stories):
        for day, text in story:
            message = {"role": "user", "content": text, "id": f"{number}-{day}"}
            memory.remember([message], scope=Scope(user_id=user, session_id=f"{number}-{day}"), at=NOON + day * DAY)


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory):
    clock = FakeClock(NOON)
    with open_memory(tmp_path_factory.mktemp("walks"), embeddings="local", clock=clock) as opened:
        remember(opened, MOVE, FLAT, NEWS)
        remember(opened, MOVE_ZH, FLAT_ZH, user="z")
        clock.advance(days=30)
        yield opened


@pytest.mark.parametrize(
    ("user", "question", "answer"),
    [
        ("u", "How did the k3s plan end?", "We decided to stay on plain Kubernetes"),
        ("u", "What became of moving the cluster to k3s?", "We decided to stay on plain Kubernetes"),
        ("u", "What did we decide after the k3s trial failed?", "We decided to stay on plain Kubernetes"),
        ("u", "After the k3s trial failed, what did we look at?", "we looked at k0s"),
        ("u", "What happened before the k3s trial?", "We plan to move the cluster"),
        ("u", "When did the last Heron release go out?", "March 17"),
        ("u", "When was the very first Heron release?", "March 3"),
        ("z", "k3s的事最后怎么样了？", "我们决定继续用原生Kubernetes"),
        ("z", "迁k3s的计划后来怎么样了？", "我们决定继续用原生Kubernetes"),
        ("z", "k3s试用失败之后我们决定了什么？", "我们决定继续用原生Kubernetes"),
    ],
)
def test_a_question_from_an_event_is_answered_by_where_it_leads(
    stories: HindsightMemory, user: str, question: str, answer: str
) -> None:
    assert answer in stories.recall(question, scope=user).units[0].content


@pytest.mark.parametrize(
    ("user", "question", "answer"),
    [
        ("u", "Where does the sister of my flatmate work?", "harbour office"),
        ("u", "Where does my flatmate's sister work?", "harbour office"),
        ("z", "我室友的姐姐在哪上班？", "港务局"),
    ],
)
def test_a_thing_is_found_through_another_one(stories: HindsightMemory, user: str, question: str, answer: str) -> None:
    found = stories.recall(question, scope=user)
    walked = {item.unit.content for item in found.items[:3] if item.terms.get("walk")}
    assert len(walked) == 3
    assert answer in "".join(walked)


def test_a_walk_is_told_among_the_reasons(stories: HindsightMemory) -> None:
    found = stories.recall("How did the k3s plan end?", scope="u")
    assert "where the walk from the first hits leads" in found.items[0].why
    assert "walk=1.000" in found.explain()


# --- the second search ---------------------------------------------------------------------------------------------------


def test_what_the_first_search_misses_is_found_through_what_it_found(memory: Remembering) -> None:
    memory.put(
        unit("mate", "The flatmate is called Maya.", entities=("maya",)),
        unit("kin", "Maya has a sister called Lena.", entities=("maya", "lena")),
        unit("job", "Lena has work as a pilot with the Nordic Wings of Tartu.", entities=("lena", "nordic wings")),
        *(unit(f"x{i}", f"Work goes on: work {i}.") for i in range(30)),
    )
    question = "What is the work of the sister of my flatmate?"
    assert "job" not in {u.id for u in memory.recall(question, dense_top=4, lexical_top=4, walk=False).ranking}
    assert "job" in {u.id for u in memory.recall(question, dense_top=4, lexical_top=4).units}


def _linked_story(memory: Remembering) -> None:
    memory.put(
        unit("plan", "The plan is to paint the kitchen.", related=("bids",), session_id="s1"),
        unit("bids", "Two offers came in.", at=T0 + DAY, related=("plan", "end"), session_id="s2"),
        unit("end", "Everything stays white.", at=T0 + 2 * DAY, kind=Kind.DECISION, related=("bids",), session_id="s3"),
        *(unit(f"x{i}", f"The kitchen plan number {i} hangs in hall {i}.", at=T0 - DAY, session_id="x") for i in range(30)),
    )


def test_a_stored_link_leads_on_though_no_word_does(memory: Remembering) -> None:
    _linked_story(memory)
    found = memory.recall("How did the plan to paint the kitchen end?", dense_top=3, lexical_top=3, dynamic_cut=False)
    assert "bids" in {u.id for u in found.ranking}


def test_a_relation_leads_from_thing_to_thing(memory: Remembering) -> None:
    memory.put(
        unit("owner", "Heron is owned by the team Lagoon.", entities=("heron",), relations=(Relation(source="heron", target="lagoon", type="owned by"),)),
        unit("room", "The lagoon people sit in room 4.", entities=("lagoon",)),
        *(unit(f"x{i}", f"A heron stands by lake {i}.") for i in range(12)),
    )  # fmt: skip
    found = memory.recall("Which room does the team of Heron sit in?")
    assert {item.unit.id for item in found.items if item.terms.get("walk")} == {"owner", "room"}


def _searches(memory: Remembering) -> int:
    return sum(isinstance(op, SearchUnits) for op in memory.asked)


@pytest.mark.parametrize(
    ("question", "trips"),
    [("How did the kitchen plan end?", 2), ("Where is the kitchen plan?", 1), ("Which hall has kitchen plan number 4?", 1)],
)
def test_a_second_round_trip_is_made_for_a_walk_alone(memory: Remembering, question: str, trips: int) -> None:
    _linked_story(memory)
    memory.recall(question, dense_top=3, lexical_top=3)
    assert _searches(memory) == trips


def test_a_store_that_was_seen_whole_is_not_searched_again(memory: Remembering) -> None:
    _linked_story(memory)
    memory.recall("How did the kitchen plan end?")
    assert _searches(memory) == 1


def test_a_walk_never_leads_to_another_user(memory: Remembering) -> None:
    _linked_story(memory)
    memory.put(
        unit("bids", "Three offers came in.", user="bob", at=T0 + DAY, entities=("kitchen",), related=("plan",), session_id="s1"),
        unit("theirs", "The kitchen turns blue.", user="bob", at=T0 + DAY, entities=("kitchen",), session_id="s1"),
    )
    found = memory.recall("How did the plan to paint the kitchen end?", dense_top=3, lexical_top=3)
    assert {d.unit.owner for d in found.dropped} | {u.owner for u in found.units} == {"user:alice"}


def test_a_walk_as_of_a_moment_knows_nothing_later(memory: Remembering) -> None:
    _linked_story(memory)
    found = memory.recall("How did the plan to paint the kitchen end?", dense_top=3, lexical_top=3, as_of=T0 + DAY / 2)
    assert not {"bids", "end"} & {u.id for u in found.ranking}


def test_a_second_search_that_fails_costs_the_walk_alone(memory: Remembering) -> None:
    memory.put(
        unit("a", "My flatmate is Maya.", entities=("maya",)),
        unit("b", "Maya has a sister, Lena.", entities=("maya", "lena"), triple=Triple(subject="maya", attribute="sister", value="lena")),
        unit("c", "Lena is a pilot.", entities=("lena",), region=Region.SEMANTIC),
        *(unit(f"x{i}", f"Somebody's sister has to work in house {i}.") for i in range(30)),
    )  # fmt: skip
    memory.fails_after = 1
    found = memory.recall("Where does the sister of my flatmate work?", dense_top=3, lexical_top=3)
    assert found.degraded
    assert "a" in {u.id for u in found.units}
