"""The English and Chinese phrases that tell what a query is after.

Fragments of regular expressions; English ones match whole words.
"""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph.recall.recollection import Question
from hindsight_langgraph.records import Region


def _any(english: str, chinese: str) -> re.Pattern[str]:
    """A pattern for any of the fragments; each language's stand one after the other, parted by ` / `."""
    latin, cjk = ("|".join(part.strip() for part in text.split(" / ")) for text in (english, chinese))
    return re.compile(rf"\b(?:{latin})\b|{cjk}", re.IGNORECASE)


PAST: Final = _any(
    r"last (?:time|week|month|year|chat|call) / yesterday / earlier / previous(?:ly)? / ago / before / back then / the other (?:day|week)"
    r" / remember (?:when|us|me) / did (?:i|we|you|she|he|they) / have (?:i|we) (?:ever|already) / when (?:did|was) / what happened"
    r" / said / told / decided? / agreed?",
    r"上次 / 上回 / 上一次 / 昨[天晚] / 前[天几些] / 上个?(?:周|月|星期|礼拜) / 去年 / 之前 / 以前 / 刚才 / 那[次天回] / 当时 / 曾经"
    r" / 过吗 / 过没 / 说过 / 提过 / 聊过 / 聊到 / 定[的了] / 决定了 / 怎么说的",
)
HISTORY: Final = _any(
    r"used to / did (?:[\w'’]+ ){1,4}use to / previous(?:ly)? / formerly / original(?:ly)? / initial(?:ly)? / at first / in the past / back then / no longer / over time"
    r" / first (?:decided?|plan|idea|choice|suggest\w*|version|say|said) / first\b.*\b(?:decide|choose|say|plan|set) / history of"
    r" / old (?:value|version|one|plan|limit|address) / before (?:that|i|we|it|the (?:change|switch|move)) / stop(?:ped)? \w+ing"
    r" / once (?:use|used|have|had|was|were) / changed? (?:from|my mind)",
    r"以前 / 原来 / 原先 / 原本 / 最初 / 起初 / 最早 / 一开始 / 曾经 / 当初 / 从前 / 旧的 / [改换]之前 / 变更前 / 之前(?:用|是|住|定|的)"
    r" / 第一次 / [改换]过 / 历史 / 变化",
)
USED_TO: Final = _any(r"used? to", r"以前|从前|曾经")
"""Words that tell of the past alone and of no matter."""
DISTANT: Final = _any(
    r"long ago / years? ago / months ago / way back / a long time / last year / ages ago / back in (?:19|20)\d\d / years back",
    r"很久(?:以前|之前) / 好久以前 / 多年前 / [几一二两三四五六七八九十\d]+年前 / 半年前 / 几个月(?:前|之前|以前) / 去年 / 前年 / 早年",
)
QUESTIONS: Final[tuple[tuple[Question, re.Pattern[str]], ...]] = (
    (
        Question.OUTCOME,
        _any(
            r"how did\b.*\b(?:end|go|turn out|work out|come out|finish) / what (?:came|became) of / where (?:did we leave|do we stand|are we)"
            r" / what happened (?:with|to|about|in the end) / outcome / end(?:ed)? up / in the end / verdict",
            r"结果 / 结局 / 收场 / 最后(?:怎|咋|定|选|决|是|用) / 最终 / 后来(?:怎|咋|呢|定|选|决) / [怎咋]么?样了 / 进展 / 到哪一步",
        ),
    ),
    (
        Question.LATEST,
        _any(
            r"last time / most recent(?:ly)? / latest / last (?:decision|decided|said|told|did) / when did (?:i|we|he|she|they) last / newest"
            r" / (?:the|my|our|his|her|their) last (?!week|month|year|night|few|days?|couple|minute|name|\d)\w+",
            r"上次 / 上一次 / 最近一次 / 最新 / 最后一次",
        ),
    ),
    (
        Question.EARLIEST,
        _any(
            r"first (?:time|decide|plan|idea|suggest\w*|choice) / at first / originally / initially / (?:the|my|our) very first",
            r"第一次 / 最初 / 最早 / 起初 / 一开始 / 当初",
        ),
    ),
    (Question.AFTER, _any(r"after / since / following", r"之后 / 以后 / 自从 / 过后")),
    (Question.BEFORE, _any(r"before / prior to / until", r"之前 / 以前")),
    (
        Question.HOW_TO,
        _any(
            r"how (?:do|can|should|would|to|might) / steps? / procedure / instructions?",
            r"怎么(?:办|做|弄|处理|解决|用|配|装|上|发) / 如何 / 步骤 / 流程 / 怎样",
        ),
    ),
    (
        Question.WHEN,
        _any(
            r"when / what (?:day|date|time|month|year) / which (?:day|date|week|month|year|morning|evening|night) / how long",
            r"什么时候 / 几[号月点时] / 哪[天年月] / 何时 / 多久 / 星期几 / 周几",
        ),
    ),
)
"""Tried in order; the first that matches names the question."""
EVENT: Final = (
    re.compile(r"\b(?:after|since|following|before|prior to|until)\b(?P<event>[^,?;.]+)", re.IGNORECASE),
    re.compile(r"自从(?P<event>[^，,。？?]+)"),
    re.compile(r"(?P<event>[^，,。？?]+?)(?:之后|以后|过后|之前|以前)"),
)
"""The clause that names the event from which a question goes on, or back."""
FRAME: Final = _any(
    r"how did / what (?:happened|came|became) / (?:end|turn|work|come|came)(?:ed)? (?:up|out) / in the end / end(?:ed)? / finish(?:ed)?"
    r" / go(?:ing)? / went / outcome / results? / verdict / last / latest / (?:most )?recent(?:ly)? / newest / first / time / stand / leave / left",
    r"最后一次 / 最近一次 / 上一?次 / 第一次 / 最[后终新近初早] / 结果 / 结局 / 收场 / 后来 / [怎咋]么?样?了? / 进展 / 到哪一步 / 什么时候 / 哪一?[天年月次] / 的?事情?"
    r" / 我们? / [了吗呢啊的是]",
)
"""Words of a question about an end, a last or a first time that do not tell of what."""
JOINING: Final = re.compile(r"['’]s\b|什么|哪[里儿个些]?|怎么|多少|[的了在是我你他她它们谁吗呢吧啊]", re.IGNORECASE)
"""What joins the words of a question and names nothing itself."""
THROUGH: Final = _any(
    r"(?!(?:what|who|where|when|why|how|it|that|this|there|here|he|she|let|today)['’]s)\w+['’]s \w+"
    r" / \w+ of (?:my|our|your|his|her|their|the|\w+['’]s) / the \w+ of \w+"
    r" / (?:person|people|man|woman|guy|friend|colleague|team|company|city|town|place|project|one|someone) (?:\w+ ){0,2}(?:who|that|which|where|whose)",
    r"[^\s，。？！的我你他她它咱们]{2,}的[^\s，。？！的]+",
)
"""Asks for a thing through another one: the sister of my flatmate."""
REGIONS: Final[dict[Region, tuple[re.Pattern[str], ...]]] = {
    Region.PROCEDURAL: (
        _any(
            r"how (?:do|can|should|would|to|might)\b(?!.*\b(?:like|prefer|call)\b)",
            r"怎么(?:办|做|弄|处理|解决|修|配|装|查|转|发布) / 如何 / 怎样 / 咋(?:整|办|弄|修) / 该怎么",
        ),
        _any(
            r"steps? / procedure / checklist / runbook / playbook / instructions? / walk me through / guide / recipe / routine / trick"
            r" / sequence / (?:in )?(?:what|which) order",
            r"步骤 / 流程 / 清单 / 手册 / 工序 / 操作 / [哪几]步 / 命令 / 接下来",
        ),
        _any(
            r"fix(?:ed)? / solved? / cured? / remedy / workaround / dealt with / handled? / help", r"修好 / 解决的 / 救命 / 管用"
        ),
        _any(
            r"fails? / failing / broken / throwing / offline / refused / crash\w* / stuck / timeouts? / timed out",
            r"报错 / 又.{0,6}了$ / 挂了 / 卡住 / 白屏 / 打不开 / 连不上",
        ),
    ),
    Region.EPISODIC: (
        _any(
            r"yesterday / last (?:time|week|month|year|night|chat|call) / ago / earlier / previous\w* / the other day"
            r" / (?:back )?when (?:i|we) (?:talked|spoke|met)",
            r"上次 / 上回 / 上周 / 上个月 / 昨[天晚] / 前天 / 那[次天回] / 当[时初] / 之前 / 刚才",
        ),
        _any(
            r"did / happened / said / told / decided? / agreed? / promised / turn(?:ed)? out / ended? up / argued? / discuss\w* / mention\w*"
            r" / session / meeting / summari[sz]e",
            r"[说提聊谈讲吵]过 / 来着 / 后来 / 结果 / 反应 / 答应 / 会上 / 决定",
        ),
        _any(
            r"why did / what made / how come / remind me why / who (?:won|said|broke|insisted)",
            r"为什么 / 为啥 / 干嘛 / 理由 / 是因为",
        ),
        _any(r"(?:have|has) (?:i|we) (?:ever|already) / did (?:i|we|you)", r"了吗 / 了没 / 过没 / 没有过"),
    ),
    Region.SEMANTIC: (
        _any(
            r"what(?:'s| is| are) / whats / which / who (?:is|owns) / where (?:is|do|are)",
            r"是什么 / 叫什么 / 哪个 / 哪[种些] / 几[点号个格天] / 多少 / 是谁 / 谁负责",
        ),
        _any(
            r"prefer\w* / like / hate / favou?rite / usual(?:ly)? / my / our / always / typically / default",
            r"喜欢 / 爱 / 偏好 / 习惯 / 一向 / 固定 / 通常 / 默认 / 忌口 / 我的",
        ),
        _any(
            r"mean / called / name / definition / difference / stands? for / version / port / policy / limit / address / licen[cs]e / time ?zone",
            r"含义 / 代表 / 意思 / 区别 / 名字 / 版本 / 端口 / 地址 / 时区 / 域名 / 规定",
        ),
        _any(r"do i / am i / is the / are the / is it / does the", r"还是 / 吗$ / 算什么 / 放哪"),
    ),
}
"""The signals of each region (SPEC D2); every pattern that matches counts once."""
BACKGROUND: Final = _any(
    r"why / how come / background / context / reasons? / explain / what led to / how did (?:it|this|that) come",
    r"为什么 / 为啥 / 为何 / 背景 / 原因 / 来龙去脉 / 怎么会",
)
"""Asks for what lies behind something."""
HOW_MANY: Final = _any(
    r"how (?:many|much|big|long|large|tall|far|old|often|high|low)", r"多少 / 几[个天斤次人台份块元] / 多[大久长高远重贵]"
)
WHO: Final = _any(r"who(?:m|se)? / which (?:person|colleague)", r"谁 / 哪位")
WAS: Final = _any(r"did / was / were", r"的[？?。]?$ / 的[，,]")
"""Tells in a question about a time that what it asks about lies in the past; in Chinese the 的 of 是哪天决定的."""
RETRACTION: Final = _any(
    r"withdr[ae]w\w* / took back / takes back / taken back / retract\w* / forget (?:about|that|what)"
    r" / (?:ask|want|request)(?:s|ed)? (?:\w+ ){0,3}?to (?:forget|drop|scrap|erase|discard|wipe|disregard|ignore)"
    r" / (?:ask|want|request)(?:s|ed)? (?:\w+ ){0,3}?not to (?:keep|store|remember|mention|repeat)"
    r" / (?:asked|asks|wants|wanted) .{0,40}\b(?:deleted?|removed?|forgotten) / disregard\w* / was a (?:joke|rumou?r|mistake)",
    r"撤回 / 收回 / 忘掉 / 忘了(?:吧|它) / 要求.{0,4}(?:忘|删|抹|清除|不再[提留保记说]|别再?[提留记说]|不要再?[提留记说]) / 别再提 / 不要再提"
    r" / [当作](?:我)?没[说提]过? / 作废 / 是谣言 / 不算数",
)
"""Marks a unit that only takes something back or asks to forget it."""
WHERE: Final = _any(r"where", r"哪里 / 哪儿 / 在哪")
WHICH: Final = _any(r"which", r"哪[个些种]")
QUESTION_WORDS: Final = (
    _any(r"what", r"什么 / 啥"),
    WHERE,
    _any(r"why", r"为什么 / 为何 / 为啥"),
    WHICH,
    _any(r"would / could / might / likely", r"可能 / 会不会"),
    _any(r"does / is / are / has / have", r"吗 / 是否 / 有没有"),
)
"""What, where, why, which, would, does: the kinds of question that the ranker tells apart besides those above."""
MONEY, CLOCK, DAY, CODE = (
    re.compile(r"\b(?:euros?|pounds?|dollars?|cents?|percent)\b|[$€£¥%]|[元块角分万]", re.IGNORECASE),
    re.compile(r"\d:\d\d|\b(?:am|pm|noon|midnight|o'clock)\b|\bat (?:\w+teen|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d)|[点晨晚午]", re.IGNORECASE),
    re.compile(r"\d{4}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|[周日月号]", re.IGNORECASE),
    re.compile(r"\d{4,}|\d+\.\d+\.\d+"),
)  # fmt: skip
"""The form of an amount of money, a time of day, a day, and a number that stands for something."""
NUMBER: Final = re.compile(
    r"\d|\b(?:no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|both|single|twice|once)\b"
    r"|[一二两三四五六七八九十百千万]", re.IGNORECASE,
)  # fmt: skip
ASKED_FORMS: Final[tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]] = (
    (_any(r"costs? / prices? / charged? / pay / earn / fees? / salary / how much (?:is|does|do|did)", r"多少钱 / 费(?:用)?(?:是|要)?多少 / 工资 / [价费]"), MONEY),
    (_any(r"what time", r"几点"), CLOCK),
    (_any(r"when / (?:which|what) (?:day|date|evening|week) / birthday", r"哪[天年月] / 几号 / [什啥]么?时候 / 生日"), DAY),
    (_any(r"phone / number / password / ip address", r"电话 / 号码 / 密码 / 工号 / 尾号"), CODE),
    (HOW_MANY, NUMBER),
)  # fmt: skip
"""What a question asks for, and the form that its answer cannot be without."""
