"""Copies a template project: `hindsight new NAME --template personal`."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path
from typing import Final

from hindsight_langgraph.errors import CallError

TEMPLATES: Final = {
    "personal": "a personal assistant: create_agent with HindsightMiddleware",
    "support": "a support desk: a StateGraph with memory nodes, one memory per customer, failing tools, approvals",
    "coding": "a coding helper: attach_memory on a finished graph; it learns procedures and failures",
}
_MADE = shutil.ignore_patterns("__pycache__", "*.pyc", ".pytest_cache", ".venv", ".env", "memory")


def template_path(template: str) -> Path:
    """Where a template lies: in the installed package, or in a checkout beside it.

    Raises:
        CallError: there is no such template.
    """
    if template not in TEMPLATES:
        raise CallError(f"there is no template {template!r}; there are {', '.join(TEMPLATES)}")
    package = Path(str(resources.files("hindsight_langgraph")))
    installed = package / "templates" / template
    return installed if installed.is_dir() else package.parent / "examples" / template


def new_project(target: Path, template: str) -> Path:
    """Copy a template to `target`, which must not exist or be empty. Returns where it is.

    Raises:
        CallError: there is no such template, or something is at `target`.
    """
    source = template_path(template)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CallError(f"{target} is not empty; choose another name")
    shutil.copytree(source, target, ignore=_MADE, dirs_exist_ok=True)
    return target
