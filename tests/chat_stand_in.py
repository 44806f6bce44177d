"""An OpenAI-compatible chat server that answers by script, over a real socket."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.local_http import JsonRequests, listening


@dataclass(kw_only=True)
class ChatStandIn:
    """What was asked of a server, as it came in."""

    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(model, text of the last message) of each request."""

    def of(self, model: str) -> list[str]:
        """What one model was asked."""
        return [text for name, text in self.asked if name == model]


@contextmanager
def chatting(answer: Callable[[str, str], str]) -> Iterator[ChatStandIn]:
    """A server that replies with `answer(model, text of the last message)` while the block lasts; one word counts as one token."""
    seen = ChatStandIn()

    class Handler(JsonRequests):
        def respond(self) -> None:
            body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = body["messages"][-1]["content"]
            seen.asked.append((body["model"], text))
            said = answer(body["model"], text)
            usage = {"prompt_tokens": len(text.split()), "completion_tokens": len(said.split())}
            choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            reply = {
                "id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice],
                "usage": usage | {"total_tokens": sum(usage.values())},
            }  # fmt: skip
            self.reply(200, json.dumps(reply).encode())

    with listening(Handler) as url:
        seen.url = f"{url}/v1"
        yield seen
