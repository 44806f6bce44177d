"""Evaluation sets as units and questions.

Every loader reads one folder of public data and returns spaces: one user's units, with the questions asked of them. The data is read where it
lies and never copied.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from hindsight_langgraph.records import Kind, MemoryUnit, Region, Role, user_owner

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
ADVERSARIAL = "5"
"""The category of LoCoMo's questions that nothing answers."""
PRECEDING_CHARS = 200
TURN_CHARS = 600
SOURCES = 250
"""Memory points a persona whose source is asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One question with the ids of the units that answer it."""

    text: str
    gold: frozenset[str]
    category: str
    at: datetime
    answer: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Space:
    """One user's units in the order they were said, with questions about them."""

    id: str
    units: tuple[MemoryUnit, ...]
    questions: tuple[Question, ...]
    names: tuple[str, ...] = field(default=())


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One message of a corpus."""

    id: str
    text: str
    session: str
    at: datetime
    role: Role = Role.USER
    name: str = ""


def units_of(space: str, lines: list[Line]) -> tuple[MemoryUnit, ...]:
    """Each line as one raw unit, with the end of the line before it in its session."""
    units: list[MemoryUnit] = []
    before: Line | None = None
    for line in lines:
        same = before is not None and before.session == line.session
        preceding = f"{before.name or before.role}: {before.text[-PRECEDING_CHARS:]}" if before is not None and same else ""
        units.append(
            MemoryUnit(
                id=line.id, owner=user_owner(space), content=line.text, region=Region.EPISODIC, kind=Kind.EPISODE, raw=True,
                session_id=line.session, sources=(line.id,), speaker=line.role, speaker_name=line.name, preceding=preceding,
                said_at=line.at, created_at=line.at, updated_at=line.at,
            )
        )  # fmt: skip
        before = line
    return tuple(units)


def _sessions(document: dict[str, object]) -> list[str]:
    return sorted((k for k in document if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:]))


def _with_photo(text: str, turn: dict[str, object]) -> str:
    return f"{text} [shares a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else text


def _evidence(labels: object, ids: set[str]) -> frozenset[str]:
    found = {f"D{int(a)}:{int(b)}" for label in labels for a, b in _EVIDENCE.findall(label)}  # type: ignore[attr-defined]  # a list of strings in both corpora
    return frozenset(found & ids)


def _numbered(start: datetime, position: int) -> datetime:
    """A turn's moment where only its session has one: a minute a turn."""
    return start + timedelta(minutes=position)


def locomo(data: Path) -> Iterator[Space]:
    """LoCoMo: ten conversations of two speakers, 1,986 questions."""
    for sample in json.loads((data / "locomo/locomo10.json").read_text()):
        talk, lines = sample["conversation"], []
        for session in _sessions(talk):
            start = datetime.strptime(talk[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            lines += [
                Line(id=t["dia_id"].replace("D:", "D"), text=_with_photo(t["text"], t), name=t["speaker"], session=session, at=_numbered(start, i))
                for i, t in enumerate(talk[session])
            ]  # fmt: skip
        ids, now = {line.id for line in lines}, lines[-1].at + timedelta(days=1)
        yield Space(
            id=sample["sample_id"], units=units_of(sample["sample_id"], lines), names=(talk["speaker_a"], talk["speaker_b"]),
            questions=tuple(
                Question(text=q["question"], gold=_evidence(q.get("evidence", []), ids), category=str(q["category"]), at=now, answer=str(q.get("answer", "")))
                for q in sample["qa"]
            ),
        )  # fmt: skip


def realtalk(data: Path) -> Iterator[Space]:
    """REALTALK: ten chats of real people over three weeks."""
    for path in sorted((data / "realtalk").glob("Chat_*.json")):
        talk, lines = json.loads(path.read_text()), []
        for session in _sessions(talk):
            for turn in talk[session]:
                text = _with_photo(turn.get("clean_text") or "", turn)
                if text.strip():
                    at = datetime.strptime(turn["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC)
                    lines.append(Line(id=turn["dia_id"], text=text, name=turn["speaker"], session=session, at=at))
        ids, now = {line.id for line in lines}, max(line.at for line in lines) + timedelta(days=1)
        yield Space(
            id=path.stem, units=units_of(path.stem, lines), names=tuple(talk["name"].values()),
            questions=tuple(
                Question(text=q["question"], gold=_evidence(q.get("evidence", []), ids), category=str(q["category"]), at=now, answer=str(q.get("answer", "")))
                for q in talk.get("qa", [])
            ),
        )  # fmt: skip


def _integers(value: object) -> set[int]:
    if isinstance(value, dict):
        return {number for part in value.values() for number in _integers(part)}
    if isinstance(value, list):
        return {number for part in value for number in _integers(part)}
    return {int(value)} if isinstance(value, int) or (isinstance(value, str) and value.isdigit()) else set()


def _beam_day(text: str | None) -> datetime | None:
    return datetime.strptime(text, "%B-%d-%Y").replace(tzinfo=UTC) if text else None


def beam(data: Path) -> Iterator[Space]:
    """BEAM-100K: the user's messages of twenty long chats, 400 probing questions in ten abilities."""
    for number in range(1, 21):
        lines, day = [], datetime(2024, 1, 1, tzinfo=UTC)
        for batch in json.loads((data / f"beam100k/{number}.chat.json").read_text()):
            day = _beam_day(batch["time_anchor"]) or day
            said = (m for group in batch["turns"] for m in group if m["role"] == "user")
            for position, message in enumerate(said):
                day = _beam_day(message.get("time_anchor")) or day
                text = re.sub(r"\s*->->\s*[\d,]+\s*$", "", message["content"])
                lines.append(
                    Line(id=str(message["id"]), text=text, session=str(batch["batch_number"]), at=_numbered(day, position))
                )
        ids, now = {line.id for line in lines}, max(line.at for line in lines) + timedelta(days=1)
        asked = json.loads((data / f"beam100k/{number}.questions.json").read_text())
        yield Space(
            id=f"beam-{number}", units=units_of(f"beam-{number}", lines),
            questions=tuple(
                Question(text=q["question"], gold=frozenset(map(str, _integers(q.get("source_chat_ids", [])))) & ids, category=kind, at=now)
                for kind, group in asked.items() for q in group
            ),
        )  # fmt: skip


def _chinese_time(text: str) -> datetime:
    return datetime.strptime(re.sub(r"\s*周.\s*", " ", text), "%Y年%m月%d日 %H:%M").replace(tzinfo=UTC)


def memdaily(data: Path, *, distractors: int = 50, every: int = 5, kin: bool = False) -> Iterator[Space]:
    """MemDaily (Chinese): each `every`th trajectory, with distractors mixed in.

    They are Chinese turns of the labelled dialogues, about other things; with `kin` messages of other trajectories of its kind, which
    often say the same of somebody else.
    """
    chat = list(_chinese_chat(data.parent / "gold"))
    for path in sorted((data / "memdaily_zh").glob("*.json")):
        trajectories = json.loads(path.read_text())
        pool = [
            (t["tid"], (m["message"], m["time"][:11], _chinese_time(m["time"]))) for t in trajectories for m in t["message_list"]
        ]
        for trajectory in trajectories:
            if trajectory["tid"] % every:
                continue
            space, rng = f"{path.stem}-{trajectory['tid']}", random.Random(f"{path.stem}-{trajectory['tid']}")
            others = rng.sample([m for tid, m in pool if tid != trajectory["tid"]] if kin else chat, distractors)
            told = [
                (f"m{m['mid']}", (m["message"], m["time"][:11], _chinese_time(m["time"]))) for m in trajectory["message_list"]
            ]
            told += [(f"d{i}", m) for i, m in enumerate(others)]
            rng.shuffle(told)
            lines = [Line(id=i, text=text, session=session, at=at) for i, (text, session, at) in told]
            ids = {line.id for line in lines}
            yield Space(
                id=space, units=units_of(space, lines),
                questions=tuple(
                    Question(text=q["question"], gold=frozenset(f"m{n}" for n in q["target_step_id"]) & ids, category=path.stem.split("_")[1], at=_chinese_time(q["time"]))
                    for q in trajectory["question_list"]
                ),
            )  # fmt: skip


def _chinese_chat(gold: Path) -> Iterator[tuple[str, str, datetime]]:
    """Text, day and moment of every turn of the Chinese dialogues."""
    for path in sorted((gold / "dialogues").glob("dlg-zh-*.json")):
        for session in json.loads(path.read_text())["sessions"]:
            start = datetime.fromisoformat(session["start"]).astimezone(UTC)
            for i, turn in enumerate(session["turns"]):
                yield turn["content"], f"{start:%Y-%m-%d}", _numbered(start, i)


def realmem(data: Path) -> Iterator[Space]:
    """RealMem (Apache-2.0): the memory points of ten personas, with the user turns that used them. Training only."""
    for path in sorted((data / "realmem").glob("*.json")):
        units: list[MemoryUnit] = []
        questions: list[Question] = []
        id_of: dict[str, str] = {}
        for session in json.loads(path.read_text())["dialogues"]:
            start = datetime.strptime(session["current_time"][:10], "%Y-%m-%d").replace(tzinfo=UTC)
            turns = session["dialogue_turns"]
            for i, turn in enumerate(turns):
                used = turns[i + 1].get("memory_used") or [] if turn.get("is_query") and i + 1 < len(turns) else []
                gold = frozenset(id_of[_text_of(m["content"])] for m in used if _text_of(m["content"]) in id_of)
                if gold:
                    questions.append(
                        Question(text=turn["content"], gold=gold, category=turn.get("topic", ""), at=_numbered(start, i))
                    )
            for point in session["extracted_memory"]:
                text, number = _text_of(point["content"]), len(units)
                id_of.setdefault(text, f"m{number}")
                at = _numbered(start, len(turns) + number % 100)
                units.append(
                    MemoryUnit(
                        id=f"m{number}", owner=user_owner(path.stem), content=text, region=Region.SEMANTIC, kind=Kind.FACT,
                        session_id=session["session_uuid"], sources=(f"m{number}",), said_at=at, created_at=at, updated_at=at,
                    )
                )  # fmt: skip
        yield Space(id=path.stem, units=tuple(units), questions=tuple(questions))


def realmem_turns(data: Path, *, personas: int = 3, ask: str = "questions") -> Iterator[Space]:
    """RealMem as whole turns of both speakers. Training only.

    Asked "questions", the evidence is the turns that the memories used by the answer were read from; asked "sources", a memory point
    is the question and the turn that it was read from the evidence.
    """
    for path in sorted((data / "realmem").glob("*.json"))[:personas]:
        lines: list[Line] = []
        questions: list[Question] = []
        statements: list[Question] = []
        turn_of: dict[str, str] = {}
        for number, session in enumerate(json.loads(path.read_text())["dialogues"]):
            start = datetime.strptime(session["current_time"][:10], "%Y-%m-%d").replace(tzinfo=UTC)
            turns = session["dialogue_turns"]
            for i, turn in enumerate(turns):
                used = turns[i + 1].get("memory_used") or [] if turn.get("is_query") and i + 1 < len(turns) else []
                gold = frozenset(turn_of[_text_of(m["content"])] for m in used if _text_of(m["content"]) in turn_of)
                if gold:
                    questions.append(Question(text=turn["content"], gold=gold, category="", at=_numbered(start, i)))
            said = [turn["content"].strip()[:TURN_CHARS] for turn in turns]
            for point in session["extracted_memory"]:
                snapshot, text = _text_of(point.get("source_content_snapshot") or "")[:TURN_CHARS], _text_of(point["content"])
                if snapshot in said:
                    source = f"s{number}t{said.index(snapshot)}"
                    turn_of.setdefault(text, source)
                    statements.append(Question(text=_bare(text), gold=frozenset({source}), category="statement", at=start))
            lines += [
                Line(
                    id=f"s{number}t{i}",
                    text=text,
                    session=session["session_uuid"],
                    at=_numbered(start, i),
                    role=Role.USER if turns[i]["speaker"] == "User" else Role.ASSISTANT,
                )
                for i, text in enumerate(said)
                if text
            ]
        if ask == "sources":
            questions = random.Random(path.stem).sample(statements, min(SOURCES, len(statements)))
        yield Space(id=path.stem, units=units_of(path.stem, lines), questions=tuple(questions))


def _bare(text: str) -> str:
    """A memory point without its heading."""
    return re.sub(r"^【[^】]*】\s*", "", text)


def _text_of(content: object) -> str:
    return content.strip() if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def longmemeval(data: Path) -> Iterator[Space]:
    """LongMemEval in its own form: one question over some fifty dated sessions; every file of the folder that is a list of them."""
    for path in sorted((data / "longmemeval_mini").glob("*.json")):
        document = json.loads(path.read_text())
        if not isinstance(document, list):
            continue
        for asked in document:
            lines: list[Line] = []
            sessions = zip(asked["haystack_session_ids"], asked["haystack_dates"], asked["haystack_sessions"], strict=True)
            for session, date, turns in sessions:
                lines += [
                    Line(id=f"{session}:{i}", text=turn["content"], session=session, at=_numbered(_weekday_time(date), i), role=Role(turn["role"]))
                    for i, turn in enumerate(turns)
                ]  # fmt: skip
            gold = frozenset(line.id for line in lines if line.session in asked["answer_session_ids"])
            yield Space(
                id=asked["question_id"], units=units_of(asked["question_id"], sorted(lines, key=lambda line: line.at)),
                questions=(
                    Question(
                        text=asked["question"], gold=gold, at=_weekday_time(asked["question_date"]), answer=str(asked["answer"]),
                        category="abstention" if asked["question_id"].endswith("_abs") else asked["question_type"],
                    ),
                ),
            )  # fmt: skip


def _weekday_time(text: str) -> datetime:
    return datetime.strptime(re.sub(r"\s*\(\w+\)\s*", " ", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def asked_of(name: str, space: Space) -> list[Question]:
    """The questions of a space that have evidence in it."""
    return [q for q in space.questions if q.gold and not (name == "locomo" and q.category == ADVERSARIAL)]


SETS: dict[str, Callable[[Path], Iterator[Space]]] = {
    "locomo": locomo,
    "realtalk": realtalk,
    "beam": beam,
    "memdaily": memdaily,
    "memdaily_kin": partial(memdaily, kin=True),
    "longmemeval": longmemeval,
    "realmem": realmem,
    "realmem_turns": realmem_turns,
    "realmem_sources": partial(realmem_turns, ask="sources"),
}
