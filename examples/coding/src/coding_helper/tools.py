"""What the helper can do: run the project's own commands, from a short list."""

from __future__ import annotations

import subprocess

from langchain_core.tools import tool

ALLOWED = ("python -m pytest", "make ", "git status", "git diff")


@tool
def run(command: str) -> str:
    """Run one of the project's commands: tests, make targets, git status, git diff."""
    if not command.startswith(ALLOWED):
        raise ValueError(f"only these may be run: {', '.join(ALLOWED)}")
    done = subprocess.run(command.split(), capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - from the list above
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout[-2000:]


TOOLS = [run]
