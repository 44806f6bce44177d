"""Secrets by the formats of detect-secrets, on top of our own rules."""

from __future__ import annotations

import sys

import pytest

from hindsight_langgraph.encoding.redact import REDACTED
from hindsight_langgraph.encoding.redact_library import DetectSecretsRedactor
from hindsight_langgraph.errors import MissingExtra

pytest.importorskip("detect_secrets", reason="the optional extra 'privacy' is not installed")


def test_formats_that_only_the_library_knows_are_redacted() -> None:
    twilio = "SK" + "0123456789abcdef" * 2
    clean, counts = DetectSecretsRedactor()(f"twilio {twilio} here")
    assert clean == f"twilio {REDACTED} here"
    assert sum(counts.values()) == 1


def test_our_own_rules_still_apply() -> None:
    assert DetectSecretsRedactor()("the db password is Pl4ce-holder!77")[0] == "the db password is [redacted]"


def test_a_key_that_the_library_marks_in_part_goes_whole() -> None:
    redact = DetectSecretsRedactor(base=lambda text: (text, {}))
    assert redact("use ghp_" + "Ab1" * 12 + " now")[0] == f"use {REDACTED} now"


@pytest.mark.parametrize(
    "text", ["commit 3f786850e387550fdab836ed7e6dc881de23001b", "the server is 8.8.8.8", "我们周三上线 1.31", "order 4417"]
)
def test_ordinary_text_survives_the_library(text: str) -> None:
    assert DetectSecretsRedactor()(text) == (text, {})


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "detect_secrets.core.plugins.util", None)
    with pytest.raises(MissingExtra, match="privacy"):
        DetectSecretsRedactor()
