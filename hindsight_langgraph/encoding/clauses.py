"""Tell whether a text can be understood without the question before it: whether it says of whom or what it speaks."""

from __future__ import annotations

import re
from typing import Final

from hindsight_langgraph.encoding.cues import is_chinese
from hindsight_langgraph.encoding.split import sentences

_VERB: Final = (
    r"(?:is|are|was|were|has|have|had|does|did|will|would|can|could|must|should|needs?|wants?|likes?|takes?|goes|went|came|got|gave|"
    r"made|said|told|took|runs?|costs?|comes?|lives?|works?|\w{3,}ed|\w{3,}(?:[^s\W]s))"
)
_ADVERBS: Final = r"(?:(?:also|still|just|now|always|usually|mostly|never|only|really|already|finally|recently|often) )*"
_CLAUSE: Final = re.compile(
    rf"(?:^|[\s,:;(])(?:(?:I|[Ww]e)(?:'(?:m|ve|d|ll|re))? {_ADVERBS}(?!(?:say|guess|think|suppose|reckon|believe|hope|do|did|don't|didn't)\b)[a-z']+|"
    rf"(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Ee]very|[Ee]ach|[Aa]n?|[Tt]wo|[Tt]hree|[Bb]oth|[Aa]ll) (?:[\w'-]+ ){{1,5}}?{_ADVERBS}{_VERB}|"
    rf"(?!(?:It|They|He|She|That|This|Those|These|There|You|What|Who|Yes|No|Not|Only|About)\b)[A-Z][\w-]+(?: [A-Z][\w-]+)* {_ADVERBS}{_VERB})\s+\S"
)
_STAND_IN: Final = re.compile(r"^(?:\S+ ){0,4}(?:it|one|ones|that|them|those|they|there|so|neither|either)\b", re.IGNORECASE)
_INTERJECTION: Final = re.compile(
    r"^(?:(?:yes|no|nope|yeah|yep|well|oh|ah|hm+|sure|right|ok(?:ay)?|fine|good|great|hi|hello|hey|morning|thanks?)\b[^\d]{0,16}|\W+)$",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?:yes|no|nope|yeah|yep|well|oh|ah|sure|right|ok(?:ay)?|actually|so|and|but)\b[\s,.!:—–-]*", re.IGNORECASE
)
_CLAUSE_ZH: Final = re.compile(
    r"^(?:[^，。；！？]{1,6}[，,])?(?:(?:我|咱|俺)们?[^，。；！？]{4,}|"
    r"(?![它他她这那对是不没有嗯好行可会还就只都也大退])[^，。；！？\s]{2,12}?\s?(?:是|在|有|要|用|叫|归|定|改|换|搬|需要|负责|已经|打算|能)[^，。；！？]{2,})"
)
_INTERJECTION_ZH: Final = re.compile(r"^(?:嗯+|好的?|行|对|是的?|没有?|不是?|哦|啊|早|你好|谢谢)[\W了啊呀呢吧]*$")


def speaks_for_itself(text: str) -> bool:
    """Whether the first sentence that says anything names its subject and states something of it.

    "The café takes sixty buns." does; "On Saturdays.", "Dark green." and "It is on Mill Street." need their question.
    """
    for sentence in sentences(text.replace("’", "'")):
        plain = sentence.strip()
        if is_chinese(plain):
            if _INTERJECTION_ZH.match(plain):
                continue
            return bool(_CLAUSE_ZH.search(plain))
        if not plain or _INTERJECTION.match(plain):
            continue
        said = _LEAD.sub("", plain)
        return bool(_CLAUSE.search(said)) and not _STAND_IN.search(said)
    return False
