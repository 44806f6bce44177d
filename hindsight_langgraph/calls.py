"""What a call of the memory comes down to, before any store is asked: secrets out, the moment fixed, the stage traced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import JsonValue

from hindsight_langgraph import tracing
from hindsight_langgraph.annotation.trajectory import Outcome, timed
from hindsight_langgraph.checkpointers.observations import Observation
from hindsight_langgraph.encoding.redact import knowing, redact_json, secrets_of, without_echoes
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.flows import hindsight, noting, observing, recalling, writing
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.telling import tell_outcome
from hindsight_langgraph.messages import read_turns
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.ports import Redactor
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import Scope, Turn
from hindsight_langgraph.scoping import as_scope
from hindsight_langgraph.working.session import read_session
from hindsight_langgraph.working.task_memory import write_task


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call under the settings of a memory at one moment. Each method gives the plan of the memory's method of that name."""

    settings: FlowSettings
    now: datetime

    def _taken_in(
        self, messages: Iterable[Any], at: datetime | None, scope: Scope, *, earlier: Iterable[Any] = ()
    ) -> tuple[list[Turn], FlowSettings]:
        """Turns without their secrets, and settings that know these again should a chat model echo one (CASES O24).

        Nothing behind this line is shown a secret.
        """
        turns, redact = read_turns(messages, at=at, earlier=earlier), self.settings.writing.redactor
        once = {text: redact(text) for turn in turns for text in (turn.text, turn.arguments)}
        secrets = tuple(dict.fromkeys(secret for text, (clean, _) in once.items() for secret in secrets_of(text, clean)))
        self.settings.secrets.learn(scope.owner, secrets)
        known = self.settings.secrets.of(scope.owner)  # what one message gives away another may only repeat
        taken, redactions = list[Turn](), dict[str, Mapping[str, int]]()
        for turn in turns:
            text, of_text = without_echoes(*once[turn.text], secrets=known)
            arguments, of_arguments = without_echoes(*once[turn.arguments], secrets=known)
            taken.append(turn.model_copy(update={"text": text, "arguments": arguments}))
            redactions[turn.id] = Counter(of_text) + Counter(of_arguments)
        writing_tools = replace(self.settings.writing, redactor=self._redactor(scope, *secrets), redactions=redactions)
        return taken, replace(self.settings, writing=writing_tools)

    def _redactor(self, scope: Scope, *more: str) -> Redactor:
        """Takes out secrets, those of the owner's earlier calls and these included."""
        redact, known = self.settings.writing.redactor, self.settings.secrets
        return lambda text, /: knowing(redact, (*known.of(scope.owner), *more))(text)

    def remember(
        self, messages: Iterable[Any], scope: Scope | str, at: datetime | None, *, dry_run: bool
    ) -> Plan[list[WriteReport]]:
        """Write messages, or tell what would be written."""
        turns, settings = self._taken_in(messages, at, as_scope(scope))
        plan = writing.remember(turns, scope=as_scope(scope), now=self.now, settings=settings, dry_run=dry_run)
        if dry_run:
            return plan
        return tracing.staged(
            "hindsight.remember",
            lambda _: plan,
            inputs=lambda: tracing.turns_shown(turns),
            outputs=tracing.reports_shown,
            scope=as_scope(scope),
        )

    def annotate(
        self, messages: Iterable[Any], scope: Scope | str, recollection: Recollection | None, at: datetime | None
    ) -> Plan[None]:
        """Take in what a step added."""
        turns, settings = self._taken_in(messages, at or self.now, as_scope(scope))
        recalled = [unit.id for unit in recollection.units] if recollection else []
        plan = writing.annotate(
            turns,
            recalled=recalled,
            asked=recollection.query.text if recollection else "",
            traced=recollection.run if recollection else None,
            scope=as_scope(scope),
            now=self.now,
            settings=settings,
        )
        return tracing.staged(
            "hindsight.annotate",
            lambda _: plan,
            inputs=lambda: {**tracing.turns_shown(turns), "recalled": recalled},
            outputs=lambda _: {"taken_in": len(turns)},
            scope=as_scope(scope),
        )

    def note(self, text: str, name: str, scope: Scope) -> Plan[WriteReport]:
        """What an agent or its user chose to keep."""
        message = {"role": "user", "content": text, "id": f"note:{scope.session_id}:{name}" if name else ""}
        (turn,), settings = self._taken_in([message], self.now, scope)
        return noting.note(turn, scope=scope, now=self.now, settings=settings)

    def redacted(self, query: Query, redact: Redactor | None = None) -> Query:
        """A query without its secrets."""
        redact = redact or self.settings.writing.redactor
        clean = {name: redact(text)[0] for name in ("text", "goal", "sub_step", "last_result") if (text := getattr(query, name))}
        return query.model_copy(update=clean)

    def recall(
        self, query: Query | str, scope: Scope | str, as_of: datetime | None, visible: Collection[str]
    ) -> Plan[Recollection]:
        """Recall what serves a step."""
        query = self.redacted(Query(text=query) if isinstance(query, str) else query, self._redactor(as_scope(scope)))
        return tracing.staged(
            tracing.RECALL_RUN,
            lambda run: recalling.recall(
                query,
                scope=as_scope(scope),
                now=self.now,
                as_of=as_of,
                visible=frozenset(visible),
                settings=self.settings,
                run=run,
            ),
            inputs=lambda: tracing.query_shown(query),
            outputs=tracing.recollection_shown,
            scope=as_scope(scope),
            kind="retriever",
        )

    def write_task(self, fields: Mapping[str, JsonValue], scope: Scope | str, duration_s: float | None) -> Plan[None]:
        """Set fields of the task in hand, without their secrets."""
        redact = self._redactor(as_scope(scope))
        return write_task(
            as_scope(scope),
            {name: redact_json(value, redact, name=name) for name, value in fields.items()},
            config=self.settings.config.working,
            chat=self.settings.chat,
            duration_s=duration_s,
        )

    def read_session(self, scope: Scope | str, budget: int | None) -> Plan[list[Turn]]:
        """The last turns of the thread."""
        return read_session(as_scope(scope), counter=self.settings.counter, config=self.settings.config.working, budget=budget)

    def outcome(self, scope: Scope | str, success: bool | None, feedback: str, error: str) -> Plan[None]:
        """Close the task in hand, and tell the runs that recalled for it."""
        redact = self._redactor(as_scope(scope))
        outcome = Outcome(at=self.now, success=success, feedback=redact(feedback)[0], error=redact(error)[0])
        if tracing.enabled():
            yield from tell_outcome(as_scope(scope), success=success, comment=outcome.feedback)
        yield from hindsight.close_task(as_scope(scope), outcome, now=self.now, settings=self.settings)

    def observed(self, seen: Observation, scope: Scope) -> Plan[None]:
        """Take in what a watched checkpointer saw of a run."""
        clean, settings = self._taken_in(seen.messages, self.now, scope, earlier=_messages_in(seen.changed.values()))
        turns = timed(clean, seen.took_s)
        return observing.note(
            turns, seen.changed, [settings.writing.redactor(error)[0] for error in seen.errors], name=seen.id, run_id=seen.run_id, branch=seen.ns, scope=scope, now=self.now,
            settings=settings,
        )  # fmt: skip


def _messages_in(values: Iterable[Any]) -> list[BaseMessage]:
    """The messages in lists of a graph's state."""
    lists: list[list[Any]] = [value for value in values if isinstance(value, list)]
    return [message for held in lists for message in held if isinstance(message, BaseMessage)]
