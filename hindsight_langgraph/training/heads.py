"""Train the heads of an embedding space on labelled dialogues (issue point 2).

`train_heads(Path("gold"), embedder)` takes seconds once the texts are embedded; `embedder=None` trains the heads over words alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.encoding.drafts import draft
from hindsight_langgraph.encoding.embed import EMBED_WEIGHT
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.features import Vector, embedding_text, prompt_of, turn_features, word_features
from hindsight_langgraph.encoding.heads import Heads, LinearHead, load_heads
from hindsight_langgraph.encoding.local_extractor import LocalExtractor
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.encoding.updates import UPDATE_FEATURES, Candidate, update_features
from hindsight_langgraph.errors import ConfigError, MissingExtra
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.ports import Embedder
from hindsight_langgraph.records import Kind, MemoryUnit, Role, Scope, Turn
from hindsight_langgraph.similarity import similarity
from hindsight_langgraph.training.dialogues import Dialogue, read_dialogues
from hindsight_langgraph.training.made_up import made_up_dialogues

GATE_REGULARISATION: Final = 1.0
"""scikit-learn's C. Measured leaving one dialogue out; 0.5 to 3 differ by less than 0.01."""
KIND_REGULARISATION: Final = 1.0
UPDATE_REGULARISATION: Final = 0.03
GATE_THRESHOLD: Final = 0.5
UPDATE_THRESHOLD: Final = 0.35
"""Measured leaving one dialogue out, given what is worth remembering: 0.81 of the updates found for 0.027 of the rest wrongly retired; 0.3
finds 0.79 for 0.02."""

MADE_UP_WEIGHT: Final = 0.5
"""What a turn of a made-up conversation counts beside one of a labelled dialogue, for the gate. They are there for their updates, which
count in full; their kinds are not learnt from, whose mix is not that of talk."""
PLAIN_WEIGHT: Final = 0.25
"""What a made-up plain turn counts beside a turn of a dialogue. Without them the gate keeps 1 plain statement in 20; at 0.25 it finds\n86 % (F1, five-fold) for 0.006 of F1 on the dialogues."""

_BEFORE: Final = 12


@dataclass(frozen=True, slots=True)
class _Example:
    turn: Turn
    before: tuple[Turn, ...]
    dialogue: Dialogue
    session_id: str

    @property
    def previous(self) -> Turn | None:
        return self.before[-1] if self.before else None


def train_heads(gold_dir: Path, embedder: Embedder | None, *, leave_out: Collection[str] = ()) -> Heads:
    """Heads for the embedder's space.

    Args:
        gold_dir: holds `dialogues/*.json`, see `training.dialogues`.
        embedder: its space is the heads' space; None trains over words alone, for every other space.
        leave_out: names of dialogues not to learn from, to measure on them.

    Raises:
        MissingExtra: scikit-learn is not installed.
        ConfigError: there is nothing to learn from.
    """
    labelled = [dialogue for dialogue in read_dialogues(gold_dir) if dialogue.name not in leave_out]
    dialogues = [*labelled, *made_up_dialogues()]
    examples = [example for dialogue in dialogues for example in _examples(dialogue)]
    vectors = _embed(embedder, [text for example in examples for text in _texts(example)])
    turns = [(example.turn, prompt_of(example.before), example.dialogue.kinds.get(example.turn.id)) for example in examples]
    turns += plain_turns()
    vectors |= _embed(
        embedder, [embedding_text(turn) for pair in turns[len(examples) :] for turn in pair[:2] if turn is not None]
    )
    features = np.array([_features(turn, previous, vectors if embedder else None) for turn, previous, _ in turns])
    kinds = np.array([str(kind or "") for _, _, kind in turns])
    names = {dialogue.name for dialogue in labelled}
    weights = np.array([1.0 if example.dialogue.name in names else MADE_UP_WEIGHT for example in examples])
    weights = np.append(weights, [PLAIN_WEIGHT] * (len(turns) - len(examples)))
    kept = kinds != ""
    typed = kept & (weights != MADE_UP_WEIGHT)
    gate = _fit(features, kept, weights=weights, regularisation=GATE_REGULARISATION, balanced=True)
    kind = _fit(features[typed], kinds[typed], weights=weights[typed], regularisation=KIND_REGULARISATION, balanced=True)
    heads = Heads(
        space=None if embedder is None else embedder.space,
        dialogues=tuple(dialogue.name for dialogue in labelled),
        gate=replace(gate, labels=("keep",), threshold=GATE_THRESHOLD),
        kind=kind,
        update=gate,  # replaced below; reading the kept turns needs the kinds first
    )
    rows, labels = _update_examples(dialogues, heads, vectors, embedder)
    update = _fit(rows, labels, weights=np.ones(len(labels)), regularisation=UPDATE_REGULARISATION, balanced=False)
    return replace(heads, update=replace(update, labels=("update",), threshold=UPDATE_THRESHOLD))


def unbiased_heads(name: str, gold_dir: Path, embedder: Embedder) -> Heads:
    """Heads that did not learn from the dialogue `name`: those that ship where they never saw it, else ones that leave it out."""
    shipped = load_heads(embedder.space)  # pyright: ignore[reportArgumentType]: a frozen record is hashable
    if name not in shipped.dialogues:
        return shipped
    heads = train_heads(gold_dir, embedder, leave_out={name})
    return replace(heads, words=train_heads(gold_dir, None, leave_out={name}))


def _examples(dialogue: Dialogue) -> Iterator[_Example]:
    """Every user turn, with the turns of its session before it."""
    for number, session in enumerate(dialogue.sessions):
        for i, turn in enumerate(session):
            if turn.role is Role.USER:
                yield _Example(turn, session[max(0, i - _BEFORE) : i], dialogue, f"{dialogue.name}-{number}")


def _texts(example: _Example) -> list[str]:
    return [embedding_text(turn) for turn in (example.turn, example.previous) if turn is not None]


def plain_turns() -> list[tuple[Turn, Turn | None, Kind | None]]:
    """Bare statements, answers, requests and small talk in both languages, which the dialogues have few of.

    Returns: (turn, the assistant's question before it or None, kind or None), from lines of "kind TAB text [TAB question]".
    """
    stored = (files("hindsight_langgraph") / "data" / "plain-turns.tsv").read_text(encoding="utf-8")
    return [_plain_turn(number, line) for number, line in enumerate(stored.splitlines()) if line]


def _plain_turn(number: int, line: str) -> tuple[Turn, Turn | None, Kind | None]:
    kind, text, *question = line.split("\t")
    turn = Turn(id=f"plain-{number}", role=Role.USER, text=text)
    asked = Turn(id=f"asked-{number}", role=Role.ASSISTANT, text=question[0]) if question else None
    return turn, asked, None if kind == "-" else Kind(kind)


def _features(turn: Turn, previous: Turn | None, vectors: Mapping[str, Vector] | None) -> NDArray[np.float64]:
    words = word_features(turn.text, previous.text if previous else "")
    if vectors is None:
        return words
    before = vectors[embedding_text(previous)] if previous else None
    return turn_features(words, vectors[embedding_text(turn)], before)


def _update_examples(
    dialogues: Sequence[Dialogue], heads: Heads, vectors: Mapping[str, Vector], embedder: Embedder | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Each memory against every earlier one of its dialogue that still holds."""
    read = {dialogue.name: _drafts(dialogue, heads, vectors) for dialogue in dialogues}
    drafts = {name: [unit for unit, _ in found] for name, found in read.items()}
    asked = {unit.id: vectors.get(embedding_text(turn)) for found in read.values() for unit, turn in found if turn is not None}
    embedded = _embed(embedder, [index_text(unit) for units in drafts.values() for unit in units])
    rows: list[NDArray[np.float64]] = []
    labels: list[bool] = []
    for dialogue in dialogues:
        holding: list[MemoryUnit] = []
        for new in drafts[dialogue.name]:
            pool = [
                Candidate(
                    unit=old,
                    similarity=_similarity(embedded.get(index_text(new)), embedded.get(index_text(old)), embedder),
                    asked_similarity=_similarity(asked.get(new.id), embedded.get(index_text(old)), embedder),
                )
                for old in holding
            ]
            replaced = [(old.sources[-1], new.sources[-1]) in dialogue.updates for old in holding]
            for chosen in _pools(len(pool)):
                rows.extend(update_features(new, [pool[i] for i in chosen]))
                labels.extend(replaced[i] for i in chosen)
            holding = [old for old, gone in zip(holding, replaced, strict=True) if not gone] + [new]
    return np.array(rows).reshape(-1, len(UPDATE_FEATURES)), np.array(labels)


def _pools(size: int) -> list[list[int]]:
    """The whole pool, and small ones out of it: a memory of three units must not make the least unlike of them an update."""
    if size == 0:
        return []
    steps = [range(start, size, max(1, size // 2)) for start in (0, size // 3)]
    return [list(range(size)), *(list(step)[:3] for step in steps if size > 3 and list(step))]


def _drafts(dialogue: Dialogue, heads: Heads, vectors: Mapping[str, Vector]) -> list[tuple[MemoryUnit, Turn | None]]:
    """The units of the labelled turns with the turn before each, as the local extractor reads them, in the order they were said."""
    units: list[tuple[MemoryUnit, Turn | None]] = []
    complete = {turns[-1] for turns in dialogue.said_by.values()}
    aliases = AliasTable()
    for example in _examples(dialogue):
        aliases = aliases.learn(example.turn.text)
        if example.turn.id not in complete or example.turn.at is None:
            continue
        scope = Scope(user_id=dialogue.name, session_id=example.session_id)
        reader = LocalExtractor(heads=heads, aliases=aliases, vectors=vectors)
        statements = reader.read(example.turn, context=example.before, scope=scope)
        units.extend(
            (
                draft(s, turn=example.turn, previous=example.previous, scope=scope, aliases=aliases, now=example.turn.at),
                example.previous,
            )
            for s in statements[:1]
        )
    return units


def _similarity(one: Vector | None, other: Vector | None, embedder: Embedder | None) -> float:
    if embedder is None or one is None or other is None:
        return 0.0
    return min(1.0, similarity(float(np.dot(one, other)), embedder.space))


def _embed(embedder: Embedder | None, texts: Sequence[str]) -> dict[str, Vector]:
    if embedder is None:
        return {}
    wanted = tuple(dict.fromkeys(texts))
    return dict(zip(wanted, embedder.embed(tuple(clip(text, EMBED_WEIGHT) for text in wanted), purpose="document"), strict=True))


def _fit(
    features: NDArray[np.float64],
    labels: NDArray[Any],
    *,
    weights: NDArray[np.float64],
    regularisation: float,
    balanced: bool,
) -> LinearHead:
    """Logistic regression over standardised features, with the standardisation folded into its weights."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("training needs scikit-learn: pip install 'langgraph-hindsight[train]'") from error
    if len(set(labels.tolist())) < 2:
        raise ConfigError("there is nothing to tell apart in the dialogues: every example has the same label")
    spread = np.ones(features.shape[1]) if balanced else features.std(axis=0) + 1e-6
    model: Any = LogisticRegression(C=regularisation, max_iter=5_000, class_weight="balanced" if balanced else None)
    model.fit(features / spread, labels, sample_weight=weights)
    return LinearHead(
        labels=tuple(str(label) for label in model.classes_),
        weights=np.asarray(model.coef_, dtype=np.float64) / spread,
        bias=np.asarray(model.intercept_, dtype=np.float64),
    )
