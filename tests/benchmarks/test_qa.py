"""The harness of answered questions, end to end: its own corpora, and chat models that answer by script over a real socket."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora import SETS
from benchmarks.qa import ANSWER_TOKENS, chosen, main
from benchmarks.qa_figures import interval
from benchmarks.qa_prompts import verdict_of
from tests.benchmarks import corpora
from tests.chat_stand_in import ChatStandIn, chatting
from tests.small_model import NAME

ANSWERS = {"instrument": "the violin", "live": "in Porto", "sell": "on 9 May 2023", "howls": "a neighbour", "colour": "Green."}
"""What the answering model says, by a word of the question; else that it does not know."""
SAYS = re.compile(r"Correct answer: (?P<right>.*)\nResponse: (?P<said>.*)")
SHORT = ("--sets", "longmemeval")


def answer(model: str, text: str) -> str:
    """What the models say: `answerer` and `reader`, and any other, who judges and is at a loss where a violin is named."""
    if model == "reader":
        return '{"facts": [{"subject": "user", "attribute": "kayak", "value": "green"}]}'
    if model == "answerer":
        question = text.partition("Question: ")[2].partition("\n")[0]
        return next((said for word, said in ANSWERS.items() if word in question), "I do not know.")
    compared = SAYS.search(text)
    if compared is None:  # a question without an answer: does the response say so?
        return "Yes" if "I do not know" in text else "No"
    if "violin" in compared["said"]:
        return "Perhaps."
    return "yes." if compared["right"].lower() in compared["said"].lower() else "No"


@dataclass(kw_only=True)
class Harness:
    """Runs the harness on small corpora of its own."""

    data: Path
    cache: Path
    out: Path
    server: ChatStandIn

    def run(self, *more: str) -> dict[str, Any]:
        """The object that a run with so many options more ends with."""
        self.server.asked.clear()
        places = ["--data", str(self.data), "--cache", str(self.cache), "--out", str(self.out)]
        with redirect_stdout(StringIO()) as printed:
            main([*places, "--model", "openai:answerer", "--judge", "openai:judge", "--json", *more])
        told: dict[str, Any] = json.loads(printed.getvalue().splitlines()[-1])
        return told

    def rows(self) -> list[dict[str, Any]]:
        """The lines that were written so far."""
        return [json.loads(line) for line in self.out.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """One harness; vectors that a run made serve the next one."""
    data = tmp_path_factory.mktemp("qa")
    corpora.locomo(data)
    corpora.longmemeval(data)
    with chatting(answer) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.setenv("OPENAI_API_KEY", "of no use")
        yield Harness(data=data, cache=data / "vectors", out=data / "qa.jsonl", server=server)


@dataclass(kw_only=True)
class Finished:
    """A run of everything, with what was asked of the models for it."""

    told: dict[str, Any]
    rows: list[dict[str, Any]]
    asked: list[tuple[str, str]]
    out: Path

    def of(self, model: str) -> list[str]:
        """What one model was asked."""
        return [text for name, text in self.asked if name == model]


@pytest.fixture(scope="module")
def finished(shared: Harness) -> Finished:
    told = shared.run()
    return Finished(told=told, rows=shared.rows(), asked=list(shared.server.asked), out=shared.out)


@pytest.fixture
def harness(shared: Harness, tmp_path: Path) -> Harness:
    """A harness that has written nothing yet."""
    return Harness(data=shared.data, cache=shared.cache, out=tmp_path / "qa.jsonl", server=shared.server)


@pytest.fixture
def again(harness: Harness, finished: Finished) -> Harness:
    """A harness that has run before."""
    shutil.copy(finished.out, harness.out)
    return harness


def test_every_question_is_answered_from_memory_and_judged(finished: Finished) -> None:
    assert (finished.told["longmemeval"]["n"], finished.told["longmemeval"]["accuracy"]) == (2, 1.0)
    assert finished.told["locomo"]["n"] == len(finished.of("answerer")) - 2 == 8
    verdicts = {row["question"]: (row["verdict"], row["f1"]) for row in finished.rows}
    assert verdicts["Where does Jonas live?"] == (True, 0.6667)  # "in Porto" for "Porto"
    assert verdicts["Where does Pavel live?"] == (False, 0.0)
    assert verdicts["What is my brother's name?"] == (True, None)
    assert all("<recalled_memory>" in text for text in finished.of("answerer") if "brother" not in text)


def test_a_verdict_that_is_neither_yes_nor_no_counts_as_wrong_and_is_told(finished: Finished) -> None:
    judged = [row["verdict"] for row in finished.rows if row["set"] == "locomo"]
    assert [row["verdict"] for row in finished.rows if "instrument" in row["question"]] == [None, None]
    assert finished.told["locomo"]["unjudged"] == judged.count(None) == 2
    assert finished.told["locomo"]["accuracy"] == judged.count(True) / len(judged) == 0.375


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [("Yes.", True), ("**No**, it does not.", False), ("Perhaps", None), ("", None), ("The answer is yes", None)],
)
def test_a_verdict_is_the_first_word_of_a_reply(reply: str, verdict: bool | None) -> None:
    assert verdict_of(reply) is verdict


def test_the_interval_holds_the_accuracy(finished: Finished) -> None:
    low, high = finished.told["locomo"]["interval"]
    assert 0 <= low < finished.told["locomo"]["accuracy"] < high <= 1


def test_the_interval_of_a_hundred_even_tosses_is_about_ten_points_to_each_side() -> None:
    low, high = interval([True, False] * 50)
    assert 0.38 <= low <= 0.42
    assert 0.58 <= high <= 0.62
    assert interval([True] * 9) == (1.0, 1.0)


def test_the_tokens_are_those_that_the_provider_counts(finished: Finished) -> None:
    assert [row["prompt_tokens"] for row in finished.rows] == [len(text.split()) for text in finished.of("answerer")]
    assert [row["answer_tokens"] for row in finished.rows] == [len(row["response"].split()) for row in finished.rows]


def test_a_broken_off_run_goes_on_behind_its_last_whole_line(again: Harness, finished: Finished) -> None:
    lines = again.out.read_text(encoding="utf-8").splitlines(keepends=True)
    again.out.write_text("".join(lines[:7]) + lines[7][:-20], encoding="utf-8")  # killed while the eighth row was written
    assert again.run() == finished.told
    assert len(again.server.of("answerer")) == len(again.server.of("judge")) == 3
    assert again.out.read_text(encoding="utf-8").splitlines(keepends=True) == lines


def test_a_finished_run_asks_nothing_again(again: Harness, finished: Finished) -> None:
    assert again.run() == finished.told
    assert not again.server.asked


@pytest.mark.parametrize(
    "other", [("--k", "3"), ("--budget", "500"), ("--full",), ("--judge", "openai:strict"), ("--model", "openai:judge")]
)  # fmt: skip
def test_rows_of_another_setting_are_left_alone(again: Harness, finished: Finished, other: tuple[str, ...]) -> None:
    again.run(*SHORT, *other)
    assert again.rows()[: len(finished.rows)] == finished.rows
    assert len(again.rows()) == len(finished.rows) + 2


def test_the_figures_are_those_of_the_questions_of_this_run(again: Harness) -> None:
    assert again.run("--sets", "locomo", "--most", "2")["locomo"]["n"] == 2


@pytest.mark.parametrize(
    ("most", "places"),
    [
        (1, {"conv-0": [0]}),
        (2, {"conv-0": [0], "conv-1": [0]}),
        (4, {"conv-0": [0, 2], "conv-1": [0, 2]}),
        (99, {"conv-0": [0, 1, 2, 3], "conv-1": [0, 1, 2, 3]}),
        (0, {"conv-0": [0, 1, 2, 3], "conv-1": [0, 1, 2, 3]}),
    ],
)
def test_so_many_questions_are_spread_over_the_whole_set(shared: Harness, most: int, places: dict[str, list[int]]) -> None:
    spaces = list(SETS["locomo"](shared.data))
    assert {space.id: asked for space, asked in chosen("locomo", spaces, most=most, adversarial=False)} == places


def test_questions_without_an_answer_are_asked_where_they_are_wanted(again: Harness, finished: Finished) -> None:
    told = again.run("--sets", "locomo", "--adversarial")
    assert told["locomo"]["by_category"]["5"] == {"n": 2, "accuracy": 1.0, "f1": None, "evidence": None}
    assert "5" not in finished.told["locomo"]["by_category"]
    assert len(again.server.of("answerer")) == 2


def test_the_full_history_is_in_the_prompt_whatever_the_budget(harness: Harness) -> None:
    told = harness.run("--sets", "locomo", "--full", "--budget", "20")
    asked = harness.server.of("answerer")
    assert all("(2023-05-08)" in text and "(2023-05-10)" in text for text in asked)
    assert all(("Mira: Hi Jonas!" in text) != ("Aylin: Hi Pavel!" in text) for text in asked)  # of this conversation alone
    assert (told["budget"], told["locomo"]["evidence"]) == (None, 1.0)
    assert all(row["record_tokens"] > 20 for row in harness.rows())


@pytest.mark.parametrize("budget", [0, 60, 120])
def test_what_is_recalled_never_exceeds_the_budget(harness: Harness, finished: Finished, budget: int) -> None:
    assert max(row["record_tokens"] for row in finished.rows) > 120  # there is more to tell
    told = harness.run("--sets", "locomo", "--most", "2", "--budget", str(budget))
    tokens = [row["record_tokens"] for row in harness.rows()]
    assert max(tokens) <= budget
    assert budget < 60 or max(tokens) > 0
    assert told["locomo"]["empty"] == tokens.count(0)


def test_a_managed_history_is_written_by_rules_and_still_found(again: Harness, finished: Finished) -> None:
    told = again.run("--managed", *SHORT, "--most", "1", "--budget", "300")
    (asked,) = again.server.of("answerer")
    (row,) = again.rows()[len(finished.rows) :]
    assert told["writing"] == "rules"
    assert "kayak at the harbour is green" in asked
    assert "yeast" not in asked.lower()  # nobody remembers a request for an explanation
    assert row["evidence"] == told["longmemeval"]["evidence"] == 0.5  # the user's turn of two
    assert 0 < row["record_tokens"] <= 300


@pytest.mark.parametrize("off", [(), ("--off", "forgetting")])
def test_what_was_forgotten_unused_is_found_with_that_pass_off(harness: Harness, tmp_path: Path, off: tuple[str, ...]) -> None:
    corpora.longmemeval(tmp_path, last="2023/09/02 (Sat) 08:05", asked_at="2023/09/03 (Sun) 12:00")
    told = replace(harness, data=tmp_path).run("--managed", *SHORT, "--most", "1", *off)
    assert told["off"] == ",".join(off[1:])
    assert told["longmemeval"]["evidence"] == (0.5 if off else 0.0)


def test_a_managed_history_is_read_by_the_writer_that_is_named(harness: Harness) -> None:
    told = harness.run("--managed", "--writer", "openai:reader", *SHORT, "--most", "1")
    assert told["writing"] == "openai:reader"
    assert any("kayak at the harbour is green" in text for text in harness.server.of("reader"))
    assert "user kayak: green" in harness.server.of("answerer")[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--writer", "openai:reader"], "need --managed"),
        (["--off", "forgetting"], "need --managed"),
        (["--full", "--managed"], "not allowed with"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(options)
    assert told in capsys.readouterr().err


@pytest.mark.real_model
@pytest.mark.slow
def test_a_real_model_on_this_machine_answers_and_judges(harness: Harness) -> None:
    told = harness.run("--local", *SHORT, "--most", "1")
    (row,) = harness.rows()
    assert (told["model"], told["judge"], told["longmemeval"]["n"]) == (NAME, NAME, 1)
    assert row["response"]
    assert 0 < row["answer_tokens"] <= ANSWER_TOKENS
    assert row["prompt_tokens"] > row["record_tokens"] / 2
    assert not harness.server.asked
