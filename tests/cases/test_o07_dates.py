"""CASES O07: a relative date is read against the message that says it, never against the day it is processed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_langgraph.encoding.prompts import EXAMPLES
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.records import MemoryUnit, Scope
from tests.clock import FakeClock
from tests.memory.opening import open_memory

SAID = "昨晚服务器又宕机了，上周三也宕过一次。后天我要去广州出差。"
SENT = datetime.fromisoformat("2025-03-05T00:20:00+08:00")
ANN = Scope(user_id="ann", timezone="Asia/Shanghai")
MEANT = {"昨晚": "2025-03-04", "上周三": "2025-02-26", "后天": "2025-03-07"}
APRIL = datetime(2025, 4, 20, 9, tzinfo=UTC)


def remembered(path: Path, at: datetime | None, chat: ScriptedChat | None) -> list[MemoryUnit]:
    with open_memory(path, clock=FakeClock(APRIL), chat_model=chat) as memory:
        memory.remember([("user", SAID)], scope=ANN, at=at)
        memory.consolidate(scope=ANN)
        return memory.units(scope=ANN)


def answering() -> ScriptedChat:
    facts = [{"content": f"{words}：服务器或出差", "source": [0], "time": words} for words in MEANT]
    return ScriptedChat([json.dumps({"facts": facts}, ensure_ascii=False), *["{}"] * 9])


@pytest.mark.parametrize("at", [SENT, SENT.astimezone(UTC)], ids=["as sent", "as UTC"])
@pytest.mark.parametrize("model", [True, False], ids=["model", "rules"])
def test_dates_are_those_of_the_message_in_the_speakers_zone(tmp_path: Path, at: datetime, model: bool) -> None:
    units = remembered(tmp_path, at, answering() if model else None)
    told = " ".join(unit.content for unit in units)
    assert all(f"{words} ({day})" in told for words, day in MEANT.items())
    anchors = {unit.anchor.start.astimezone(SENT.tzinfo).date().isoformat() for unit in units if unit.anchor}
    assert anchors
    assert anchors <= set(MEANT.values())


@pytest.mark.parametrize("model", [True, False], ids=["model", "rules"])
def test_without_a_time_of_its_own_a_message_gets_no_date(tmp_path: Path, model: bool) -> None:
    units = remembered(tmp_path, None, answering() if model else None)
    assert units
    assert not any(unit.anchor or unit.said_at for unit in units)
    stored = " ".join(unit.content for unit in units)
    assert "202" not in stored
    assert not any(day in stored for example, _ in EXAMPLES for day in example.split())


def test_the_model_is_shown_the_messages_own_date_weekday_and_offset(tmp_path: Path) -> None:
    chat = answering()
    remembered(tmp_path, SENT, chat)
    assert "Wednesday 2025-03-05 00:20 +08:00" in chat.asked[0].messages[-1].text
    assert "2025-04" not in chat.asked[0].messages[-1].text
