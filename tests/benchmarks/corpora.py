"""Tiny made-up corpora in the formats of the public ones, which may not lie in this repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def locomo(data: Path) -> None:
    """Two conversations of two sessions; each with four questions that have an answer and one that has none."""
    people = (("Mira", "Jonas", "violin", "Porto"), ("Aylin", "Pavel", "cello", "Ghent"))
    _write(data / "locomo/locomo10.json", [_conversation(f"conv-{i}", *told) for i, told in enumerate(people)])


def _conversation(name: str, one: str, other: str, instrument: str, city: str) -> dict[str, Any]:
    first = [
        (one, f"Hi {other}! I started to learn the {instrument} last week."),
        (other, f"How lovely, {one}. I moved to {city} in March."),
        (one, "What do you do there?"),
        (other, "I bake bread in a small shop by the river."),
    ]
    second = [
        (other, f"How is the {instrument} going?"),
        (one, "I play every evening. My dog Biscuit howls along."),
        (other, "I sold my bicycle yesterday, it was too small."),
        (one, "A pity, you loved it."),
    ]
    questions = [
        (f"Which instrument does {one} learn?", instrument, 4, ["D1:1"]),
        (f"Where does {other} live?", city, 4, ["D1:2"]),
        (f"When did {other} sell the bicycle?", "9 May 2023", 2, ["D2:3"]),
        (f"Who howls when {one} plays the {instrument}?", "the dog Biscuit", 1, ["D1:1", "D2:2"]),
        (f"What does {one} paint?", "", 5, []),
    ]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": one, "speaker_b": other,
            "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": _turns(1, first),
            "session_2_date_time": "7:10 pm on 10 May, 2023", "session_2": _turns(2, second),
        },
        "qa": [{"question": q, "answer": a, "category": c, "evidence": e} for q, a, c, e in questions],
    }  # fmt: skip


def _turns(session: int, said: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"speaker": name, "dia_id": f"D{session}:{i}", "text": text} for i, (name, text) in enumerate(said, 1)]


def longmemeval(data: Path, *, last: str = "2023/05/02 (Tue) 08:05", asked_at: str = "2023/05/30 (Tue) 12:00") -> None:
    """Two questions over three sessions, one of them without an answer."""
    sessions = {
        "s1": ("2023/04/10 (Mon) 09:15", "My sister Dana moved to Leuven, so I take the train there on Sundays.", "Enjoy the ride."),
        "s2": ("2023/04/21 (Fri) 20:40", "My new kayak at the harbour is green and I keep it in the boat house.", "Have fun on the water."),
        "s3": (last, "Could you explain how yeast works?", "Yeast turns sugar into gas, which lifts the dough."),
    }  # fmt: skip
    asked = [
        ("q1", "What colour is my kayak?", "green", ["s2"]),
        ("q2_abs", "What is my brother's name?", "Only a sister is known.", []),
    ]
    _write(
        data / "longmemeval_mini/made.json",
        [
            {
                "question_id": name, "question_type": "single-session-user", "question": question, "answer": answer,
                "question_date": asked_at, "answer_session_ids": evidence, "haystack_session_ids": list(sessions),
                "haystack_dates": [date for date, *_ in sessions.values()],
                "haystack_sessions": [
                    [{"role": "user", "content": said}, {"role": "assistant", "content": reply}] for _, said, reply in sessions.values()
                ],
            }
            for name, question, answer, evidence in asked
        ],
    )  # fmt: skip


def realtalk(data: Path) -> None:
    """One chat of one session, with one question."""
    said = [
        ("Mira", "I finally got the violin that I dreamt of."),
        ("Jonas", "Show me!"),
        ("Mira", "Tomorrow, I am baking rye bread now."),
    ]
    session = [
        {"clean_text": text, "speaker": name, "date_time": f"29.12.2023, 22:4{i}:04", "dia_id": f"D1:{i}"}
        for i, (name, text) in enumerate(said, 1)
    ]
    asked = {"question": "What does Mira bake?", "answer": "rye bread", "evidence": ["D1:3"], "category": 1}
    chat = {"name": {"speaker_1": "Mira", "speaker_2": "Jonas"}, "session_1": session, "qa": [asked]}
    _write(data / "realtalk/Chat_1_Mira_Jonas.json", chat)


def beam(data: Path) -> None:
    """Twenty chats of three messages, each with a question that has an answer and one that has none."""
    for number in range(1, 21):
        said = [
            ("user", f"My tram is line {number}, it stops at the old mill."),
            ("assistant", "Noted."),
            ("user", "What rhymes with mill?"),
        ]
        turns = [
            {"role": role, "id": i, "time_anchor": None, "content": f"{text} ->-> 1,{i}"} for i, (role, text) in enumerate(said)
        ]  # fmt: skip
        chat = [{"batch_number": 1, "time_anchor": "March-15-2024", "turns": [turns]}]
        questions = {
            "information_extraction": [{"question": "Which tram line do I take?", "source_chat_ids": [0]}],
            "abstention": [{"question": "What do I paint?", "source_chat_ids": []}],
        }
        _write(data / f"beam100k/{number}.chat.json", chat)
        _write(data / f"beam100k/{number}.questions.json", questions)


def memdaily(data: Path) -> None:
    """Two trajectories, of which the loader takes the first; its distractors are turns of the Chinese dialogue of `gold`."""
    message = {"mid": 0, "message": "我将要参加木偶戏展览。", "time": "2024年04月01日 周一 08:30", "place": "本地"}
    asked = {"qid": 0, "question": "我要参加什么展览？", "target_step_id": [0], "time": "2024年04月04日 周四 07:42"}
    trajectory = {"message_list": [message], "question_list": [asked]}
    _write(data / "memdaily_zh/01_simple_events.json", [{"tid": tid, **trajectory} for tid in (0, 1)])


def precisionmembench(data: Path) -> None:
    """Three beliefs, one of them superseded, one of another domain; two single cases and a session of one turn."""
    told = [
        ("b-db", "Uses PostgreSQL as the database of the shop.", "database", "domain:code", "active", None),
        ("b-old-db", "Uses MongoDB as the database of the shop.", "database", "domain:code", "superseded", "b-db"),
        ("b-bread", "Bakes rye bread on Sundays.", "bread", "domain:home", "active", None),
    ]
    beliefs = [
        {
            "_id": name, "user_id": "test-user", "type": "decision", "canonical_name": subject, "aliases": [], "content": content,
            "scope": [scope], "epistemic_status": status, "superseded_by": by, "confidence": 0.9, "pinned": False, "resolved_at": None,
            "created_at": "2026-09-01T00:00:00Z", "updated_at": "2026-10-01T00:00:00Z",
        }
        for name, content, subject, scope, status, by in told
    ]  # fmt: skip
    asked = {"scope": ["domain:code"], "expect": {"facts": {"mustInclude": ["b-db"], "mustExclude": ["b-old-db", "b-bread"]}}}
    cases = [
        {"caseId": "c1", "category": "supersession", "query": "Which database does the shop use?", **asked},
        {"caseId": "c2", "category": "limits", "query": "Which database is it?", "budget": {"maxBeliefs": 1}, **asked},
    ]
    turn = {"turnIndex": 0, "userMessage": "Remind me which database the shop uses.", **asked}
    _write(data / "precisionmembench/beliefs.seed.json", beliefs)
    _write(data / "precisionmembench/retrieval.cases.json", cases)
    _write(data / "precisionmembench/session-retrieval.cases.json", [{"caseId": "s1", "turns": [turn]}])


def gold(folder: Path) -> None:
    """A labelled dialogue of each language, each with a fact that is replaced, and labelled questions to route."""
    english = [
        ("My badge number is 4471.", "badge number", "4471"), ("The kiln stands in hall seven.", "kiln place", "hall seven"),
        ("The kiln has moved to hall two.", "kiln place", "hall two"), ("I take the tram to work.", "commute", "tram"),
    ]  # fmt: skip
    chinese = [
        ("我的工牌号是 4471。", "工牌号", "4471"), ("窑炉在七号厅。", "窑炉位置", "七号厅"), ("窑炉搬到二号厅了。", "窑炉位置", "二号厅"),
        ("我坐电车上班。", "通勤", "电车"),
    ]  # fmt: skip
    chat = [f"今天整理了第{i}箱瓷器。" for i in range(50)]
    asked = {
        "en": (
            "What is my badge number?",
            "In which hall does the kiln stand now?",
            "How do I get to work?",
            "Who tunes the piano?",
        ),
        "zh": ("我的工牌号是多少？", "窑炉现在在几号厅？", "我怎么上班？", "谁给钢琴调音？"),
    }
    for language, said, more in (("en", english, []), ("zh", chinese, chat)):
        told = _dialogue(f"dlg-{language}-01", language, said, more, asked[language])
        _write(folder / f"dialogues/dlg-{language}-01.json", told)
    rows = [
        {"query": query, "lang": language, "region": region}
        for language, region, query in (
            ("en", "episodic", "What did we decide last Tuesday?"), ("en", "semantic", "What is my favourite tea?"),
            ("en", "procedural", "How do I restart the kiln?"), ("zh", "episodic", "上周二我们决定了什么？"),
            ("zh", "semantic", "我最喜欢的茶是什么？"), ("zh", "procedural", "怎么重启窑炉？"),
        )
    ]  # fmt: skip
    (folder / "routing.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")


def _dialogue(
    name: str, language: str, said: list[tuple[str, str, str]], more: list[str], asked: tuple[str, ...]
) -> dict[str, Any]:
    """The second statement is replaced by the third; the first three questions have the answers 1, 3 and 4, the last has none."""
    texts = [text for text, _, _ in said] + more
    answers: list[tuple[list[int], list[int]]] = [([1], []), ([3], [2]), ([4], []), ([], [])]
    return {
        "id": name, "lang": language, "user_id": "user_a",
        "sessions": [
            {
                "session_id": f"{name}-s1", "start": "2025-03-03T09:20:00+00:00",
                "turns": [{"id": f"{name}-t{i}", "role": "user", "content": text} for i, text in enumerate(texts, 1)],
            }
        ],
        "gold_memories": [
            {
                "id": f"{name}-m{i}", "turn_ids": [f"{name}-t{i}"], "type": "fact", "content": text, "subject": "user_a",
                "attribute": attribute, "value": value, "entities": [], "event_time": None,
            }
            for i, (text, attribute, value) in enumerate(said, 1)
        ],
        "supersessions": [{"old": f"{name}-m2", "new": f"{name}-m3", "why": "it moved"}], "duplicates": [],
        "probes": [
            {
                "id": f"{name}-p{i}", "at": "2025-03-05T10:00:00+00:00", "query": query, "region": "semantic", "answer": "", "kind": "fact",
                "expect_any_turns": [f"{name}-t{n}" for n in right], "forbid_turns": [f"{name}-t{n}" for n in wrong],
            }
            for i, (query, (right, wrong)) in enumerate(zip(asked, answers, strict=True), 1)
        ],
    }  # fmt: skip


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
