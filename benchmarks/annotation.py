"""How well hindsight judges finished tasks by rules alone, against hand-made labels.

    python -m benchmarks.annotation [--data DIR] [--json] [--wrong]

Prints one JSON object: `role_f1` (macro over the three roles, steps and memories together), `effect_accuracy`, `importance_in_band`,
`episode_accuracy`, `model_share` (what a chat model would be asked), the same per language, and `confusion` (labelled role to judged
role). `--wrong` lists every judgement that differs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.options import gold_of, parser, tell
from hindsight_langgraph.annotation.episodes import worth_of
from hindsight_langgraph.annotation.memories import judge_memories
from hindsight_langgraph.annotation.roles import judge_steps
from hindsight_langgraph.annotation.trajectory import Outcome, Step, StepKind
from hindsight_langgraph.annotation.verdict import Case, Given, Judgement, memory_ref
from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.flows.meaning import likeness_of_steps
from hindsight_langgraph.models.embedders import LocalEmbedder
from hindsight_langgraph.plan import drive
from hindsight_langgraph.records import CausalRole

START = datetime(2025, 6, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """One task with its labels."""

    name: str
    language: str
    case: Case
    labels: dict[str, dict[str, Any]]
    episode: bool
    likeness: Mapping[str, Mapping[int, float]] = field(default_factory=dict)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--meaning", action="store_true", help="tell the use of memories by the local embedding model too")
    options.add_argument("--wrong", action="store_true")
    given = options.parse_args()
    tasks = list(labelled_tasks(gold_of(given.data) / "trajectories"))
    if given.meaning:
        tasks = [replace(task, likeness=likeness(task.case)) for task in tasks]
    report: dict[str, object] = dict(figures(tasks))
    report |= {language: figures([task for task in tasks if task.language == language]) for language in ("en", "zh")}
    report["confusion"] = confusion(tasks)
    if given.wrong:
        for line in differences(tasks):
            print(line)
    tell(report, as_json=given.json)


def labelled_tasks(folder: Path) -> Iterator[Labelled]:
    """Every labelled task of a folder."""
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        outcome = document["outcome"]
        yield Labelled(
            name=document["id"],
            language=document["lang"],
            case=Case(
                goal=document["task"],
                steps=tuple(_step(step) for step in document["steps"]),
                memories=tuple(Given(id=m["id"], content=m["content"]) for m in document["injected_memories"]),
                outcome=Outcome(
                    at=START, success=outcome["success"], feedback=outcome["user_feedback"] or "", error=outcome["error"] or ""
                ),
            ),
            labels={label["ref"]: label for label in document["gold"]},
            episode=document["should_write_episode"],
        )


def _step(stored: dict[str, Any]) -> Step:
    text, said_by_user = stored["result"] or "", False
    if stored["kind"] == "message" and text.startswith("[user_"):
        text, said_by_user = text.split("]", 1)[1].strip(), True
    kind = StepKind.GOAL if said_by_user else StepKind(stored["kind"])
    return Step(
        id=str(stored["i"]),
        kind=kind,
        at=START + timedelta(seconds=stored["i"]),
        content=stored["error"] or text,
        tool=stored["tool"],
        arguments="" if stored["args"] is None else json.dumps(stored["args"], ensure_ascii=False),
        error=stored["error"] is not None,
    )


def likeness(case: Case) -> Mapping[str, Mapping[int, float]]:
    """How alike memories and steps are by the local model."""
    model = LocalEmbedder()

    def answer(op: Any) -> Any:
        return model.embed(op.texts, purpose=op.purpose)

    return drive(likeness_of_steps(case, space=model.space), answer)


def judged(task: Labelled) -> dict[str, Judgement]:
    """Every judgement of a task, by the reference that its label has."""
    return {
        judgement.ref: judgement for judgement in [*judge_steps(task.case), *judge_memories(task.case, likeness=task.likeness)]
    }


def figures(tasks: Sequence[Labelled]) -> dict[str, float]:
    """The five figures over some tasks."""
    pairs = [(label, judgement) for task in tasks for label, judgement in _pairs(task)]
    return {
        "role_f1": round(macro_f1([(label["causal_role"], judgement.role) for label, judgement in pairs]), 4),
        "effect_accuracy": _share([label["effect"] == judgement.effect for label, judgement in pairs]),
        "importance_in_band": _share(
            [label["min_importance"] <= judgement.importance <= label["max_importance"] for label, judgement in pairs]
        ),
        "episode_accuracy": _share([is_episode(task) == task.episode for task in tasks]),
        "model_share": _share([not judgement.sure for _, judgement in pairs]),
        "judgements": len(pairs),
    }


def is_episode(task: Labelled) -> bool:
    """Whether the task would be written as an episode, in a memory that knows none like it."""
    return worth_of(task.case, novelty=1.0).total > WriteConfig().episode_threshold


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """The mean of the roles' F1."""
    scores = []
    for role in CausalRole:
        right = sum(label == judgement == role for label, judgement in pairs)
        named = sum(label == role for label, _ in pairs) + sum(judgement == role for _, judgement in pairs)
        scores.append(2 * right / named if named else 1.0)
    return sum(scores) / len(scores)


def confusion(tasks: Sequence[Labelled]) -> dict[str, dict[str, int]]:
    """How often each labelled role was judged to be each role."""
    counted = Counter((label["causal_role"], str(judgement.role)) for task in tasks for label, judgement in _pairs(task))
    return {role: {other: counted[(role, other)] for other in CausalRole} for role in CausalRole}


def differences(tasks: Sequence[Labelled]) -> Iterator[str]:
    """One line for each judgement or episode that differs from its label."""
    for task in tasks:
        for label, judgement in _pairs(task):
            low, high = label["min_importance"], label["max_importance"]
            wrong = [
                label["causal_role"] != judgement.role,
                label["effect"] != judgement.effect,
                not low <= judgement.importance <= high,
            ]
            if any(wrong):
                told = f"{label['causal_role']} {label['effect']} {low}-{high}"
                yield f"{task.name} {label['ref']}: {told} judged {judgement.role} {judgement.effect} {judgement.importance} ({judgement.reason})"
        if is_episode(task) != task.episode:
            yield f"{task.name} episode: {task.episode} judged {worth_of(task.case, novelty=1.0)}"


def _pairs(task: Labelled) -> Iterator[tuple[dict[str, Any], Judgement]]:
    found = judged(task)
    known = {memory_ref(memory.id) for memory in task.case.memories} | {f"step:{step.id}" for step in task.case.steps}
    yield from ((label, found[ref]) for ref, label in task.labels.items() if ref in known)


def _share(hits: Sequence[bool]) -> float:
    return round(sum(hits) / max(len(hits), 1), 4)


if __name__ == "__main__":
    main()
