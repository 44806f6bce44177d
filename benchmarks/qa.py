"""Questions answered from memory by a chat model and judged by another: LongMemEval and LoCoMo, end to end.

    python -m benchmarks.qa --model openai:gpt-4.1-mini [--judge openai:gpt-4.1] [--sets longmemeval,locomo] [--most 20] [--out FILE]
    python -m benchmarks.qa --managed [--writer openai:gpt-4.1-mini] [--off forgetting] ...
    python -m benchmarks.qa --local --most 2            # no key: the very small model of the tests, on this machine

Any model that LangChain's `init_chat_model` names; OPENAI_API_KEY and OPENAI_BASE_URL (or those of another provider) say where it is.
The record that the answering model is given is what recall injects for `--k` items and `--budget` tokens. Each turn of a history is one
memory; with `--managed` the history is written through the public door instead, with its gate, extraction (by rules, or by `--writer`)
and a full consolidation after each session; with `--full` the record is the whole history. Every answer is a line of `--out` as soon as
it is judged, and a run that broke off goes on from there.

Ends with one JSON object: `model`, `judge`, `k`, `budget` (null with `--full`), `writing`, `off`, and one object a set over the questions of this
run with `n`, `accuracy` by the judge with its 95 % `interval`, `unjudged` (neither yes nor no; counted as wrong), `empty` (nothing was
recalled), `f1` (LoCoMo's own measure), `evidence` (the share of the labelled turns that the record was read from), the same by
category, and the medians `record_tokens` (estimated), `prompt_tokens` and `answer_tokens` (as the provider counts them).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from benchmarks.corpora import ADVERSARIAL, SETS, Question, Space
from benchmarks.options import parser, sets_of, tell
from benchmarks.qa_figures import Row, summary
from benchmarks.qa_memories import Held, as_turns, in_full, managed
from benchmarks.qa_prompts import UNANSWERABLE, Messages, ask_for_answer, ask_for_verdict, f1, verdict_of
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.tokens import estimate_tokens
from tests.small_model import NAME, PATIENCE_S, serving_small_model

ANSWER_TOKENS = 120
VERDICT_TOKENS = 8
TURNS, RULES = "turns", "rules"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a row was made with; rows of another setting are left alone."""

    model: str
    judge: str
    k: int
    budget: int | None
    """None for the full history."""
    writing: str
    """"turns" as they are, or managed: by "rules", or by the chat model of this name."""
    off: str
    """Passes of consolidation that never ran, comma-separated."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """The chat models of a run."""

    answering: BaseChatModel
    judging: BaseChatModel
    writing: BaseChatModel | None


def main(arguments: Sequence[str] | None = None) -> None:
    given = options_of(arguments)
    with ExitStack() as stack:
        setting, models = opened(given, stack)
        embedder, done, asked = CachedEmbedder(given.cache), read_rows(given.out, setting), list[tuple[str, str]]()
        for name in given.sets.split(","):
            spaces = [space for space in SETS[name](sets_of(given.data)) if space.questions]
            for space, places in chosen(name, spaces, most=given.most, adversarial=given.adversarial):
                asked += [(name, f"{space.id}/{place}") for place in places]
                left = [place for place in places if (name, f"{space.id}/{place}") not in done]
                held = holding(name, space, setting=setting, models=models, embedder=embedder)
                for row in answered(name, space, left, held=held, models=models):
                    done[name, row["question_id"]] = row
                    with given.out.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({**vars(setting), **row}, ensure_ascii=False) + "\n")
    figures = {name: summary([done[key] for key in asked if key[0] == name]) for name in given.sets.split(",")}
    tell({**vars(setting), **figures}, as_json=given.json)


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    options = parser(__doc__)
    options.add_argument("--model", default="openai:gpt-4.1-mini")
    options.add_argument("--judge", help="the model that judges; the same one without it")
    options.add_argument("--local", action="store_true", help="every model is the very small one of the tests")
    options.add_argument("--sets", default="longmemeval,locomo")
    options.add_argument("--most", type=int, default=0, help="questions a set, evenly spread; 0 for all")
    options.add_argument("--adversarial", action="store_true", help="LoCoMo's questions without an answer too")
    options.add_argument("--k", type=int, default=10)
    options.add_argument("--budget", type=int, default=1_000, help="tokens of the record")
    how = options.add_mutually_exclusive_group()
    how.add_argument("--full", action="store_true", help="the whole history instead of what is recalled")
    how.add_argument(
        "--managed", action="store_true", help="the history written through the public door, not turn by turn as it is"
    )
    options.add_argument("--writer", help="the chat model that a managed memory reads turns with; by rules without it")
    options.add_argument(
        "--off", default="", help="passes of a managed memory's consolidation that never run, such as forgetting"
    )
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--out", type=Path, default=Path("qa.jsonl"))
    given = options.parse_args(arguments)
    if (given.writer or given.off) and not given.managed:
        options.error("--writer and --off need --managed")
    return given


def opened(given: argparse.Namespace, stack: ExitStack) -> tuple[Setting, Models]:
    """The setting and the models that the options name."""
    where: dict[str, Any] = {}
    if given.local:
        where = {"base_url": stack.enter_context(serving_small_model()), "api_key": "of no use", "timeout": PATIENCE_S}
    model, judge, writer = given.model, given.judge or given.model, given.writer
    if given.local:
        model, judge, writer = NAME, NAME, NAME if given.writer else None

    def chat(name: str) -> BaseChatModel:
        made: BaseChatModel = init_chat_model(f"openai:{name}" if given.local else name, temperature=0, **where)
        return made

    setting = Setting(
        model=model, judge=judge, k=given.k, budget=None if given.full else given.budget,
        writing=(writer or RULES) if given.managed else TURNS, off=given.off,
    )  # fmt: skip
    return setting, Models(answering=chat(model), judging=chat(judge), writing=chat(writer) if writer else None)


def read_rows(path: Path, setting: Setting) -> dict[tuple[str, str], Row]:
    """The rows of this setting that an earlier run wrote, by set and question."""
    if not path.exists():
        return {}
    drop_stump(path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return {(row["set"], row["question_id"]): row for row in rows if vars(setting).items() <= row.items()}


def drop_stump(path: Path) -> None:
    """Take off a last line that a kill cut short: the next row would be written behind it."""
    with path.open("rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def chosen(name: str, spaces: Sequence[Space], *, most: int, adversarial: bool) -> Iterator[tuple[Space, list[int]]]:
    """The questions to ask, by space and place: all of them, or so many evenly spread."""
    skipped = {ADVERSARIAL} if name == "locomo" and not adversarial else set[str]()
    places = [(space, i) for space in spaces for i, question in enumerate(space.questions) if question.category not in skipped]
    count = min(most or len(places), len(places))
    picked = [places[i * len(places) // count] for i in range(count)]
    for space in spaces:
        of_space = [place for other, place in picked if other is space]
        if of_space:
            yield space, of_space


def holding(
    name: str, space: Space, *, setting: Setting, models: Models, embedder: CachedEmbedder
) -> AbstractContextManager[Held]:
    """A history as the setting holds it; it is written when it is entered."""
    if setting.budget is None:
        return in_full(space)
    config = RecallConfig(max_items=setting.k, max_tokens=setting.budget)
    if setting.writing == TURNS:
        return as_turns(name, space, config=config, embedder=embedder)
    return managed(space, config=config, writer=models.writing, off=setting.off.split(",") if setting.off else ())


def answered(
    name: str, space: Space, places: Sequence[int], *, held: AbstractContextManager[Held], models: Models
) -> Iterator[Row]:
    """One row a question, answered and judged."""
    if not places:
        return
    with held as record_for:
        for place in places:
            question = space.questions[place]
            record = record_for(question)
            asked = ask_for_answer(name, record=record.text, question=question.text, today=f"{question.at:%A, %d %B %Y}")
            response, used = _said(models.answering, asked, ANSWER_TOKENS)
            judged = ask_for_verdict(
                category=question.category, question=question.text, answer=question.answer, response=response
            )
            verdict = verdict_of(_said(models.judging, judged, VERDICT_TOKENS)[0])
            yield {
                "set": name, "question_id": f"{space.id}/{place}", "category": question.category, "question": question.text,
                "answer": question.answer, "response": response, "verdict": verdict,
                "f1": None if question.category in UNANSWERABLE else round(f1(response, question.answer), 4),
                "evidence": _share(record.sources, question), "record_tokens": estimate_tokens(record.text), **used,
            }  # fmt: skip


def _share(sources: frozenset[str], question: Question) -> float | None:
    """Of the labelled turns, those that the record was read from; None where none is labelled."""
    return round(len(question.gold & sources) / len(question.gold), 4) if question.gold else None


def _said(model: BaseChatModel, messages: Messages, most: int) -> tuple[str, dict[str, int]]:
    """A reply and the tokens that it took."""
    reply = model.bind(max_tokens=most).invoke(messages)
    usage: Mapping[str, Any] = getattr(reply, "usage_metadata", None) or {}
    used = {"prompt_tokens": int(usage.get("input_tokens", 0)), "answer_tokens": int(usage.get("output_tokens", 0))}
    return str(reply.text).strip(), used


if __name__ == "__main__":
    main()
