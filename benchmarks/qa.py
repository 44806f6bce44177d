"""Questions answered from memory by a chat model and judged by another: LongMemEval and LoCoMo, end to end.

    python -m benchmarks.qa --model openai:gpt-4.1-mini [--judge openai:gpt-4.1] [--sets longmemeval,locomo] [--most 20] [--out FILE]
    python -m benchmarks.qa --local --most 2            # no key: the very small model of the tests, on this machine

Any model that LangChain's `init_chat_model` names; OPENAI_API_KEY and OPENAI_BASE_URL (or those of another provider) say where it is.
Each turn of a history is one memory; the record that the model is given is what recall injects for `--k` items and `--budget` tokens, or,
with `--full`, the whole history. Every answer is a line of `--out` as soon as it is judged, and a run that broke off goes on from there.

Ends with one JSON object: `model`, `judge`, `k`, `budget` (null with `--full`), and one object a set with `n`, `accuracy` by the judge
with its 95 % `interval`, `unjudged` (neither yes nor no; counted as wrong), `f1` (LoCoMo's own measure), the same by category, and the
medians `record_tokens` (estimated), `prompt_tokens` and `answer_tokens` (as the provider counts them).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import SETS, Question, Space
from benchmarks.options import parser, sets_of, tell
from benchmarks.qa_prompts import UNANSWERABLE, Messages, ask_for_answer, ask_for_verdict, f1, verdict_of
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import tools_for
from hindsight_langgraph.recall.tokens import estimate_tokens
from hindsight_langgraph.records import MemoryUnit, Scope
from tests.small_model import NAME, PATIENCE_S, serving_small_model

Row = dict[str, Any]
ANSWER_TOKENS = 120
VERDICT_TOKENS = 8


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a row was made with; rows of another setting are left alone."""

    model: str
    judge: str
    k: int
    budget: int | None
    """None for the full history."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """The two chat models of a run."""

    answering: BaseChatModel
    judging: BaseChatModel


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--model", default="openai:gpt-4.1-mini")
    options.add_argument("--judge", help="the model that judges; the same one without it")
    options.add_argument("--local", action="store_true", help="both are the very small model of the tests")
    options.add_argument("--sets", default="longmemeval,locomo")
    options.add_argument("--most", type=int, default=0, help="questions a set, evenly spread; 0 for all")
    options.add_argument("--adversarial", action="store_true", help="LoCoMo's questions without an answer too")
    options.add_argument("--k", type=int, default=10)
    options.add_argument("--budget", type=int, default=1_000, help="tokens of the record")
    options.add_argument("--full", action="store_true", help="the whole history instead of what is recalled")
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--out", type=Path, default=Path("qa.jsonl"))
    given = options.parse_args()
    with ExitStack() as stack:
        setting, models = opened(given, stack)
        embedder, done = CachedEmbedder(given.cache), read_rows(given.out, setting)
        for name in given.sets.split(","):
            spaces = [space for space in SETS[name](sets_of(given.data)) if space.questions]
            for space, places in chosen(name, spaces, most=given.most, adversarial=given.adversarial):
                left = [place for place in places if (name, f"{space.id}/{place}") not in done]
                for row in answered(name, space, left, setting=setting, models=models, embedder=embedder):
                    with given.out.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({**vars(setting), **row}, ensure_ascii=False) + "\n")
    rows = list(read_rows(given.out, setting).values())
    figures = {name: summary([row for row in rows if row["set"] == name]) for name in given.sets.split(",")}
    tell({**vars(setting), **figures}, as_json=given.json)


def opened(given: argparse.Namespace, stack: ExitStack) -> tuple[Setting, Models]:
    """The setting and the models that the options name."""
    budget = None if given.full else given.budget
    if given.local:
        url = stack.enter_context(serving_small_model())
        where: dict[str, Any] = {"base_url": url, "api_key": "of no use", "timeout": PATIENCE_S}
        model: Any = init_chat_model(f"openai:{NAME}", temperature=0, **where)
        return Setting(model=NAME, judge=NAME, k=given.k, budget=budget), Models(answering=model, judging=model)
    judge = given.judge or given.model
    models = Models(answering=init_chat_model(given.model, temperature=0), judging=init_chat_model(judge, temperature=0))
    return Setting(model=given.model, judge=judge, k=given.k, budget=budget), models


def read_rows(path: Path, setting: Setting) -> dict[tuple[str, str], Row]:
    """The rows of this setting that an earlier run wrote, by set and question."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]  # not one cut short
    return {(row["set"], row["question_id"]): row for row in rows if vars(setting).items() <= row.items()}


def chosen(name: str, spaces: Sequence[Space], *, most: int, adversarial: bool) -> Iterator[tuple[Space, list[int]]]:
    """The questions to ask, by space and place: all of them, or so many evenly spread."""
    skipped = {"5"} if name == "locomo" and not adversarial else set[str]()
    places = [(space, i) for space in spaces for i, question in enumerate(space.questions) if question.category not in skipped]
    count = min(most or len(places), len(places))
    picked = [places[i * len(places) // count] for i in range(count)]
    for space in spaces:
        of_space = [place for other, place in picked if other is space]
        if of_space:
            yield space, of_space


def answered(
    name: str, space: Space, places: Sequence[int], *, setting: Setting, models: Models, embedder: CachedEmbedder
) -> Iterator[Row]:
    """One row a question, answered and judged."""
    if not places:
        return
    with BenchMemory(name, embedder) as memory:
        if setting.budget is not None:
            memory.put(space.units)
        for place in places:
            question = space.questions[place]
            record = _record(memory, space, question, setting)
            asked = ask_for_answer(name, record=record, question=question.text, today=f"{question.at:%A, %d %B %Y}")
            response, used = _said(models.answering, asked, ANSWER_TOKENS)
            judged = ask_for_verdict(
                category=question.category, question=question.text, answer=question.answer, response=response
            )
            verdict = verdict_of(_said(models.judging, judged, VERDICT_TOKENS)[0])
            yield {
                "set": name, "question_id": f"{space.id}/{place}", "category": question.category, "question": question.text,
                "answer": question.answer, "response": response, "verdict": verdict,
                "f1": None if question.category in UNANSWERABLE else round(f1(response, question.answer), 4),
                "record_tokens": estimate_tokens(record), **used,
            }  # fmt: skip


def _record(memory: BenchMemory, space: Space, question: Question, setting: Setting) -> str:
    if setting.budget is None:
        return "\n".join(_line(unit) for unit in space.units)
    config = RecallConfig(max_items=setting.k, max_tokens=setting.budget)
    return memory.recall(
        question.text, scope=Scope(user_id=space.id), now=question.at, config=config, tools=tools_for(SPACE)
    ).text


def _line(unit: MemoryUnit) -> str:
    return f"({unit.moment:%Y-%m-%d}) {unit.speaker_name or unit.speaker}: {unit.content}"


def _said(model: BaseChatModel, messages: Messages, most: int) -> tuple[str, dict[str, int]]:
    """A reply and the tokens that it took."""
    reply = model.bind(max_tokens=most).invoke(messages)
    usage: Mapping[str, Any] = getattr(reply, "usage_metadata", None) or {}
    used = {"prompt_tokens": int(usage.get("input_tokens", 0)), "answer_tokens": int(usage.get("output_tokens", 0))}
    return str(reply.text).strip(), used


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of one set."""
    if not rows:
        return {"n": 0}
    categories = sorted({row["category"] for row in rows})
    medians = {name: statistics.median(row[name] for row in rows) for name in ("record_tokens", "prompt_tokens", "answer_tokens")}
    by_category = {category: _figures([row for row in rows if row["category"] == category]) for category in categories}
    return {
        **_figures(rows),
        "interval": _interval([bool(row["verdict"]) for row in rows]),
        "unjudged": sum(row["verdict"] is None for row in rows),
        **medians,
        "by_category": by_category,
    }


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    overlaps = [row["f1"] for row in rows if row["f1"] is not None]
    return {
        "n": len(rows),
        "accuracy": round(statistics.mean(bool(row["verdict"]) for row in rows), 4),
        "f1": round(statistics.mean(overlaps), 4) if overlaps else None,
    }


def _interval(hits: Sequence[bool], *, draws: int = 1_000) -> tuple[float, float]:
    """The 95 % interval of a share, by bootstrap."""
    rng = random.Random(0)
    means = sorted(statistics.mean(rng.choices(hits, k=len(hits))) for _ in range(draws))
    return round(means[draws // 40], 4), round(means[-draws // 40 - 1], 4)


if __name__ == "__main__":
    main()
