"""Every setting, as values with their defaults. `HindsightConfig.from_env()` reads `HINDSIGHT_*` variables."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.records import Kind


class Section(BaseModel):
    """A frozen group of settings; an unknown name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class WorkingConfig(Section):
    """Working memory and session buffer (SPEC A3, A4)."""

    ttl_factor: float = Field(default=1.5, gt=0)
    task_duration_s: float = Field(default=2400.0, gt=0)
    """Expected duration of a task; working memory lives `ttl_factor` times as long (3,600 s by default)."""
    max_fields: int = Field(default=20, ge=2)
    fold_fields: int = Field(default=10, ge=1)
    """How many of the oldest fields are folded into the summary once there are more than `max_fields`."""
    summary_chars: int = Field(default=200, ge=20)
    session_ttl_s: float = Field(default=86_400.0, gt=0)
    session_keep: int = Field(default=500, ge=1)
    session_tokens: int = Field(default=2_000, ge=0)


class WriteConfig(Section):
    """Writing (SPEC B)."""

    link_top: int = Field(default=5, ge=0)
    link_cosine: float = Field(default=0.8, ge=0, le=1)
    duplicate_cosine: float = Field(default=0.95, ge=0, le=1)
    similar_cosine: float = Field(default=0.80, ge=0, le=1)
    episode_threshold: float = Field(default=0.5, ge=0, le=1)
    """An episode is written when its worth (SPEC B8) is above this."""
    max_turn_chars: int = Field(default=4_000, ge=200)
    """A longer turn is read in pieces of at most this many characters, each with its speaker."""
    tool_preview_chars: int = Field(default=2_000, ge=100)
    answer_tokens: int = Field(default=1_200, ge=32)
    """The longest answer that is asked of the chat model for one piece of conversation, in tokens."""
    policies: dict[Kind, Literal["keep", "ask", "drop"]] = Field(default_factory=dict[Kind, Literal["keep", "ask", "drop"]])
    """What may be written, by kind: keep it, hold it until it is approved, or drop it. A kind that is not named is kept."""


class RecallConfig(Section):
    """Recall (SPEC C, D)."""

    preset: Literal["fused", "balanced", "decay", "weighted", "associative", "causal"] = "fused"
    """"fused" measures best on the benchmark (SPEC C12); the others are SPEC C4 to C8."""
    router: Literal["head", "rules", "model"] = "head"
    """Who sends a question to its region: the trained head (rules, where there is none for the embedding model), rules alone, or the
    chat model (asked beside the embedding; the head where it fails)."""
    route_only: bool = False
    """True searches nothing but the routed region when the route is sure (SPEC D2); False lets the route weigh only."""
    dense_top: int = Field(default=100, ge=1)
    """SPEC D3 names 20; measured on LoCoMo, 100 candidates a channel find four points more of the evidence than 20."""
    lexical_top: int = Field(default=100, ge=1)
    entity_top: int = Field(default=10, ge=0)
    window_days: float = Field(default=7.0, ge=0)
    max_items: int = Field(default=5, ge=0)
    """SPEC D12 begins with the 3 best; measured on the labelled probes, they hold 95.9 % of what is expected and 5 hold 96.7 %."""
    max_tokens: int = Field(default=500, ge=0)
    entity_filter: bool = False
    """True drops every unit that shares no entity with a query that names one (SPEC D7); False lets the entity weigh only: measured,
    the strict filter loses four points of the expected memories, since not every name is caught on both sides."""
    ranker: bool = True
    """False leaves the order to the weighted sum."""
    walk: bool = True
    """False leaves out the walk from the first hits to an outcome, or through one thing to another (SPEC D4)."""
    off: tuple[str, ...] = ()
    """Terms of the preset "fused" that do not count, by name; for ablations."""
    abstain: bool = True
    """False injects the best candidates even if nothing says that they answer."""
    dynamic_cut: bool = True
    """False keeps as many as `max_items` whatever their scores (SPEC D6 off)."""
    cut_max: int = Field(default=10, ge=1)
    cut_gap: float = Field(default=0.15, gt=0)
    cut_soft_gap: float = Field(default=0.05, gt=0)
    cut_default: int = Field(default=5, ge=1)
    decay_per_day: float = Field(default=0.02, ge=0)
    failure_factor: float = Field(default=1.0, ge=0)
    """Scale of units that carry failure or refusal (SPEC C13); 1 leaves them alone."""
    signal_factor: float = Field(default=1.0, ge=0)
    """Scale of units that carry a preference, constraint or success (SPEC C13); 1 leaves them alone."""
    foreign_domain_factor: float = Field(default=0.5, ge=0, le=1)
    """Scale of units of another domain where the task's own is not clear (SPEC D9)."""


class ConsolidationConfig(Section):
    """Consolidation (SPEC F)."""

    light_turns: int = Field(default=20, ge=1)
    idle_s: float = Field(default=300.0, gt=0)
    merge_cosine: float = Field(default=0.92, ge=0, le=1)
    link_cosine: float = Field(default=0.85, ge=0, le=1)
    repeat_cosine: float = Field(default=0.60, ge=0, le=1)
    """Merges a text that by its words only repeats another ("as always")."""
    lease_s: float = Field(default=120.0, gt=0)
    """How long a run that died keeps others from the same owner."""
    off: tuple[str, ...] = ()
    """Passes that never run, by name; for ablations."""
    soft_days: float = Field(default=30.0, gt=0)
    hard_days: float = Field(default=90.0, gt=0)
    """Soft and hard forgetting begin at these ages in days (SPEC F7)."""
    unimportant: float = Field(default=0.3, ge=0, le=1)
    exempt: float = Field(default=0.8, ge=0, le=1)
    """Units at least so important are never forgotten."""
    core_cap: int = Field(default=300, ge=0)
    working_cap: int = Field(default=20_000, ge=0)
    """Units of one owner that a tier holds (SPEC A13)."""
    pattern_size: int = Field(default=3, ge=2)
    """Episodes of how many sessions make a pattern (SPEC F6)."""
    model_calls: int = Field(default=8, ge=0)
    """How often each pass may ask the chat model in one run: for statements, summaries, and whether two memories are one. 0 leaves all
    of that to the rules."""
    in_process: bool = True
    """False leaves due runs to other processes: Celery workers, or a cron on LangGraph Platform."""
    tick_s: float = Field(default=15.0, gt=0)
    """How often the process looks for owners whose idle time has come."""
    batch: int = Field(default=1_000, ge=2)
    """Units that are compared with each other at once."""


class HindsightConfig(BaseSettings):
    """All settings of one memory.

    Read from the environment by `from_env()`: `HINDSIGHT_REDIS_URL`, `HINDSIGHT_RECALL__MAX_TOKENS`, and so on.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="HINDSIGHT_", env_nested_delimiter="__", env_ignore_empty=True
    )

    path: Path = Path("memory")
    """Directory of the embedded stores."""
    redis_url: str | None = None
    """Working store on Redis or Valkey; None keeps it in SQLite under `path`."""
    redis_cluster: bool = False
    qdrant_url: str | None = None
    """Long-term store on a Qdrant server; None keeps it embedded under `path`."""
    qdrant_api_key: str | None = None
    checkpoint_url: str | None = None
    """Store of a checkpointer of its own, see `HindsightSaver.from_url`; None takes `redis_url`, else SQLite under `path`."""
    checkpoint_ttl_s: float | None = Field(default=None, gt=0)
    """How long such a checkpointer keeps a thread after its last write; None keeps it."""
    checkpoint_when_down: Literal["raise", "continue"] = "raise"
    """What a run meets while the store of the checkpointer is down: an error, or no durability (see `HindsightSaver`)."""
    prefix: str = "hindsight"
    """Prefix of every key and collection; it keeps deployments on one server apart."""
    embeddings: str = "auto"
    """"auto" (local when installed, else hash), "local", "hash", or "openai:MODEL"."""
    chat_model: str | None = None
    """"openai:MODEL" for the small model that does memory work; None works by rules."""
    chat_timeout_s: float = Field(default=60.0, gt=0)
    """The most that one answer of the chat model may take; nothing that answers a user waits for it."""
    chat_concurrency: int = Field(default=4, ge=1)
    """How many requests the chat model is given at once; 1 suits a model on this machine."""
    openai_api_key: str | None = None
    openai_base_url: str | None = None
    embedding_threads: int = Field(default=1, ge=1)
    timeout_s: float = Field(default=2.0, gt=0)
    """The most that one node may wait for stores that do not answer; each store gets half."""
    retry_after_s: float = Field(default=10.0, gt=0)
    """How long a store that failed is left alone before it is tried again."""
    durable: bool = False
    """True flushes the embedded long-term store at each write, for safety against power loss (a few ms a write)."""
    on_error: Literal["warn", "raise"] = "warn"

    working: WorkingConfig = WorkingConfig()
    write: WriteConfig = WriteConfig()
    recall: RecallConfig = RecallConfig()
    consolidation: ConsolidationConfig = ConsolidationConfig()

    @classmethod
    def from_env(cls) -> Self:
        """Settings from `HINDSIGHT_*` variables, and `OPENAI_*` where the former say nothing.

        Raises:
            ConfigError: a value is missing or out of range; the message names the variable.
        """
        try:
            return cls()
        except ValidationError as error:
            faults = "; ".join(f"HINDSIGHT_{'__'.join(str(p) for p in e['loc']).upper()}: {e['msg']}" for e in error.errors())
            raise ConfigError(f"settings from the environment: {faults}") from error
