"""Read triples off Chinese clauses by their verb (SPEC A7). English: `triples`."""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph.encoding.attributes import MULTI_VALUED, USER, slug
from hindsight_langgraph.records import Triple

_RELATIVES: Final = (
    "老婆|妻子|老公|丈夫|爱人|女朋友|男朋友|儿子|女儿|孩子|哥哥|弟弟|姐姐|妹妹|哥|姐|弟|妹|妈妈|爸爸|妈|爸|母亲|父亲|爷爷|奶奶|外公|外婆|"
    "舅舅|叔叔|阿姨|朋友|室友|邻居|同事|老板|经理|老师|导师|医生|房东|狗|猫|团队|公司|客户"
)
_ADVERBS: Final = r"(?:现在|目前|一直|平时|经常|每天|每周|早上|晚上|下午|中午|昨天|今天|前天|上周|这周|上个?月|这个?月|今年|去年|前年|刚刚?|最近|后来|也|都|还|就|很|超|超级|最|特别|非常|真的?|从小|主要|一般|更|可|挺|老|其实|自己|已经)*"
_WHO: Final = rf"(?P<who>我(?:们)?(?:的|家)?(?P<rel>(?:{_RELATIVES})(?P<name>[\u4e00-\u9fff]{{1,2}}?|[A-Z]\w+)?)?|[A-Za-z][\w-]+|[老小阿][\u4e00-\u9fff])"
_NO: Final = r"(?P<no>不再|再也不|没再|不怎么|不|没|从不)?"
_VERBS: Final = (
    (r"(?:住在|住|搬到了?|搬去了?|搬家到了?)", "lives_in", False),
    (r"(?:喜欢(?!的)|爱吃|爱喝|爱看|爱听|爱用|爱(?!人)|偏爱)", "likes", False),
    (r"(?:讨厌|受不了|反感|烦透了?)", "likes", True),
    (r"(?:喝)", "drinks", False),
    (r"(?:吃(?!撑|饱|不))", "eats", False),
    (r"(?:在?用(?!不|完|了))", "uses", False),
    (r"(?:弹|拉(?=小提琴|二胡|大提琴))", "plays", False),
    (r"(?:会说|说(?=[\u4e00-\u9fff]{1,2}[语话]))", "speaks", False),
    (r"(?:养(?:了|着)?)", "has", False),
    (r"(?:叫(?!我|你|他|她|做|人))", "name", False),
    (r"(?:在学|学(?=[\u4e00-\u9fff]))", "studies", False),
)
_CLAUSES: Final = tuple(
    (re.compile(rf"^{_WHO}{_ADVERBS}{_NO}{_ADVERBS}{verb}(?P<object>[^，。；！？,;!?]{{1,24}})"), attribute, opposite)
    for verb, attribute, opposite in _VERBS
)
_CALL_ME: Final = re.compile(
    r"^(?:就|请|以后|都|你|可以)*叫我(?P<object>[\u4e00-\u9fffA-Za-z]{1,6}?)(?:就行|就好|就可以|好了|吧|$)"
)
_WORK: Final = re.compile(rf"^{_WHO}{_ADVERBS}在(?P<object>[^，。；！？,;!?]{{2,16}}?)(?:工作|上班|任职)")
_ALLERGY: Final = re.compile(rf"^{_WHO}{_ADVERBS}(?P<no>不再|已经不|不)?对(?P<object>[^，。；！？,;!?]{{1,12}})过敏")
_SPACED: Final = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) (?=[\u4e00-\u9fff])")
"""The space that many set between Chinese and Latin letters: it ends no clause."""
_BEING: Final = re.compile(
    rf"^{_WHO}{_ADVERBS}(?P<no>不再|不)?是(?:个|一个|一名)?(?P<object>[A-Za-z][A-Za-z0-9_.+# -]*|(?!忠实|普通|付费|资深|活跃|终端|注册)[\u4e00-\u9fff]{{2,8}}?) ?的?(?P<as>用户|党|粉丝|爱好者|迷)$"
)
_BEINGS: Final = {"用户": "uses", "党": "uses", "粉丝": "likes", "爱好者": "likes", "迷": "likes"}
"""What someone does who is called so: "Vim 用户" uses Vim."""
_FAVOURITE: Final = re.compile(
    r"^我(?:现在|目前)?(?P<attribute>最(?:喜欢|爱)的[^，。；！？,;!?的是]{1,6})(?:现在|目前)?是(?P<object>[^，。；！？,;!?]{1,60})"
)
_OF: Final = re.compile(
    r"^(?P<subject>[^，。；！？,;!?的]{1,16})的(?P<attribute>[^，。；！？,;!?的是为]{1,8})(?:现在|目前)?(?P<no>不是)?"
    r"(?(no)|(?:是|为|改成了?|改为|换成了?|变成了?))(?P<object>[^，。；！？,;!?]{1,60})"
)
_POINTER: Final = re.compile(r"^(?:它|他|她|你|我|这|那|哪|什么|东西|长|短|多|少|大|小)")
"""Values that say nothing without the sentence before."""
LONGEST_VALUE: Final = 12
"""Characters; an address or name in Latin letters counts as one."""
_LATIN: Final = re.compile(r"[A-Za-z0-9._@+/-]+")
_LATIN_NAME: Final = re.compile(r"[A-Za-z][\w.+#-]*(?: [A-Za-z0-9][\w.+#-]*)*(?=[\u4e00-\u9fff])", re.ASCII)
_NO_ATTRIBUTE: Final = frozenset({"可能", "时候", "话", "意思", "问题", "原因"})
_LEAD: Final = re.compile(r"^(?:对了|另外|还有|其实|说真的|说实话|顺便说|嗯|好|行|哦|那|不过|而且|因为|所以)[，,、\s]*")
_MEASURE: Final = re.compile(
    r"^(?:了|过|着)?(?:[一二两三四五六七八九十几半\d]+(?:杯|壶|罐|盒|包|袋|块|片|顿|个|只|条|台|本|碗|瓶|把|种|支|辆|份|次|口)的?|一点儿?|点儿?)?"
)
_TAIL: Final = re.compile(r"(?:了|啊|呀|吧|呢|哦|的|而已|为主|来着)+$")


def chinese_triples(sentence: str) -> list[Triple]:
    """Triples of one Chinese sentence, clause by clause; a clause without a subject takes that of the clause before."""
    found: list[Triple] = []
    for clause in re.split(r"[，。；！？,;!?]+|(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])", _SPACED.sub("", sentence)):
        text = _LEAD.sub("", clause)
        if text:
            found.extend(_clause_triples(text))
    return list({(t.subject, t.attribute, t.value, t.negated): t for t in found}.values())


def _clause_triples(text: str) -> list[Triple]:
    for pattern, attribute, opposite in (*_CLAUSES, (_ALLERGY, "allergic_to", False)):
        if (match := pattern.search(text)) is None:
            continue
        value = _value(match["object"])
        negated = match["no"] is not None
        if not value or (negated and opposite):
            return []
        return [_triple(_subject(match), attribute, value, negated=negated or opposite)]
    if (match := _BEING.search(text)) is not None and (value := _value(match["object"])):
        return [_triple(_subject(match), _BEINGS[match["as"]], value, negated=match["no"] is not None)]
    if (match := _CALL_ME.search(text)) is not None:
        return [_triple(USER, "name", match["object"], negated=False)]
    if (match := _WORK.search(text)) is not None and (value := _value(match["object"])):
        return [_triple(_subject(match), "works_at", value, negated=False)]
    if (match := _FAVOURITE.search(text)) is not None and (value := _value(match["object"])):
        return [_triple(USER, slug(match["attribute"]), value, negated=False)]
    match = _OF.search(text)
    if match is not None and match["attribute"] not in _NO_ATTRIBUTE and (value := _value(match["object"], counted=True)):
        subject = USER if match["subject"] in {"我", "我们", "我自己"} else match["subject"]
        return [_triple(subject, slug(match["attribute"]), value, negated=match["no"] is not None)]
    return []


def _triple(subject: str, attribute: str, value: str, *, negated: bool) -> Triple:
    return Triple(subject=subject, attribute=attribute, value=value, negated=negated, multi_valued=attribute in MULTI_VALUED)


def _subject(match: re.Match[str]) -> str:
    if match["rel"]:
        return match["name"] or match["rel"]
    return USER if match["who"].startswith("我") else match["who"]


def _value(text: str, *, counted: bool = False) -> str:
    """What the verb governs; with `counted` its number is part of it. A name in Latin letters is the whole of it, whatever follows."""
    value = _TAIL.sub("", text.strip() if counted else _MEASURE.sub("", text.strip())).strip('“”"「」 ')
    if (name := _LATIN_NAME.match(value)) is not None:
        value = name[0]
    return "" if _POINTER.search(value) or len(_LATIN.sub("x", value)) > LONGEST_VALUE else value
