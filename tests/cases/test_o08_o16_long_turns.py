"""CASES O08 and O16: turns far longer than any model reads at once."""

from __future__ import annotations

from pathlib import Path

from langchain_core.messages import HumanMessage, ToolMessage

from tests.memory.opening import open_memory

FILLER = "The canal was grey and nobody came along the towpath that day. "


def test_the_last_sentence_of_a_long_turn_is_a_fact_about_its_speaker(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.remember([HumanMessage(FILLER * 140 + "And I am leaving the night shift in June.", id="m1")], scope="ida")
        units = memory.units(scope="ida")
    assert {unit.speaker for unit in units if "night shift" in unit.content} == {"user"}


def test_one_fact_in_the_middle_of_a_very_long_turn_is_kept(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.remember([HumanMessage(FILLER * 480 + "My blood type is B negative. " + FILLER * 480, id="m1")], scope="ida")
        units = memory.units(scope="ida")
    assert any("B negative" in unit.content for unit in units)


def test_a_huge_tool_result_with_encoded_bytes_is_cut_and_its_bytes_are_nowhere(tmp_path: Path) -> None:
    blob = "QUJD" * 250_000
    result = f"traceback line\n data:image/png;base64,{blob} " + "log line\n" * 100_000
    with open_memory(tmp_path) as memory:
        memory.remember([ToolMessage(result, tool_call_id="c1", name="fetch", status="error", id="m1")], scope="ida")
        units = memory.units(scope="ida")
    assert units
    assert not any("QUJDQUJD" in unit.model_dump_json() for unit in units)
    assert all(len(unit.content) < 1_000 and unit.content.endswith("…") for unit in units)
