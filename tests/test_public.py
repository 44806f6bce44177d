"""The public face: a short sorted list, and twins that agree."""

from __future__ import annotations

import inspect

import hindsight_langgraph
from hindsight_langgraph import errors, nodes
from hindsight_langgraph.memory import HindsightMemory


def test_the_public_names_are_these_and_sorted():
    assert hindsight_langgraph.__all__ == [
        "HindsightConfig", "HindsightError", "HindsightMemory", "MemoryUnit", "Query", "Recollection", "Scope", "Turn",
    ]  # fmt: skip
    assert nodes.__all__ == [
        "AnnotateAfterStep", "ConsolidateOnIdle", "MemoryState", "RecallBeforePlan", "Recalled", "arecollect", "recollect",
    ]  # fmt: skip
    for module in (hindsight_langgraph, nodes):
        assert all(hasattr(module, name) for name in module.__all__)


def test_every_method_has_an_awaiting_twin_with_the_same_parameters():
    methods = {
        name: member for name, member in inspect.getmembers(HindsightMemory, inspect.isfunction) if not name.startswith("_")
    }
    blocking = {name for name, member in methods.items() if not inspect.iscoroutinefunction(member)} - {
        "prompt",
        "recall_due",
        "on_event",
        "checkpointer",
        "consolidation_graph",
        "observe",
        "as_store",
        "tools",
        "step",
        "export_lines",
        "import_lines",
    }
    assert {f"a{name}" for name in blocking} == {name for name, member in methods.items() if inspect.iscoroutinefunction(member)}
    for name in blocking:
        assert inspect.signature(methods[name]) == inspect.signature(methods[f"a{name}"]), name


def test_every_error_is_in_the_tree_that_the_module_draws():
    classes = [member for _, member in inspect.getmembers(errors, inspect.isclass) if member.__module__ == errors.__name__]
    assert all(issubclass(member, errors.HindsightError) for member in classes)
    assert all(member.__name__ in (errors.__doc__ or "") for member in classes)
