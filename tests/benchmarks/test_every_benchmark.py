"""No benchmark rots: each says what it takes, and those of recall run on corpora of a few lines."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import benchmarks
from tests.benchmarks import corpora

FOLDER = Path(benchmarks.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
COMMANDS = [name for name in MODULES if "\ndef main(" in (FOLDER / f"{name}.py").read_text(encoding="utf-8")]


def call(name: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    """Run a benchmark in this process."""
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
    monkeypatch.setattr(sys, "path", list(sys.path))
    import_module(f"benchmarks.{name}").main()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_benchmark_says_what_it_takes(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        call(name, monkeypatch, "--help")
    assert left.value.code == 0
    told = capsys.readouterr().out
    assert told.startswith("usage: ")
    documented = (import_module(f"benchmarks.{name}").__doc__ or "").split()
    assert " ".join(documented[:8]) in " ".join(told.split())


@pytest.mark.parametrize("name", sorted(set(MODULES) - set(COMMANDS)))
def test_what_benchmarks_share_can_be_imported(name: str) -> None:
    assert import_module(f"benchmarks.{name}").__doc__


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with data/ and gold/, as the benchmarks expect it."""
    folder = tmp_path_factory.mktemp("shared")
    corpora.locomo(folder / "data")
    corpora.longmemeval(folder / "data")
    corpora.realtalk(folder / "data")
    corpora.beam(folder / "data")
    corpora.memdaily(folder / "data")
    corpora.precisionmembench(folder / "data")
    corpora.gold(folder / "gold")
    return folder


@pytest.fixture
def figures(data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """A run of a benchmark on those corpora; gives the object that it ends with."""

    def ran(name: str, *options: str, cached: bool = True) -> dict[str, Any]:
        cache = ["--cache", str(data / "vectors")] if cached else []
        call(name, monkeypatch, "--data", str(data), "--json", *cache, *options)
        told: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
        return told

    return ran


METHODS = {"ours", "linear", "naive_vector", "bm25", "rrf"}


@pytest.mark.parametrize(
    ("name", "questions"), [("locomo", 8), ("realtalk", 1), ("beam", 20), ("memdaily", 1), ("longmemeval", 1)]
)
def test_recall_is_measured_on_every_public_set(figures: Any, name: str, questions: int) -> None:
    told = figures("recall", "--sets", name, "--ablate-every", "0", "--skip-folds")[name]
    assert set(told) == METHODS
    assert {method["n"] for method in told.values()} == {questions}
    assert all(0 <= method["mrr"] <= 100 and len(method["r10_interval"]) == 2 for method in told.values())
    assert told["ours"]["r10"] > 0


def test_recall_tells_what_each_term_is_worth(figures: Any) -> None:
    told = figures("recall", "--sets", "realtalk", "--ablate-every", "1", "--skip-baselines")
    assert told["ablations"]["realtalk"]["all"]["r10_loss"] == 0
    assert {"without_dense", "without_walk", "preset_causal"} <= set(told["ablations"]["realtalk"])


def test_recall_is_measured_on_the_labelled_probes(figures: Any) -> None:
    told = figures("recall", "--sets", "gold", "--ablate-every", "0")["gold"]
    assert told["expected"] > 0.5
    assert told["forbidden"] == 0
    assert told["tokens"] > 0


def test_tokens_are_counted_for_each_method(figures: Any) -> None:
    told = figures("tokens")
    assert set(told) == {"locomo", "gold"}
    assert all(set(methods) == {"ours", "ours_top5", "naive_top5", "history"} for methods in told.values())
    assert told["locomo"]["history"]["recall"] == 100
    assert all(method["tokens"] > 0 for methods in told.values() for method in methods.values())


def test_abstention_is_measured_by_dialogues_that_were_left_out(figures: Any) -> None:
    told = figures("abstention")
    assert told["trials"] == 14
    assert 0 <= told["refused"] <= 1


def test_routing_is_measured_by_folds(figures: Any, tmp_path: Path) -> None:
    told = figures("router", "--save", str(tmp_path / "head.npz"))
    assert set(told) == {"accuracy", "en", "zh", "rules", "unseen"}
    assert told["accuracy"] > 0.5
    assert (tmp_path / "head.npz").stat().st_size > 0


def test_what_must_not_be_returned_is_measured(figures: Any) -> None:
    told = figures("precision", cached=False)
    assert (told["cases"], told["must_not_held"], told["leaks"]) == (3, 1.0, {})
    assert told["found"] > 0
