"""What is worth remembering passes the gate, chatter does not, in both languages and without an embedding model."""

from __future__ import annotations

import numpy as np
import pytest

from hindsight_langgraph.encoding.features import WORD_FEATURES, word_features
from hindsight_langgraph.encoding.gate import judge, needs_vector
from hindsight_langgraph.encoding.heads import HEADS_VERSION, heads_name, load_heads, read_heads
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.records import EmbeddingSpace, Role, Turn

WORDS = load_heads(None)
E5 = EmbeddingSpace(model="multilingual-e5-small-q4", dimension=384)


def turn(text: str, role: Role = Role.USER, *, error: bool = False) -> Turn:
    return Turn(id="t", role=role, text=text, error=error)


@pytest.mark.parametrize(
    "text",
    [
        "Please keep every answer under a hundred words from now on.",
        "We decided on Tuesday to postpone the launch of Kestrel.",
        "The staging cluster has 12 nodes and runs Debian 12.",
        "To rotate the key, first revoke the old one, then run the sync job, finally restart the proxy.",
        "Forget what I said about the budget, that number was wrong.",
        "以后给我的周报一律用英文写",
        "我们昨天定了，发布推迟到下个月",
        "测试集群一共12个节点，跑的是Debian",
        "重置流程是先断网，再清缓存，最后重启网关",
        "预算那个数说错了，忘掉吧",
    ],
)
def test_what_states_decides_or_corrects_is_kept(text: str) -> None:
    verdict = judge(turn(text), previous="", heads=WORDS)
    assert verdict.keep
    assert verdict.reasons


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that helps.",
        "Hmm, maybe, I'd have to look.",
        "What do you think?",
        "Good morning!",
        "哈哈哈",
        "嗯，我想想",
        "在吗？",
        "晚安",
    ],
)
def test_chatter_questions_and_thinking_aloud_are_let_go(text: str) -> None:
    assert not judge(turn(text), previous="", heads=WORDS).keep


def test_a_bare_number_counts_only_as_the_answer_to_a_question() -> None:
    asked = judge(turn("4400."), previous="Which port does it listen on?", heads=WORDS)
    unasked = judge(turn("4400."), previous="Fine.", heads=WORDS)
    assert asked.score > unasked.score


def test_what_the_assistant_says_is_no_memory_of_the_user() -> None:
    verdict = judge(turn("You could freeze it in glass jars.", Role.ASSISTANT), previous="", heads=WORDS)
    assert not verdict.keep
    assert not needs_vector(turn("You could freeze it in glass jars.", Role.ASSISTANT))


def test_a_tool_is_remembered_only_when_it_failed() -> None:
    assert judge(turn("disk quota exceeded", Role.TOOL, error=True), previous="", heads=WORDS).keep
    assert not judge(turn("42 rows", Role.TOOL), previous="", heads=WORDS).keep


def test_blank_text_never_costs_an_embedding() -> None:
    assert not needs_vector(turn(" \n "))


def test_do_not_forget_takes_nothing_back() -> None:
    assert "takes back" not in judge(turn("Don't forget to lock the shed."), previous="", heads=WORDS).reasons


def test_heads_for_an_unknown_embedding_model_read_words_only() -> None:
    assert load_heads(EmbeddingSpace(model="some-other-model", dimension=384)).space is None


def test_the_shipped_heads_fit_the_features_of_this_version() -> None:
    assert WORDS.gate.weights.shape == (1, len(WORD_FEATURES))
    assert load_heads(E5).gate.weights.shape == (1, len(WORD_FEATURES) + 2 * E5.dimension)


def test_a_text_that_could_not_be_embedded_is_judged_by_its_words() -> None:
    text = "Please keep every answer under a hundred words from now on."
    assert judge(turn(text), previous="", heads=load_heads(E5)) == judge(turn(text), previous="", heads=WORDS)


def test_heads_of_another_version_are_refused_with_what_to_run() -> None:
    stored = WORDS.to_json().replace(f'"version":{HEADS_VERSION}', '"version":99')
    with pytest.raises(ConfigError, match="train-heads"):
        read_heads(stored, name=heads_name(None))


def test_heads_survive_being_stored() -> None:
    features = word_features("We decided to move to Lund.", "")
    again = read_heads(WORDS.to_json())
    assert again.kind.probabilities(features) == WORDS.kind.probabilities(features)


def test_features_of_another_length_are_refused() -> None:
    with pytest.raises(ConfigError, match="train it anew"):
        WORDS.gate.probabilities(np.zeros(3))
