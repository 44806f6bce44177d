"""Which texts only say again what was said before, and what becomes of them (SPEC F2)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.duplicates import find_duplicates
from hindsight_langgraph.encoding.repeats import repeats
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Scope, SparseVector, Status
from tests.clock import NOON, FakeClock
from tests.consolidation.scene import unit
from tests.memory.opening import open_memory

NO_WORDS = SparseVector(indices=(), values=())

SAID_AGAIN = [
    ("Please answer me in metric units from now on.", "Metric units, as always, please."),
    ("We're going with Larchmont Paper as our packaging supplier.", "Yes, Larchmont Paper stays our packaging supplier."),
    ("From now on write my changelogs in plain Markdown, no HTML.", "And keep to Markdown for the changelog, you slipped an HTML table in."),
    ("The harvest supper is on Friday 26 September.", "No change, the harvest supper is still on 26 September."),
    ("Use four-space indentation in the Python snippets you give me.", "Four-space indentation again, please. I saw tabs."),
    ("I've decided to keep the clinic's backups on Backblaze.", "Backups? Still on Backblaze, that stays."),
    ("I can't eat sesame, leave it out of every recipe.", "And no sesame, as I said before."),
    ("I prefer short emails without greetings.", "Short emails without greetings, same as ever."),
    ("The choir rehearses on Tuesdays at seven.", "Rehearsal is still Tuesdays at seven."),
    ("We chose the night ferry for the school trip.", "The night ferry it is, as decided before."),
    ("以后会议纪要都用要点列给我。", "会议纪要照旧用要点。"),
    ("面粉供应商我们定了，换成河口磨坊。", "供应商没变，还是河口磨坊。"),
    ("给我写SQL关键字都用大写。", "SQL关键字还是大写啊，你又写小写了。"),
    ("我吃东西不放香菜。", "再说一遍，别放香菜。"),
    ("班车时间是早上七点半。", "班车还是早上七点半，没变。"),
    ("我们决定用 Rust 重写网关。", "网关还是用 Rust，这个不变。"),
    ("报告只要一页，别写长。", "报告照旧一页，别写长了。"),
    ("秋游定在十月十八号。", "秋游还是十月十八号，别记错。"),
    ("I'm allergic to pine nuts.", "No pine nuts, remember, the pesto nearly got me."),
    ("For the captions I want whole sentences, no emojis. Ever.", "There was an emoji in your draft. Whole sentences, please."),
    ("Two columns and no footer, please.", "No footer, I said. Your last page had four of them."),
    ("书架我只要松木的，密度板的别给我看。", "你上次发的又有密度板，说了只要松木。"),
    ("我妹妹对花生过敏，点心要看清楚。", "顺便再说一句，我妹妹花生不行，点心别忘了。"),
    ("The meeting room is B204.", "会议室没变，还是 B204。"),
    ("以后图表都用 matplotlib 画。", "Charts in matplotlib, as always."),
]  # fmt: skip
SAID_ANEW = [
    ("Use pytest from now on.", "Use tox from now on."),
    ("We're going with Larchmont Paper as packaging supplier.", "We still need a second packaging supplier besides Larchmont Paper."),
    ("The harvest supper is on Friday 26 September.", "The harvest supper is still on, but it moved to 27 September."),
    ("I can't eat sesame, leave it out of every recipe.", "I can eat sesame again, put it back in."),
    ("Two columns and no footer, please.", "A footer is fine in your next draft."),
    ("书架我只要松木的。", "上次说的书架换成橡木的吧。"),
    ("Call the new service Tidewater.", "The old service is still called Saltbox."),
    ("Our printer is Hollins & Sons.", "Hollins & Sons still owe us two boxes."),
    ("The choir rehearses on Tuesdays at seven.", "The youth choir still rehearses on Thursdays at five."),
    ("I've decided to keep the clinic's backups on Backblaze.", "The Backblaze bill is due again on the 3rd."),
    ("Write my changelogs in plain Markdown.", "Stick to plain text in the changelog from now on."),
    ("We chose the night ferry for the school trip.", "The night ferry leaves at 22:40 again this year."),
    ("My desk is on floor 3.", "My locker stays on floor 3."),
    ("会议纪要都用要点列给我。", "会议纪要还是用表格吧，别用要点了。"),
    ("面粉供应商换成河口磨坊。", "河口磨坊还是没发货。"),
    ("班车时间是早上七点半。", "班车还是早上，不过改到八点了。"),
    ("我吃东西不放香菜。", "香菜又能吃了，放一点。"),
    ("房间号是 1204。", "停车位还是 1204 旁边那个。"),
    ("秋游定在十月十八号。", "家长会还是十月十八号。"),
    ("代码注释给我用英文写。", "提交信息照旧用中文写。"),
    ("Use Kotlin for the Android samples from now on.", "后端示例照旧用 Java。"),
    ("会议室是 B204。", "The server room is still C204."),
]  # fmt: skip


@pytest.mark.parametrize(("before", "said"), SAID_AGAIN)
def test_a_text_that_says_so_of_the_same_values_is_a_repeat(before: str, said: str):
    assert repeats(unit(said, day=1, kind=Kind.PREFERENCE), unit(before, kind=Kind.PREFERENCE))


@pytest.mark.parametrize(("before", "said"), SAID_ANEW)
def test_a_text_about_another_thing_or_with_another_value_is_none_whatever_words_it_uses(before: str, said: str):
    assert not repeats(unit(said, day=1, kind=Kind.PREFERENCE), unit(before, kind=Kind.PREFERENCE))


def test_what_happens_again_is_another_event_and_no_repeat():
    first = unit("The deploy hit the disk limit", kind=Kind.TASK_STATE)
    assert not repeats(unit("The deploy hit the disk limit again", day=1, kind=Kind.TASK_STATE), first)


def test_a_choice_among_what_was_weighed_is_no_repeat_of_the_weighing():
    weighed = unit("We could take the ferry or the night train", kind=Kind.FACT)
    assert not repeats(unit("Let's stick to the ferry", day=1, kind=Kind.DECISION), weighed)


def found(older: MemoryUnit, newer: MemoryUnit, *, cosine: float) -> list[tuple[str, str]]:
    """Verb and kept text, for two units whose embeddings have this cosine."""
    size = HashEmbedder.space.dimension - 2
    vectors = ((1.0, 0.0), (cosine, (1 - cosine * cosine) ** 0.5))
    items = [
        IndexedUnit(unit=one, dense=(*vector, *([0.0] * size)), text=NO_WORDS, context=NO_WORDS)
        for one, vector in zip((older, newer), vectors, strict=True)
    ]
    changes = find_duplicates(items, space=HashEmbedder.space, config=ConsolidationConfig())
    return [(change.verb, change.kept_text if change.verb == "merge" else "") for change in changes]


def test_a_repeat_is_of_the_kind_of_what_it_repeats_and_merges_into_it_across_regions():
    decided = unit("New supplier: I'm switching to Gorsefield Mill.", kind=Kind.DECISION)
    again = unit("Gorsefield Mill is our supplier and stays so.", day=9, kind=Kind.FACT)
    assert found(decided, again, cosine=0.7) == [("merge", decided.content)]


def test_what_does_not_say_that_it_repeats_never_merges_across_regions():
    decided = unit("I'm switching to Gorsefield Mill", kind=Kind.DECISION)
    assert found(decided, unit("I'm switching to Gorsefield Mill", day=9, kind=Kind.FACT), cosine=0.99) == []


@pytest.mark.parametrize(("cosine", "verbs"), [(0.8, ["merge"]), (0.7, [])])
def test_a_repeat_in_the_other_language_must_be_closer_since_only_its_values_can_be_compared(cosine: float, verbs: list[str]):
    changes = found(unit("The meeting room is B204."), unit("会议室没变，还是 B204。", day=1), cosine=cosine)
    assert [verb for verb, _ in changes] == verbs


def test_a_repeat_ends_up_in_what_it_repeats_and_retires_nothing(tmp_path: Path):
    turns = [
        ("Use four-space indentation in the Python snippets you give me.", "s1", 0),
        ("The harvest supper is on Friday 26 September.", "s1", 0.01),
        ("Four-space indentation again, please. I saw tabs.", "s2", 7),
    ]
    with open_memory(tmp_path, embeddings="local", clock=FakeClock(NOON)) as memory:
        for text, session, day in turns:
            scope = Scope(user_id="u1", session_id=session)
            memory.remember([{"role": "user", "content": text, "id": text[:4]}], scope=scope, at=NOON + timedelta(days=day))
        memory.consolidate(scope="u1", passes=("duplicates", "contradictions"))
        active = [one for one in memory.units(scope="u1") if one.status is Status.ACTIVE]
        assert [one.sources for one in active if "indentation" in one.content] == [("Use ", "Four")]
        assert any("supper" in one.content for one in active)


def test_two_messages_in_a_row_do_not_retire_each_other(tmp_path: Path):
    said = ["以后会议纪要都用要点列给我。", "面粉供应商我们定了，换成河口磨坊。", "我们决定用 Rust 重写网关。"]
    with open_memory(tmp_path, embeddings="local", clock=FakeClock(NOON)) as memory:
        for minute, text in enumerate(said):
            memory.remember([("user", text)], scope="u1", at=NOON + timedelta(minutes=minute))
        assert {one.status for one in memory.units(scope="u1")} == {Status.ACTIVE}
        assert len(memory.units(scope="u1")) == len(said)
