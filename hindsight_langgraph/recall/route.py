"""Send a query to the regions that can answer it (SPEC D2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

from hindsight_langgraph.recall.recollection import Cues, Question, Route
from hindsight_langgraph.records import Region

SURE: Final = 0.6
"""Below this best score the other regions are searched as well."""
PAST_BONUS: Final = 0.3
"""What a reference to the past adds to the episodic score."""
PRIORITY: Final = (Region.PROCEDURAL, Region.EPISODIC, Region.SEMANTIC)
"""Which region wins when several are signalled alike."""

SIGNALS: Final[dict[Region, tuple[re.Pattern[str], ...]]] = {
    region: tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)
    for region, patterns in {
        Region.PROCEDURAL: (
            r"\bhow (?:do|can|should|would|to|might|2)\b(?!.*\b(?:like|prefer|take my|call)\b)|怎么(?:办|做|弄|处理|解决|修|配|装|查|救|转|发布)|如何|怎样|咋(?:整|办|弄|修)|该怎么",
            r"\b(?:steps?|procedure|checklist|runbook|playbook|instructions?|walk me through|guide|recipe|routine|trick|sequence|in what order|which order)\b|步骤|流程|清单|手册|工序|操作|姿势|[哪几]步|命令|老规矩|接下来",
            r"\b(?:fix(?:ed)?|solved?|cured?|remedy|workaround|dealt with|handled?|help|what now)\b|修好|解决的|止住|缓过来|救命|管用|有.*招",
            r"\b(?:fails?|failing|broken|throwing|offline|refused|crash\w*|stuck|timeouts?|timed out)\b|报错|又.{0,6}了$|挂了|卡住|白屏|打不开|连不上",
        ),
        Region.EPISODIC: (
            r"\b(?:yesterday|last (?:time|week|month|year|night|chat|call)|ago|earlier|previous\w*|the other day|back when|when (?:i|we) (?:talked|spoke|met))\b|上次|上回|上周|上个月|昨[天晚]|前天|那[次天回]|当[时初]|之前|刚才",
            r"\b(?:did|happened|said|told|decided?|agreed?|promised|turned? out|ended? up|argued?|discuss\w*|mention\w*|session|meeting|summari[sz]e)\b|[说提聊谈讲吵]过|来着|后来|结果|拍[的]?板|反应|答应|会上|决定",
            r"\b(?:why did|what made|how come|remind me why|who (?:won|said|broke|insisted))\b|为什么|为啥|干嘛|理由|是因为",
            r"\b(?:have|has) (?:i|we) (?:ever|already)|\bdid (?:i|we|you)\b|了吗|了没|过没|没有过",
        ),
        Region.SEMANTIC: (
            r"\b(?:what(?:'s| is| are)|whats|which|who (?:is|owns)|where (?:is|do|are))\b|是什么|叫什么|哪个|哪[种些]|几[点号个格天]|多少|是谁|谁负责",
            r"\b(?:prefer\w*|like|hate|favou?rite|usual(?:ly)?|my|our|always|typically|default)\b|喜欢|爱|偏好|习惯|一向|固定|通常|默认|忌口|我的",
            r"\b(?:mean|called|name|definition|difference|stands? for|version|port|policy|limit|address|licen[cs]e|time ?zone)\b|含义|代表|意思|区别|名字|版本|端口|地址|时区|域名|规定",
            r"\b(?:do i|am i|is the|are the|is it|does the)\b|还是|吗$|算什么|放哪",
        ),
    }.items()
}


class RouteHead(Protocol):
    """A classifier of queries by region; an LLM or a trained model is plugged in here."""

    @property
    def name(self) -> str:
        """Who decides, for the recall log."""
        ...

    def __call__(self, text: str, vector: Sequence[float] | None, /) -> dict[Region, float] | None:
        """A score from 0 to 1 for each region; None when it cannot tell, for example without a vector."""
        ...


def route(cues: Cues, *, words: str, vector: Sequence[float] | None, head: RouteHead | None, asked: tuple[Region, ...] | None) -> Route:
    """Decide where to search: what the caller asked for, else the head, else the rules."""
    if asked:
        return Route(scores=dict.fromkeys(asked, 1.0), best=asked[0], regions=asked, sure=True, by="caller")
    scores = head(words, vector) if head is not None else None
    by = head.name if head is not None and scores is not None else "rules"
    scores = scores if scores is not None else by_rules(words, cues)
    best = max(PRIORITY, key=lambda region: scores.get(region, 0.0))
    sure = scores.get(best, 0.0) >= SURE
    return Route(scores=scores, best=best, regions=(best,) if sure else tuple(Region), sure=sure, by=by)


def by_rules(words: str, cues: Cues) -> dict[Region, float]:
    """A score for each region: 0.6 for a first signal, 0.15 for each further one, and the bonus for a past reference."""
    scores = {region: _strength(sum(bool(p.search(words)) for p in patterns)) for region, patterns in SIGNALS.items()}
    if cues.past or cues.question in (Question.OUTCOME, Question.LATEST):
        scores[Region.EPISODIC] += PAST_BONUS
    signalled = [region for region in PRIORITY if scores[region] >= SURE]
    if signalled:  # several signals at once: procedural before episodic before semantic
        scores[signalled[0]] = max(scores.values())
    return {region: min(score, 1.0) for region, score in scores.items()}


def _strength(signals: int) -> float:
    return 0.6 + 0.15 * (signals - 1) if signals else 0.0
