"""CASES O24: secrets that a user pastes, and that a chat model echoes."""

from __future__ import annotations

import json
from pathlib import Path

from langchain_core.messages import HumanMessage

from hindsight_langgraph.models.scripted import ScriptedChat
from tests.memory.opening import open_memory

PASSWORD, TOKEN = "Pl4ce-holder!77", "tok_test_0000FAKE1111"


def test_a_secret_that_the_model_echoes_is_in_no_unit_and_no_file(tmp_path: Path) -> None:
    echo = {
        "subject": "staging db", "attribute": "password", "value": PASSWORD, "content": f"The staging db opens with {PASSWORD}.",
        "kind": "fact", "source": "0", "entities": ["staging db", TOKEN], "replaces": TOKEN,
    }  # fmt: skip
    chat = ScriptedChat([json.dumps({"facts": [echo]})])
    with open_memory(tmp_path, chat_model=chat) as memory:
        said = f"Remember: the staging db password is {PASSWORD} and the token is {TOKEN}."
        memory.remember([HumanMessage(said, id="m1")], scope="ida")
        units = memory.units(scope="ida")
    stored = "".join(unit.model_dump_json() for unit in units)
    assert "staging db" in stored
    assert chat.asked
    assert not any(secret in stored or secret in str(chat.asked) for secret in (PASSWORD, TOKEN))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(secret.encode() in path.read_bytes() for path in files for secret in (PASSWORD, TOKEN))
