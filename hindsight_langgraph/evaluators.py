"""Evaluators of recall for `langsmith.evaluate` (SPEC H1).

An example's inputs hold `query` and `user_id`; its outputs hold `expected` and `forbidden`, each a list of unit ids or of words that a
memory must hold. `recall_target` answers the inputs, the evaluators compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hindsight_langgraph.memory import HindsightMemory

Values = Mapping[str, Any]
Score = dict[str, Any]


def recall_target(memory: HindsightMemory) -> Callable[[dict[Any, Any]], dict[Any, Any]]:
    """What is evaluated: recall for `inputs["query"]` in the memory of `inputs["user_id"]`.

    Its outputs: `ranking`, every unit that may be recalled as `id` and `content`, best first; `shown`, those
    that a model is given; `injected`, the text of them; `tokens` of it.
    """

    def target(inputs: dict[Any, Any]) -> dict[Any, Any]:
        found = memory.recall(str(inputs["query"]), scope=str(inputs["user_id"]))
        ranking, shown = ([{"id": unit.id, "content": unit.content} for unit in units] for units in (found.ranking, found.units))
        return {"ranking": ranking, "shown": shown, "injected": found.text, "tokens": found.tokens}

    return target


def recall_at(k: int) -> Callable[[Values, Values], Score]:
    """The share of `expected` among the first `k` of the ranking, from 0 to 1; no score where nothing is expected."""

    def evaluator(outputs: Values, reference_outputs: Values) -> Score:
        expected: Sequence[str] = reference_outputs.get("expected") or []
        first = outputs["ranking"][:k]
        missing = [wanted for wanted in expected if not any(_is(unit, wanted) for unit in first)]
        score = None if not expected else 1 - len(missing) / len(expected)
        return {"key": f"recall@{k}", "score": score, "comment": f"missing: {', '.join(missing)}" if missing else ""}

    return evaluator


def forbidden_shown(outputs: Values, reference_outputs: Values) -> Score:
    """How many of `forbidden` the model was shown; 0 is right."""
    forbidden: Sequence[str] = reference_outputs.get("forbidden") or []
    injected = outputs["injected"].casefold()
    shown = [bad for bad in forbidden if bad.casefold() in injected or any(_is(unit, bad) for unit in outputs["shown"])]
    return {"key": "forbidden_shown", "score": len(shown), "comment": ", ".join(shown)}


def tokens(outputs: Values) -> Score:
    """Tokens that recall added to the prompt."""
    return {"key": "tokens", "score": outputs["tokens"]}


def _is(unit: Mapping[str, str], wanted: str) -> bool:
    return unit["id"] == wanted or wanted.casefold() in unit["content"].casefold()
