"""Decide when nothing that was found is an answer, so that nothing is injected.

The best cosine alone tells answerable questions from others at an AUC of 0.64; words, things, forms and what was taken back add to it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.recall.evidence import evidence
from hindsight_langgraph.recall.filter import Kept, takes_back
from hindsight_langgraph.recall.recollection import Cues, Route
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.recall.walk import TERM
from hindsight_langgraph.records import Status

ABOUT_AS_GOOD: Final = 0.02
"""How far a retraction may score behind the best candidate, where it is the one that the question is most like."""
WALKED: Final = 0.5
"""What a walk leads to so surely is an answer, though it need not name what the question names."""
HEAD_VERSION: Final = 2
"""Goes up when the evidence changes; a head of another version is not used."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AbstentionHead:
    """A logistic classifier: does the evidence say that the question is answered?"""

    model: str
    """The embedding model whose cosines it was fitted on."""
    cosine_floor: float
    weights: Mapping[str, float]
    """By name of the evidence."""
    bias: float
    threshold: float
    """Below this probability recall abstains."""

    def probability(self, told: Mapping[str, float]) -> float:
        """How likely the evidence is that of an answer, 0 to 1."""
        logit = self.bias + sum(weight * told.get(name, 0.0) for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))

    def save(self, path: Path) -> None:
        """Write the head with its version."""
        body = {
            "version": HEAD_VERSION,
            "model": self.model,
            "cosine_floor": self.cosine_floor,
            "weights": {name: round(weight, 4) for name, weight in self.weights.items()},
            "bias": round(self.bias, 4),
            "threshold": round(self.threshold, 4),
        }
        path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def read_head(path: Path) -> AbstentionHead:
    """Read a head.

    Raises:
        StoreCorrupt: not a head, or one of another version.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        version = body.pop("version")
        head = AbstentionHead(**body)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreCorrupt(f"{path} is not an abstention head: {error}; fit it again") from error
    if version != HEAD_VERSION:
        raise StoreCorrupt(f"{path} has version {version}, this library reads {HEAD_VERSION}; fit it again")
    return head


def shipped_head(model: str) -> AbstentionHead | None:
    """The head that ships for an embedding model, or None when there is none and only the rules abstain."""
    place = resources.files("hindsight_langgraph") / "data" / f"abstention_head.{model}.json"
    with resources.as_file(place) as path:
        return read_head(path) if path.exists() else None


def reason_to_abstain(
    kept: Sequence[Kept], ranked: Sequence[Scored], cues: Cues, route: Route, *, head: AbstentionHead | None
) -> str:
    """Why nothing should be injected; blank when the best of `kept` may be an answer.

    Args:
        kept: what may be recalled, best first.
        ranked: every candidate, best first.
        cues: what the query gave.
        route: where it was sent.
        head: the classifier; None when there is none for this embedding model.
    """
    if not kept:
        return "nothing that was found may be recalled" if ranked else ""
    if not cues.history and _taken_back(ranked):
        return "what was known of it has been taken back"
    if head is None or any(k.unit.raw for k in kept[:1]) or not kept[0].scored.terms["cosine"]:
        return ""
    if kept[0].scored.terms["asked"]:  # it states the very attribute that the question names, whatever their words have in common
        return ""
    if kept[0].scored.terms.get(TERM, 0.0) >= WALKED:
        return ""
    odds = head.probability(evidence([k.scored for k in kept], cues, route, cosine_floor=head.cosine_floor))
    return f"the best candidate is no answer ({odds:.2f} of at least {head.threshold:.2f})" if odds < head.threshold else ""


def _taken_back(ranked: Sequence[Scored]) -> bool:
    """Whether the question is most like a unit that only takes something back, or like what that took back, and no other fits better."""
    told = [s for s in ranked if s.unit.status is not Status.SUPERSEDED]
    likest = max((s.terms["cosine"] for s in told), default=0.0)
    slack = ABOUT_AS_GOOD if likest else 0.0  # without embeddings nothing is known to be the likest
    return any(takes_back(s.unit) and s.terms["cosine"] >= likest and s.score >= told[0].score - slack for s in told)
