"""What every flow is given."""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.encoding.known_secrets import KnownSecrets
from hindsight_langgraph.encoding.write import WritingTools
from hindsight_langgraph.ports import TokenCounter
from hindsight_langgraph.recall.pipeline import RecallTools
from hindsight_langgraph.records import EmbeddingSpace


@dataclass(frozen=True, kw_only=True, slots=True)
class FlowSettings:
    """The settings and tools of one memory."""

    config: HindsightConfig
    writing: WritingTools
    recalling: RecallTools
    counter: TokenCounter
    space: EmbeddingSpace
    chat: bool
    """Whether a small chat model is configured."""
    secrets: KnownSecrets = field(default_factory=KnownSecrets)

    @property
    def strict(self) -> bool:
        """Whether an outage is raised to the caller instead of absorbed."""
        return self.config.on_error == "raise"
