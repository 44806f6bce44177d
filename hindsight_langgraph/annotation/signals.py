"""What a user's words say of the work: accepted, corrected, wanted otherwise, given up (SPEC E2, C9)."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from hindsight_langgraph.annotation.marks import clauses


class Signal(StrEnum):
    """What one message of the user says of the work so far."""

    ACCEPT = "accept"
    CORRECT = "correct"
    """Something was wrong."""
    CHANGE = "change"
    """Nothing was wrong; it is wanted otherwise."""
    ABANDON = "abandon"
    NONE = "none"


_I: Final = re.IGNORECASE
_HARMLESS: Final = re.compile(
    r"\bno (?:problem|worries|issues?|rush|need to (?:worry|apologi[sz]e|change)|complaints?|further|more questions)\b|\bnot (?:bad|a problem)\b"
    r"|\bnothing (?:else|more|to add|wrong)\b|\b(?:isn't|is not|wasn't) (?:a|any) (?:problem|issue)\b|\bcan't (?:complain|thank you enough)\b"
    r"|\bcouldn't (?:be|have been|ask for) (?:better|happier|more)\b|\bwrong\b(?= (?:with it )?(?:any ?more|now fixed))"
    r"|没问题|没毛病|没有问题|不错|不客气|不用改|不用谢|没错|差不多了|不赖|没什么问题|不能更|不要紧|没意见|没别的",
    _I,
)  # fmt: skip
_ABANDON: Final = re.compile(
    r"\bnever ?mind\b|\bforget (?:it|about it|this)\b|\b(?:i(?:'ll| will)|let me|i'd rather) (?:just )?do (?:it|this|that) (?:myself|by hand|manually)\b"
    r"|\b(?:drop|leave|cancel|abort|stop) (?:it|this|that)\b(?! as)|\bdon't bother\b|\bi give up\b|\blet's (?:stop|drop|leave)\b|\bnot worth it\b"
    r"|算了|不用了|不弄了|不做了|不搞了|放弃|我自己来|我自己(?:弄|做|搞|改)|别弄了|别管了|先不(?:做|弄|管)了?|取消吧|当我没说",
    _I,
)  # fmt: skip
_CORRECT_START: Final = re.compile(
    r"^\W*(?:no\b(?! (?:thanks|thank you)\W*$)|nope\b|not\b|wrong\b|incorrect\b|that(?:'s| is) (?:not|wrong|incorrect|the wrong)\b|this (?:is(?: not|n't)|is wrong)\b"
    r"|it(?:'s| is) (?:not|wrong|still)\b|hm+,? (?:no|not)\b|you (?:forgot|missed|misread|misunderstood|used the wrong|broke)\b"
    r"|不对|不是|不行|错了|不要|别|搞错|弄错|说错|写错|你(?:错|漏|忘|搞|弄|看)|又错|还是不|没有?(?:成功|生效|收到))",
    _I,
)  # fmt: skip
_CORRECT: Final = re.compile(
    r"\b(?:is|was|are|were|that's|it's) (?:\w+ )?(?:wrong|incorrect|outdated|out of date|broken)\b|\bwrong (?:\w+)\b|\bshould(?:n't| not)? (?:be|have|go|use)\b|\bi (?:already )?(?:said|told you|asked (?:you )?(?:for|to))\b"
    r"|\b(?:can't|cannot|couldn't|doesn't|does not|didn't|did not|won't|isn't|aren't|wasn't) \w+|\bstill (?:not|broken|fails?|failing|wrong|the same|missing)\b|\bnot what i\b"
    r"|\b(?:missing|mistake|useless|failed|bounced|complained|rejected|retired|no longer)\b|\bwhy (?:did|didn't|would) you\b|\bnot\b[^,.;]*\bbut\b|\brather than\b"
    r"|不对|错了|不该|不应该|应该是|应为|搞错|弄错|用错|怎么(?:又|一|还|会|没|不|能)|为什么(?:不|没|又|会)|说过|早就?改|都改|就改成|已经改|不是.{1,12}(?:是|而)|差评|投诉|不能用|打不开"
    r"|用不了|没(?:法|办法)用|还是(?:不|没)|失败|白(?:做|弄|跑)|漏了|忘了|过期|耽误|害得|赶不上|冻结",
    _I,
)  # fmt: skip
_CHANGE: Final = re.compile(
    r"\binstead\b|\bmake (?:it|them|this|that) \w+|\bchange (?:it|the|this|that|to)\b|\b(?:could|can) you (?:also|make|change|switch|use)\b|\bplease (?:also|use|switch|change|make|add|remove)\b"
    r"|\bone (?:more )?(?:change|tweak|thing)\b|\b(?:i'd|i would) (?:rather|prefer|like)\b|\bswitch (?:it|to|the)\b|\ba (?:bit|little) (?:more|less|shorter|longer)\b|\bshorter|longer, please\b"
    r"|换成|改成|改为|换个|改一下|调整|再(?:短|长|大|小|加|来|改|正式|简单)|稍微|最好(?:是)?|还是(?:用|换|改)|加上|去掉|别用",
    _I,
)  # fmt: skip
_ACCEPT_START: Final = re.compile(
    r"^\W*(?:yes|yep|yeah|yup|sure|right|correct|exactly|ok(?:ay)?|good|great|perfect|nice|lovely|excellent|brilliant|fine|cool|awesome|thanks?|thank you|cheers"
    r"|that(?:'s| is) (?:it|right|great|perfect|fine|better|the|exactly|what)|that works|works|looks (?:good|great|right)|much better|well done|got it|just what"
    r"|好(?![几多久])|对(?!不)|可以|行(?!不)|嗯|是的|没错|谢|多谢|感谢|完美|很棒|太棒|太好|不错|棒|赞|搞定|收到|辛苦|就这样|就是这|总算|终于|正是|ok)",
    _I,
)  # fmt: skip
_ACCEPT: Final = re.compile(
    r"\bthanks?\b|\bthank you\b|\b(?:works|worked|fixed|solved|perfect|great|brilliant|excellent|exactly|love it|well done|appreciate|helpful|spot on)\b|\blooks (?:good|great|right)\b"
    r"|谢谢|多谢|感谢|搞定|完美|太好了|很好|解决了|可以了|好了|成功|满意|辛苦|帮了?大忙|就这样|不错|挺好|没毛病|没问题|喜欢",
    _I,
)  # fmt: skip
_RULES_OUT: Final = re.compile(
    r"\b(?:don't|do not|never)\b(?! (?:worry|bother|mind|need|know|think|forget|hesitate|have))|\b(?:we|you should|must) (?:always|never|only|not)\b"
    r"|不能(?!更)|不可以|不许|禁止|一律|我们(?:一直|从来|向来|一向|都是|只)|(?<![特个区分级])别(?!的|人|处|说|墅)",
    _I,
)
_ASKS: Final = re.compile(r"[?？]\s*[\"”』」)]?\s*$|(?:吗|呢|好不好|行不行|可以吗)[。！]?\s*$")
_REPROACH: Final = re.compile(
    r"\b(?:i|we) (?:already |clearly |just )?(?:told|said|asked|wrote|agreed|mentioned)\b|\b(?:again|as before|how many times|as always)\b"
    r"|\byou (?:knew|know|should have known)\b|(?:说|写|讲|提|记|强调|交代|告诉|约定)(?:过|好了)|又(?:忘|错|是)|早就|明明|多少次",
    _I,
)
_RETIRED: Final = re.compile(
    r"\b(?:no|not|n't|never|wrong|retired|outdated|old|former|previous|no longer|any ?more|moved|changed|replaced|renamed|expired|gone|closed|since|now)\b|n't\b"
    r"|不(?!错|用谢)|没(?!毛病|问题|错)|错|改|换|旧|过期|作废|停用|下线|搬|挪|迁|早就|已经|现在|取消",
    _I,
)  # fmt: skip
_CHANGED: Final = re.compile(
    r"\b(?:moved|changed|raised|lowered|replaced|renamed|retired|expired|switched|merged|postponed|no longer|any ?more|used to)\b"
    r"|(?:改|换|调|移|挪|推迟|提前)(?:成|到|为|至|了)|搬|迁|停用|下线|作废|过期|涨|降(?:到|了)|已经不|不再|早就",
    _I,
)


def signal_of(text: str) -> Signal:
    """What a message says of the work. How it begins counts first, then the strongest thing it says anywhere."""
    kept = _HARMLESS.sub(" fine ", text.replace("’", "'"))
    if _ABANDON.search(kept):
        return Signal.ABANDON
    if _CORRECT_START.search(kept):
        return Signal.CORRECT
    if _ACCEPT_START.search(kept):
        rest = " ".join(clauses(kept)[1:])
        if re.search(r"\b(?:but|except|however|though)\b|但|不过|只是|可是", rest) and (
            _CORRECT.search(rest) or _CHANGE.search(rest)
        ):
            return Signal.CORRECT if _CORRECT.search(rest) else Signal.CHANGE
        return Signal.ACCEPT
    if _CORRECT.search(kept):
        return Signal.CORRECT
    if _CHANGE.search(kept):
        return Signal.CHANGE
    return Signal.ACCEPT if _ACCEPT.search(kept) or ("fine" in kept and "fine" not in text) else Signal.NONE


def signal_during(text: str) -> Signal:
    """What a message in the middle of a task says of the work: there a rule or a ban answers what was just done."""
    found = signal_of(text)
    if found in (Signal.NONE, Signal.CHANGE) and _RULES_OUT.search(_HARMLESS.sub("", text.replace("’", "'"))):
        return Signal.CORRECT
    return found


def is_question(text: str) -> bool:
    """Whether a message ends by asking."""
    return bool(_ASKS.search(text))


def is_reproach(text: str) -> bool:
    """Whether the user says that this was known: a memory that was at hand went unused."""
    return bool(_REPROACH.search(text))


def overruled(text: str) -> str:
    """The clauses in which the user says that something is not, or no longer, so."""
    kept = [clause for clause in clauses(text) if _RETIRED.search(_HARMLESS.sub("", clause))]
    return "\n".join(kept)


def tells_a_change(text: str) -> str:
    """The clauses in which the user says that something is another way now."""
    return "\n".join(clause for clause in clauses(text) if _CHANGED.search(_HARMLESS.sub("", clause)))


def praised(text: str) -> str:
    """The clauses in which the user says that something was well."""
    return "\n".join(
        clause for clause in clauses(text) if _ACCEPT.search(clause) and not _RETIRED.search(_HARMLESS.sub("", clause))
    )
