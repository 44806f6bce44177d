"""Heads are trained from labelled dialogues and from nothing that was left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindsight_langgraph.encoding.gate import judge
from hindsight_langgraph.encoding.updates import UPDATE_FEATURES
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.records import Role, Turn
from hindsight_langgraph.training.dialogues import read_dialogues
from hindsight_langgraph.training.heads import plain_turns, train_heads
from hindsight_langgraph.training.made_up import made_up_dialogues


def dialogue(name: str, port: int) -> dict[str, object]:
    """A small labelled dialogue in which a port changes."""

    def turn(place: str, role: str, text: str) -> dict[str, str]:
        return {"id": f"{name}-{place}", "role": role, "content": text}

    first = [
        turn("1", "user", "Morning, how are you?"),
        turn("2", "assistant", "Fine. What is new?"),
        turn("3", "user", f"The gateway listens on port {port}."),
        turn("4", "assistant", "Good."),
        turn("5", "user", "Ha, thanks."),
    ]
    second = [
        turn("8", "user", f"The backup of rack {port} runs at three."),
        turn("6", "user", f"The gateway moved, it listens on port {port + 1} now."),
        turn("7", "user", "Bye!"),
    ]
    kept = {
        "type": "fact",
        "subject": "backup",
        "attribute": "time",
        "value": "three",
        "content": "At three.",
        "event_time": None,
    }
    memory = {"type": "fact", "subject": "gateway", "attribute": "port", "event_time": None}
    return {
        "lang": "en",
        "sessions": [
            {"start": "2025-03-03T09:00:00+00:00", "turns": first},
            {"start": "2025-04-03T09:00:00+00:00", "turns": second},
        ],
        "gold_memories": [
            {**kept, "id": f"{name}-m0", "turn_ids": [f"{name}-8"]},
            {**memory, "id": f"{name}-m1", "value": str(port), "content": f"Port {port}.", "turn_ids": [f"{name}-3"]},
            {**memory, "id": f"{name}-m2", "value": str(port + 1), "content": f"Port {port + 1}.", "turn_ids": [f"{name}-6"]},
        ],
        "supersessions": [{"old": f"{name}-m1", "new": f"{name}-m2", "why": "It moved."}],
    }


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    folder = tmp_path / "dialogues"
    folder.mkdir()
    for number, name in enumerate(("a", "b", "c")):
        (folder / f"{name}.json").write_text(json.dumps(dialogue(name, 7000 + 10 * number)), encoding="utf-8")
    return tmp_path


def test_heads_learn_the_gate_the_kinds_and_the_updates(labelled: Path) -> None:
    heads = train_heads(labelled, None)
    turn = Turn(id="t", role=Role.USER, text="The proxy listens on port 9100.")
    assert judge(turn, previous="", heads=heads).keep
    assert heads.update.weights.shape == (1, len(UPDATE_FEATURES))


def test_heads_belong_to_the_space_of_their_embedder(labelled: Path) -> None:
    assert train_heads(labelled, HashEmbedder()).space == HashEmbedder.space


def test_a_dialogue_that_is_left_out_is_not_learnt_from(labelled: Path) -> None:
    alone = train_heads(labelled, None, leave_out={"b", "c"}).to_json()
    for name in ("b", "c"):
        (labelled / "dialogues" / f"{name}.json").unlink()
    assert train_heads(labelled, None).to_json() == alone


def test_what_replaces_what_is_read_by_turns(labelled: Path) -> None:
    first = read_dialogues(labelled)[0]
    assert first.updates == {("a-3", "a-6")}
    assert first.replaced == {"a-3"}


def test_a_directory_without_dialogues_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected \*\.json"):
        read_dialogues(tmp_path)


def test_a_file_that_is_no_dialogue_is_named(labelled: Path) -> None:
    (labelled / "dialogues" / "a.json").write_text('{"sessions": []}', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.json"):
        read_dialogues(labelled)


def test_plain_turns_teach_both_languages_both_answers() -> None:
    texts = [(turn.text.isascii(), kind is not None) for turn, _, kind in plain_turns()]
    assert set(texts) == {(True, True), (True, False), (False, True), (False, False)}


def test_made_up_conversations_teach_both_languages_what_replaces_what() -> None:
    dialogues = made_up_dialogues()
    assert {dialogue.language for dialogue in dialogues} == {"en", "zh"}
    for dialogue in dialogues:
        said = [turn for session in dialogue.sessions for turn in session]
        order = [turn.id for turn in said]
        assert len(set(order)) == len(said)
        assert dialogue.updates
        assert all(order.index(old) < order.index(new) for old, new in dialogue.updates)
        assert {turn for pair in dialogue.updates for turn in pair} <= dialogue.kinds.keys() < set(order)


def test_heads_do_not_count_what_is_made_up_among_the_dialogues_they_learnt_from(labelled: Path) -> None:
    assert train_heads(labelled, None).dialogues == ("a", "b", "c")
