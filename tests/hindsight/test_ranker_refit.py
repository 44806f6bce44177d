"""The ranker that a deployment learns from its own outcomes: fitted per domain, checked, used, taken back (SPEC E6)."""

from __future__ import annotations

import base64
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hindsight_langgraph.cli import app
from hindsight_langgraph.errors import CallError, ConfigError, MissingExtra
from hindsight_langgraph.flows.teaching import read_lessons
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.domain_rankers import RankerShelf
from hindsight_langgraph.recall.lessons import LINEAR, Lesson, Worth
from hindsight_langgraph.recall.ranker import FEATURES, RANKER_VERSION
from hindsight_langgraph.records import Kind, MemoryUnit, Scope
from hindsight_langgraph.training.outcomes import LEAST_TASKS, by_domain, fit_rankers, helps, ndcg
from tests.clock import NOON
from tests.hindsight.workshop import MACHINES, NEW, furnish, place, put, unit_of, work
from tests.memory.opening import open_memory

pytest.importorskip("lightgbm")
pytest.importorskip("sklearn")

SHOP = Scope(user_id="u1", session_id="later", domain="workshop")
DIGITS = FEATURES.index("digits")


def scope_of(number: int, domain: str | None = "workshop") -> Scope:
    return Scope(user_id="u1", session_id=f"s{number}", domain=domain)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory after fifty tasks of one domain."""
    path = tmp_path_factory.mktemp("worked")
    with open_memory(path) as memory:
        settings = furnish(memory, MACHINES)
        for i, machine in enumerate(MACHINES):
            work(memory, machine, settings[machine], scope=scope_of(i))
    return path


@pytest.fixture
def memory(worked: Path, tmp_path: Path):
    shutil.copytree(worked / "memory", tmp_path / "memory")
    with open_memory(tmp_path) as opened:
        yield opened


@pytest.fixture
def new(memory: HindsightMemory) -> dict[str, MemoryUnit]:
    return furnish(memory, NEW)


def places(memory: HindsightMemory, notes: dict[str, MemoryUnit], scope: Scope = SHOP) -> list[int]:
    return [place(memory, machine, notes[machine], scope=scope) for machine in NEW]


def test_recall_ranks_what_nobody_judged_yet_better_after_training(memory: HindsightMemory, new: dict[str, MemoryUnit]):
    before = places(memory, new)
    trained = memory.train(scopes=["u1"], only="ranker")
    (ranker,) = trained.rankers
    assert (ranker.domain, ranker.tasks, ranker.used, trained.version) == ("workshop", len(MACHINES), True, 1)
    assert ranker.after > ranker.before
    assert sum(places(memory, new)) < sum(before)


def test_switching_back_brings_the_old_ranking_back(memory: HindsightMemory, new: dict[str, MemoryUnit]):
    before = places(memory, new)
    memory.train(scopes=["u1"], only="ranker")
    assert memory.untrain() is None
    assert places(memory, new) == before


def test_a_ranker_serves_its_domain_alone(memory: HindsightMemory, new: dict[str, MemoryUnit]):
    elsewhere = Scope(user_id="u1", session_id="later", domain="kitchen")
    before = [places(memory, new, scope) for scope in (elsewhere, Scope(user_id="u1", session_id="later"))]
    memory.train(scopes=["u1"], only="ranker")
    assert [places(memory, new, scope) for scope in (elsewhere, Scope(user_id="u1", session_id="later"))] == before


def test_a_memory_opened_later_ranks_by_it_too(memory: HindsightMemory, new: dict[str, MemoryUnit], tmp_path: Path):
    memory.train(scopes=["u1"], only="ranker")
    learned = places(memory, new)
    memory.close()
    with open_memory(tmp_path) as again:
        assert places(again, new) == learned


def test_the_search_itself_says_that_a_ranker_had_the_last_word(memory: HindsightMemory, new: dict[str, MemoryUnit]):
    memory.train(scopes=["u1"], only="ranker")
    found = memory.recall(f"Prepare the {NEW[0]} for a run.", scope=SHOP)
    assert {"linear", "ranker"} <= set(found.items[0].terms)
    assert found.items[0].unit.id == new[NEW[0]].id


def test_a_ranker_that_finds_everything_in_order_is_refused_and_nothing_changes(tmp_path: Path):
    with open_memory(tmp_path) as memory:
        notes = {
            machine: unit_of(machine, f"Prepare the {machine} for a run by setting {i + 100}.", Kind.PROCEDURE)
            for i, machine in enumerate(MACHINES)
        }
        put(memory, list(notes.values()))
        for i, machine in enumerate(MACHINES):
            work(memory, machine, notes[machine], scope=scope_of(i))
        trained = memory.train(scopes=["u1"], only="ranker")
        assert [ranker.used for ranker in trained.rankers] == [False]
        assert trained.version is None
        assert memory._settings.recalling.learned == {}


def test_the_command_fits_says_what_it_did_and_goes_back(worked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(worked / "memory", tmp_path / "memory")
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    arguments = ["train", "--path", str(tmp_path / "memory"), "--user", "u1"]
    told = CliRunner().invoke(app, [*arguments, "--only", "ranker"])
    assert "ranker for workshop: 50 tasks" in " ".join(told.output.split())
    assert "version 1 is in use" in told.output
    assert RankerShelf(tmp_path / "memory" / "rankers").current == 1
    assert CliRunner().invoke(app, ["train", "--path", str(tmp_path / "memory"), "--back"]).exit_code == 0
    assert RankerShelf(tmp_path / "memory" / "rankers").current is None


def test_an_unknown_part_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    told = CliRunner().invoke(app, ["train", "--path", str(tmp_path / "memory"), "--only", "everything"])
    assert isinstance(told.exception, CallError)


@pytest.mark.parametrize("library", ["lightgbm", "sklearn"])
def test_without_the_library_the_error_says_what_to_install(
    memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch, library: str
):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=r"langgraph-hindsight\[train\]"):
        memory.train(scopes=["u1"])


def test_an_outcome_told_otherwise_replaces_the_lesson(memory: HindsightMemory):
    scope = scope_of(0)
    memory.outcome(scope=scope, success=False, feedback="No, 400 is wrong.", error="it does not run")
    memory.settle(scope=scope)
    lessons = memory._run(read_lessons(scope))
    assert len(lessons) == len(MACHINES)
    (lesson,) = [lesson for lesson in lessons if not lesson.tells]
    assert Worth.MISLEADING in lesson.grades


def test_erasing_a_user_erases_the_lessons(memory: HindsightMemory):
    memory.erase(scope="u1")
    assert memory._run(read_lessons(Scope(user_id="u1"))) == []


# --- fitted on figures alone -------------------------------------------------------------------------------------------------


def lesson(number: int, *, learnable: bool, domain: str | None = "d") -> Lesson:
    """Twelve candidates of which one helps: the one with figures in it, or any."""
    rng = np.random.default_rng(number)
    table = rng.random((12, len(FEATURES))).astype(np.float16)
    table[:, DIGITS] = 0
    table[:, LINEAR] = np.sort(table[:, LINEAR])[::-1]
    helpful = int(rng.integers(12))
    if learnable:
        table[helpful, DIGITS] = 1
    grades = [Worth.IGNORED] * 12
    grades[helpful], grades[(helpful + 5) % 12] = Worth.HELPFUL, Worth.MISLEADING
    return Lesson(
        case=f"case {number}",
        at=NOON,
        domain=domain,
        features=RANKER_VERSION,
        grades=tuple(grades),
        table=base64.b64encode(table.tobytes()).decode(),
    )


def test_what_can_be_learnt_is_learnt_for_tasks_that_were_not_seen():
    (fit,) = fit_rankers({"d": [lesson(i, learnable=True) for i in range(80)]}, shipped=None)
    assert fit.told.used
    assert fit.told.after > fit.told.before + 0.1


def test_what_cannot_be_learnt_is_refused_but_for_the_chance_of_one_in_twenty():
    fits = [
        fit_rankers({"d": [lesson(1_000 * seed + i, learnable=False) for i in range(80)]}, shipped=None)[0] for seed in range(8)
    ]
    assert sum(fit.told.used for fit in fits) <= 2


def test_a_domain_with_too_few_tasks_is_left_alone():
    few = [lesson(i, learnable=True, domain="few") for i in range(LEAST_TASKS - 1)]
    many = [lesson(i, learnable=True, domain=None) for i in range(LEAST_TASKS)]
    assert list(by_domain([*few, *many])) == [""]


def test_lessons_of_other_features_teach_nothing():
    old = [lesson(i, learnable=True).model_copy(update={"features": RANKER_VERSION + 1}) for i in range(LEAST_TASKS)]
    assert by_domain(old) == {}


def test_a_gain_that_chance_explains_is_no_help():
    before = np.zeros(50)
    assert not helps(before, np.where(np.arange(50) % 2, 0.5, -0.45))
    assert helps(before, np.full(50, 0.02) + np.arange(50) / 10_000)


def test_ndcg_is_one_for_the_best_order_and_less_for_any_other():
    grades = np.array([0, 1, 2], dtype=np.int8)
    assert ndcg(np.array([0.0, 1.0, 2.0], dtype=np.float32), grades) == pytest.approx(1.0)
    assert ndcg(np.array([2.0, 1.0, 0.0], dtype=np.float32), grades) < 1.0


def test_rankers_that_a_later_training_left_alone_stay_in_use(tmp_path: Path):
    shelf = RankerShelf(tmp_path / "rankers")
    fits = {
        fit.told.domain: fit.trees for fit in fit_rankers({"a": [lesson(i, learnable=True) for i in range(40)]}, shipped=None)
    }
    assert (shelf.add({"a": fits["a"]}), shelf.add({"b": fits["a"]})) == (1, 2)
    assert sorted(shelf.load()) == ["a", "b"]
    assert (shelf.back(), sorted(shelf.load())) == (1, ["a"])


def test_damaged_rankers_are_an_error_that_says_what_to_run(tmp_path: Path):
    shelf = RankerShelf(tmp_path)
    (tmp_path / "rankers-1.json").write_text("nonsense")
    shelf.use(1)
    with pytest.raises(ConfigError, match="hindsight train --back"):
        shelf.load()
