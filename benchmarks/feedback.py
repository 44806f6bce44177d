"""Whether memories find their place by what they did: tasks of a made-up world, through the real memory.

    python -m benchmarks.feedback [--tasks 300] [--seeds 3] [--plot docs/feedback.png] [--out FILE]

60 units of five machines: a third hold a setting that works, a third are worded like them and say nothing to act on, a third hold a
setting that does not work. An agent applies every setting that it recalls; the user thanks, or says what was wrong and what is right.
After half the tasks the world changes: what worked misleads from then on, and the other way round. Importances start equal; the memory
is told nothing but the outcomes.

Prints one JSON object: `start` (helpful share of the top 3 over the first 5 tasks of each machine's first sight), `after_100`,
`before_change`, `at_change`, `recovered_after` (tasks after the change until the share over 20 tasks is 0.9 again), and the curve.
"""

from __future__ import annotations

import json
import random
import tempfile
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from benchmarks.options import parser, tell
from hindsight_langgraph.config import HindsightConfig, RecallConfig
from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.ops import PutUnits
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Region, Scope

START = datetime(2025, 6, 1, 8, 0, tzinfo=UTC)
MACHINES = ("press", "kiln", "loom", "lathe", "boiler")
KNOBS = ("speed", "feed", "heat", "draft", "tension", "delay", "angle", "dose")
VAGUE = ("usual", "normal", "standard", "common", "plain", "regular", "typical", "ordinary")
EACH = 4
TOP = 3
WINDOW = 20
MANY = 30
"""Enough that the best of the 60 units are seen behind the episodes that earlier tasks left."""
AIM = 0.9


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What one unit says, and in which world it works (0, 1, or None for a unit with nothing to act on)."""

    unit_id: str
    machine: str
    knob: str
    value: int
    world: int | None


class Clock:
    """Moves an hour a task."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        """The moment, never the same twice."""
        self.at += timedelta(milliseconds=1)
        return self.at


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--tasks", type=int, default=300)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--plot", type=Path)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    runs = [simulate(given.tasks, seed) for seed in range(given.seeds)]
    report = {"mean": summary([fmean(shares) for shares in zip(*runs, strict=True)]), "runs": [summary(run) for run in runs]}
    tell(report, as_json=given.json)
    if given.out:
        given.out.write_text(json.dumps(report | {"curves": runs}) + "\n")
    if given.plot:
        plot(runs, given.plot)


def simulate(tasks: int, seed: int) -> list[float]:
    """The helpful share of the top 3 in each task."""
    rng, clock = random.Random(seed), Clock()
    shares: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        config = HindsightConfig(
            path=Path(folder),
            recall=RecallConfig(max_items=MANY, cut_max=MANY, max_tokens=10_000, dynamic_cut=False, abstain=False),
        )
        with HindsightMemory.open(config=config, embeddings="hash", clock=clock) as memory:
            settings = furnish(memory, rng)
            for number in range(tasks):
                clock.at += timedelta(hours=1)
                world = int(number >= tasks // 2)
                shares.append(work(memory, settings, MACHINES[number % len(MACHINES)], world, number))
    return shares


def furnish(memory: HindsightMemory, rng: random.Random) -> dict[str, Setting]:
    """Store the units; returns what each says."""
    settings: dict[str, Setting] = {}
    units: list[MemoryUnit] = []
    for machine in MACHINES:
        values = rng.sample(range(1_000, 9_999), 3 * EACH)
        kinds = [0] * EACH + [1] * EACH + [None] * EACH
        for world, value in zip(kinds, values, strict=True):
            setting = Setting(
                unit_id=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
                machine=machine,
                knob=rng.choice(KNOBS),
                value=value,
                world=world,
            )
            settings[setting.unit_id] = setting
            units.append(unit_of(setting, rng))
    rng.shuffle(units)
    vectors = HashEmbedder().embed(tuple(index_text(unit) for unit in units), purpose="document")
    indexed = tuple(
        IndexedUnit(unit=unit, dense=vector, text=document_vector(index_text(unit)), context=document_vector(context_text(unit)))
        for unit, vector in zip(units, vectors, strict=True)
    )
    memory._runtime.answer(PutUnits(units=indexed))  # noqa: SLF001 - the units are the world's, not read from a conversation
    return settings


def unit_of(setting: Setting, rng: random.Random) -> MemoryUnit:
    if setting.world is None:
        content = f"To prepare the {setting.machine} for a run, set the {setting.knob} to {rng.choice(VAGUE)}."
    else:
        content = f"To prepare the {setting.machine} for a run, set the {setting.knob} to {setting.value}."
    return MemoryUnit(
        id=setting.unit_id, owner="user:sim", content=content, region=Region.PROCEDURAL, kind=Kind.PROCEDURE, said_at=START,
        created_at=START, updated_at=START, base_importance=0.65, importance=0.65,
    )  # fmt: skip


def work(memory: HindsightMemory, settings: dict[str, Setting], machine: str, world: int, number: int) -> float:
    """One task from request to outcome; returns the helpful share of what was recalled."""
    scope = Scope(user_id="sim", session_id=f"task-{number}")
    asked = f"Prepare the {machine} for a run."
    recollection = top_units(memory.recall(asked, scope=scope), settings)
    found = [settings[unit.id] for unit in recollection.units]
    tried = [setting for setting in found if setting.world is not None and setting.machine == machine]
    memory.annotate(messages_of(asked, tried, number), scope=scope, recollection=recollection)
    wrong = [setting for setting in tried if setting.world != world]
    if tried and not wrong:
        memory.outcome(scope=scope, success=True, feedback="Thanks, it runs well.")
    else:
        right = [s for s in settings.values() if s.world == world and s.machine == machine]
        told = right[number // len(MACHINES) % len(right)]
        refused = "".join(f"{setting.value} is wrong. " for setting in wrong)
        memory.outcome(
            scope=scope, success=False, feedback=f"{refused}It must be {told.value} for the {told.knob}!", error="it does not run"
        )
    memory.settle(scope=scope)
    return sum(s.world == world and s.machine == machine for s in found) / TOP


def top_units(recollection: Recollection, settings: dict[str, Setting]) -> Recollection:
    """The best of the 60 units, without the episodes that earlier tasks left."""
    items = tuple(item for item in recollection.items if item.unit.id in settings)[:TOP]
    return recollection.model_copy(update={"items": items})


def messages_of(asked: str, tried: list[Setting], number: int) -> list[HumanMessage | AIMessage | ToolMessage]:
    """What the agent did: every setting that it was given, one call each."""
    calls = [
        {"name": f"{s.machine}.set", "args": {"knob": s.knob, "value": s.value}, "id": f"{number}-{i}"}
        for i, s in enumerate(tried)
    ]
    answers = [ToolMessage("set", tool_call_id=f"{number}-{i}", id=f"{number}-tool-{i}") for i in range(len(tried))]
    return [
        HumanMessage(asked, id=f"{number}-ask"),
        AIMessage("I go by what is known.", id=f"{number}-plan", tool_calls=calls),
        *answers,
        AIMessage("It is prepared.", id=f"{number}-done"),
    ]


def summary(shares: list[float]) -> dict[str, float | int | None]:
    """The figures of one curve."""
    change = len(shares) // 2
    recovered = next((i for i in range(WINDOW, change + 1) if fmean(shares[change + i - WINDOW : change + i]) >= AIM), None)
    return {
        "start": round(fmean(shares[: len(MACHINES)]), 3),
        "after_100": round(fmean(shares[100 : 100 + WINDOW]), 3),
        "before_change": round(fmean(shares[change - WINDOW : change]), 3),
        "at_change": round(fmean(shares[change : change + len(MACHINES)]), 3),
        "recovered_after": recovered,
        "end": round(fmean(shares[-WINDOW:]), 3),
    }


def plot(runs: list[list[float]], path: Path) -> None:
    """The share over the tasks, each run smoothed over the last 10 tasks."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for run in runs:
        axes.plot([fmean(run[max(0, i - 9) : i + 1]) for i in range(len(run))], linewidth=1.2)
    axes.axvline(len(runs[0]) / 2, color="grey", linestyle=":", label="the world changes")
    axes.axhline(AIM, color="grey", linestyle="--", linewidth=0.8, label="0.9")
    axes.set(xlabel="tasks", ylabel="helpful share of the top 3", ylim=(0, 1.03))
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
