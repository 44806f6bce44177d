"""The conversation that the demo replays: read once from the package's data."""

from __future__ import annotations

from importlib import resources

from pydantic import AwareDatetime

from hindsight_langgraph.records import Record, Role


class Line(Record):
    """One message of the conversation."""

    id: str
    role: Role
    text: str


class Session(Record):
    """One conversation of the user: a thread of its own."""

    id: str
    start: AwareDatetime
    turns: tuple[Line, ...]


class Question(Record):
    """A question asked in a new session, with what its answer must and must not present as true."""

    question: str
    at: AwareDatetime
    expect: tuple[str, ...]
    not_current: tuple[str, ...]


class Script(Record):
    """The whole conversation."""

    about: str
    user_id: str
    restart_after: str
    """Id of the session after which the process ends and a new one takes over."""
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    def part(self, number: int) -> tuple[Session, ...]:
        """The sessions before the restart (1) or after it (2)."""
        cut = next(i for i, session in enumerate(self.sessions, 1) if session.id == self.restart_after)
        return self.sessions[:cut] if number == 1 else self.sessions[cut:]


def read_script() -> Script:
    """The shipped conversation."""
    return Script.model_validate_json(resources.files("hindsight_langgraph").joinpath("data/demo.json").read_bytes())
