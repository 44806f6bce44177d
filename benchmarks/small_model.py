"""What a very small local model gets right: SmolLM2 with 135 million parameters, on this machine, over HTTP.

    python -m benchmarks.small_model [--data DIR] [--json] [--turns 20] [--judgements 12] [--url URL --model NAME]

`--url` asks another OpenAI-compatible server instead (its key in OPENAI_API_KEY). Prints one JSON object:

* `reading`: over gold turns that should be remembered, evenly spread over both languages: `valid`, the share of turns whose answer was
  whole and obeyed the schema; `usable`, whose facts passed our checks and would be stored (else the turn is kept as it was said); `kind`
  and `value`, where a fact, stored or not, named the labelled kind, and the labelled value by most of its words without being the
  whole turn; `seconds`, the median time of an answer.
* `judging`: over steps and memories of labelled tasks, evenly spread: `decided`, the share with a majority among three votes; `right`,
  the share of those that have the labelled role, beside `rules`, the share that the rules get right; `seconds`.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.annotation import Labelled, judged, labelled_tasks
from benchmarks.options import gold_of, parser, tell
from hindsight_langgraph.annotation.judge import judge_unsure
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.encoding.answers import parse_facts
from hindsight_langgraph.encoding.model_extractor import ModelExtractor
from hindsight_langgraph.encoding.redact import SecretRedactor
from hindsight_langgraph.encoding.statement import Extraction, ExtractionStatus
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.models.chat import LangChainChat, chat_from_spec
from hindsight_langgraph.ops import Answer
from hindsight_langgraph.plan import drive
from hindsight_langgraph.records import Scope, Turn
from hindsight_langgraph.training.dialogues import Dialogue, read_dialogues
from tests.small_model import ANSWER_TOKENS, NAME, PATIENCE_S, serving_small_model

CONTEXT_TURNS = 2
_WORDS = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]", re.IGNORECASE)


@dataclass
class Asked:
    """A chat model whose answers and times are kept."""

    chat: LangChainChat
    answers: list[Answer | None] = field(default_factory=list)
    """None for a request that failed."""
    seconds: list[float] = field(default_factory=list)

    def __call__(self, op: Any) -> Answer:
        """Answer one request."""
        began = time.perf_counter()
        try:
            answer = self.chat.complete(op)
        except ModelError:
            self.answers.append(None)
            raise
        finally:
            self.seconds.append(time.perf_counter() - began)
        self.answers.append(answer)
        return answer


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--turns", type=int, default=20)
    options.add_argument("--judgements", type=int, default=12)
    options.add_argument("--url")
    options.add_argument("--model", default=NAME)
    options.add_argument("--show", action="store_true", help="print every answer")
    given = options.parse_args()
    gold = gold_of(given.data)
    with ExitStack() as stack:
        url = given.url or stack.enter_context(serving_small_model())
        config = HindsightConfig(openai_base_url=url, openai_api_key=None if given.url else "of no use")
        chat = chat_from_spec(f"openai:{given.model}", config, timeout_s=PATIENCE_S, max_concurrency=1)
        figures = {
            "model": given.model,
            "reading": reading(list(gold_turns(read_dialogues(gold), given.turns)), Asked(chat), show=given.show),
            "judging": judging(list(labelled_tasks(gold / "trajectories")), Asked(chat), most=given.judgements, show=given.show),
        }
    tell(figures, as_json=given.json)


def gold_turns(dialogues: Sequence[Dialogue], count: int) -> Iterator[tuple[list[Turn], Turn, Mapping[str, Any]]]:
    """(turns before, turn, its gold memory) for memories that one turn says, evenly spread over both languages."""
    for language in ("en", "zh"):
        found = [
            (list(session[max(0, place - CONTEXT_TURNS) : place]), turn, memory)
            for dialogue in dialogues
            if dialogue.language == language
            for memory in dialogue.memories
            for session in dialogue.sessions
            for place, turn in enumerate(session)
            if memory["turn_ids"] == [turn.id]
        ]
        each = min(count // 2, len(found))
        yield from (found[i * len(found) // each] for i in range(each))


def reading(turns: Sequence[tuple[list[Turn], Turn, Mapping[str, Any]]], asked: Asked, *, show: bool) -> dict[str, float]:
    """Figures of extraction, one turn at a time."""
    extractor = ModelExtractor(redactor=SecretRedactor(), max_tokens=ANSWER_TOKENS)
    valid: list[bool] = []
    usable: list[bool] = []
    kinds: list[bool] = []
    values: list[bool] = []
    for context, turn, memory in turns:
        before = len(asked.answers)
        found: Extraction = drive(extractor.extract([turn], context=context, scope=Scope(user_id="u1")), asked)
        valid.append(any(_whole(answer) for answer in asked.answers[before:]))
        usable.append(found.status in {ExtractionStatus.OK_WITH_FACTS, ExtractionStatus.PARTIAL} and bool(found.statements))
        facts = [fact for answer in asked.answers[before:] for fact in parse_facts(answer).facts]
        kinds.append(any(fact.kind == memory["type"] for fact in facts))
        values.append(any(_says(fact.value, str(memory["value"]), turn.text) for fact in facts))
        if show:
            print(
                turn.text,
                "|",
                memory["type"],
                memory["value"],
                "|",
                found.status,
                found.reason,
                *asked.answers[before:],
                sep="\n  ",
            )
    return {
        "turns": len(turns), "valid": _share(valid), "usable": _share(usable), "kind": _share(kinds), "value": _share(values),
        "requests": len(asked.answers), "seconds": round(statistics.median(asked.seconds), 1),
    }  # fmt: skip


def _whole(answer: Answer | None) -> bool:
    if answer is None or answer.finish_reason == "length":
        return False
    return parse_facts(answer).status in {ExtractionStatus.OK_WITH_FACTS, ExtractionStatus.OK_NOTHING}


def _says(told_value: str, value: str, turn: str) -> bool:
    """Whether a value is the labelled one, by most of its words, and not simply the turn itself."""
    labelled, told, said = _words(value), _words(told_value), _words(turn)
    return len(labelled & told) * 2 > len(labelled) and (len(told) * 2 <= len(said) or told == labelled)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(text))


def judging(tasks: Sequence[Labelled], asked: Asked, *, most: int, show: bool) -> dict[str, float]:
    """Figures of judging; one judgement a request, of English tasks only, since the model's tokens for Chinese fill its window."""
    labelled = [
        (task, task.labels[ref]["causal_role"], judgement)
        for task in tasks
        if task.language == "en"
        for ref, judgement in judged(task).items()
        if ref in task.labels
    ]
    decided: list[bool] = []
    right: list[bool] = []
    rules: list[bool] = []
    for task, label, judgement in (labelled[i * len(labelled) // most] for i in range(most)):
        (found,) = drive(judge_unsure(task.case, [judgement.model_copy(update={"sure": False})]), asked)
        decided.append(found.by == "model")
        right += [found.role == label] * decided[-1]
        rules.append(judgement.role == label)
        if show:
            print(task.name, judgement.ref, label, "rules", judgement.role, "now", found.role, found.by, found.reason, sep=" | ")
    return {
        "judgements": len(decided), "decided": _share(decided), "right": _share(right), "rules": _share(rules),
        "requests": len(asked.answers), "failed": sum(answer is None for answer in asked.answers),
        "seconds": round(statistics.median(asked.seconds), 1),
    }  # fmt: skip


def _share(hits: Sequence[bool]) -> float:
    return round(sum(hits) / max(len(hits), 1), 3)


if __name__ == "__main__":
    main()
