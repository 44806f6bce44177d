"""Takes what was injected into a model's input out of a node's output, so that it is never persisted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, cast

from langgraph.types import Command, Overwrite, Send
from pydantic import BaseModel

from hindsight_langgraph.messages import without_injected


def stripped(output: Any, key: str) -> Any:
    """A node's output as it was, without an injected message under `key`, in whatever form a node may answer."""
    match output:
        case Command():
            return _command(cast("Any", output), key)
        case Send():
            return Send(output.node, stripped(output.arg, key))
        case list() | tuple():
            parts = cast("Sequence[Any]", output)
            return [stripped(part, key) for part in parts]
        case Mapping():
            fields = cast("Mapping[str, Any]", output)
            return {**fields, key: _messages(fields[key])} if key in fields else fields
        case BaseModel() if hasattr(output, key):
            return output.model_copy(update={key: _messages(getattr(output, key))})
        case _ if is_dataclass(output) and not isinstance(output, type) and hasattr(output, key):
            return replace(output, **{key: _messages(getattr(output, key))})
        case _:
            return output


def _command(command: Command[Any], key: str) -> Command[Any]:
    update = command.update
    if isinstance(update, list | tuple):
        pairs = cast("Sequence[tuple[str, Any]]", update)
        update = [(name, _messages(value) if name == key else value) for name, value in pairs]
    else:
        update = stripped(update, key)
    goto = command.goto
    return replace(command, update=update, goto=goto if isinstance(goto, str) else stripped(goto, key))


def _messages(value: Any) -> Any:
    if isinstance(value, Overwrite):
        return Overwrite(_messages(value.value))
    return without_injected(cast("Sequence[Any]", value)) if isinstance(value, list | tuple) else value
