"""Read from a query what to search by (SPEC D4, D5)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.encoding.entities import AliasTable, find_entities
from hindsight_langgraph.encoding.times import find_times
from hindsight_langgraph.recall.recollection import Cues, Query, Question

DISTANT: Final = timedelta(days=90)
"""From this age on a unit may be in cold storage (SPEC F7)."""

_PAST: Final = re.compile(
    r"\b(?:last (?:time|week|month|year|chat|call)|yesterday|earlier|previous(?:ly)?|ago|before|back then|the other (?:day|week)|remember (?:when|us|me)"
    r"|did (?:i|we|you|she|he|they)|have (?:i|we) (?:ever|already)|when did|when was|what happened|said|told|decided?|agreed?)\b"
    r"|上次|上回|上一次|昨[天晚]|前[天几些]|上个?(?:周|月|星期|礼拜)|去年|之前|以前|刚才|那[次天回]|当时|曾经|过吗|过没|说过|提过|聊过|聊到|定[的了]|决定了|怎么说的",
    re.IGNORECASE,
)
_HISTORY: Final = re.compile(
    r"\b(?:used to|previous(?:ly)?|formerly|original(?:ly)?|initial(?:ly)?|at first|first (?:decided?|plan|idea|choice|suggest\w*|version|say|said)|old (?:value|version|one|plan|limit|address)"
    r"|before (?:that|i|we|it|the (?:change|switch|move))|in the past|back then|once (?:use|used|have|had|was|were)|no longer|stop(?:ped)? \w+ing|changed? (?:from|my mind)|over time|history of|first\b.*\b(?:decide|choose|say|plan|set))\b"
    r"|以前|原来|原先|原本|最初|起初|最早|一开始|曾经|当初|从前|旧的|改之前|换之前|变更前|之前(?:用|是|住|定|的)|第一次|改过|换过|历史|变化",
    re.IGNORECASE,
)
_DISTANT: Final = re.compile(
    r"\b(?:long ago|years? ago|months ago|way back|a long time|last year|ages ago|back in (?:19|20)\d\d|years back)\b|很久(?:以前|之前)|好久以前|多年前|[几一二两三四五六七八九十\d]+年前|[几半]年前|几个月(?:前|之前|以前)|去年|前年|早年",
    re.IGNORECASE,
)
_QUESTIONS: Final[tuple[tuple[Question, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            Question.OUTCOME,
            r"\bhow did\b.*\b(?:end|go|turn out|work out|come out|finish)\b|\bwhat (?:came|became) of\b|\bwhere (?:did we leave|do we stand|are we)\b|\boutcome\b|\bend(?:ed)? up\b|\bin the end\b|\bverdict\b|结果|结局|最后(?:怎|定|选|决|是|用)|最终|后来(?:怎|呢|定|选|决)|怎么样了|进展|到哪一步",
        ),
        (Question.LATEST, r"\b(?:last time|most recent(?:ly)?|latest|last (?:decision|decided|said|told|did)|when did (?:i|we) last|newest)\b|上次|上一次|最近一次|最新|最后一次"),
        (Question.EARLIEST, r"\b(?:first (?:time|decide|plan|idea|suggest\w*|choice)|at first|originally|initially)\b|第一次|最初|最早|起初|一开始|当初"),
        (Question.AFTER, r"\b(?:after|since|following)\b|之后|以后|自从|过后"),
        (Question.BEFORE, r"\b(?:before|prior to|until)\b|之前|以前"),
        (Question.HOW_TO, r"\bhow (?:do|can|should|would|to|might)\b|\bsteps?\b|\bprocedure\b|\binstructions?\b|怎么(?:办|做|弄|处理|解决|用|配|装|上|发)|如何|步骤|流程|怎样"),
        (Question.WHEN, r"\bwhen\b|\bwhat (?:day|date|time|month|year)\b|\bwhich (?:day|date|month|year)\b|\bhow long\b|什么时候|几[号月点时]|哪[天年月]|何时|多久|星期几|周几"),
    )
)  # fmt: skip


def read_cues(query: Query, *, now: datetime, timezone: str = "UTC", aliases: AliasTable | None = None) -> Cues:
    """The cues of a query; relative times are read against `now` in the speaker's zone."""
    words, text = query.text or query.composite, query.composite
    known = aliases or AliasTable()
    named = (*(known.resolve(name) for name in query.entities), *find_entities(words, known))
    times = find_times(words, at=now, timezone=timezone)
    return Cues(
        text=text,
        entities=tuple(dict.fromkeys(named)),
        times=times,
        topics=tuple(dict.fromkeys(lexical.terms(text))),
        question=next((kind for kind, pattern in _QUESTIONS if pattern.search(words)), Question.STATE),
        history=bool(_HISTORY.search(words)),
        past=bool(_PAST.search(words)) or any(time.end <= now for time in times),
        distant=bool(_DISTANT.search(words)) or any(time.end < now - DISTANT for time in times),
    )
