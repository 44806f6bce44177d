"""Reads a user's request to forget (SPEC F7; CASES O11)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hindsight_langgraph.encoding.assertions import triples
from hindsight_langgraph.encoding.cues import cues
from hindsight_langgraph.encoding.split import sentences
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit, Record

_REQUEST: Final = re.compile(
    r"^\W*(?:(?:oh|ok|okay|actually|and|also|no|hey|so|well)[, ]+)*(?:(?:please|could you|can you|would you|i want you to|i'd like you to|you (?:can|should|may)|kindly)[, ]+)*"
    r"(?:please )?(?:(?:forget|erase|delete|remove)(?: (?:about|again))?\s+(?P<en>.+)|(?:do not|don't) remember (?P<en2>.+))$"
    r"|^\W*(?:请|麻烦|你|把|那就|还是|帮我)*(?:忘掉|删掉|删除|抹掉|别记|不要记|忘(?:了|记)(?=吧|我[说讲提告]|关于|那[个条件]|刚才|这[个条件]|它))(?:吧|了)?(?P<zh>.*)$"
    r"|^\W*(?P<zh3>[^，。！？?,]{1,12}?)(?:那个|的事|这事|这件事)?(?:你)?(?:就)?(?:忘了吧|忘掉吧|别记了|当我没说)(?![？?])[^？?]*$"
    r"|^\W*(?:(?:the|that|my) )?(?:(?:thing|bit|part|story|stuff) (?:about|with) )?(?P<en3>[\w' -]{2,40}?)(?: (?:thing|bit|part|story|stuff))? (?:was|were) (?:just |only )?(?:a joke|jokes|a lie|made up|not serious)\W+(?:so |just |please )*(?:drop|scrap|forget|erase|delete|ignore) (?:it|that)\W*$"
    r"|^\W*(?:请|麻烦|帮我)*把(?P<zh2>.+?)(?:忘掉|忘了|忘记|删掉|删除|抹掉)(?:吧|了)?\W*$",
    re.IGNORECASE | re.DOTALL,
)
_MEMORY: Final = re.compile(
    r"\b(?:from|in|out of) (?:your |the )?memory\b|\bever\b|\b(?:that )?i (?:ever )?(?:told|said|mentioned|wrote)(?: (?:to )?you)?\b|\byou (?:know|remember|have|stored|noted)\b"
    r"|我(?:之前|刚才|刚刚|以前|上次)?(?:跟你|和你|对你|告诉你|给你)?(?:说|讲|提|告诉|发)(?:过|到|你)?的?|你(?:记得|知道|记住|存)的?|从?记忆(?:里|中)?|关于|我(?:的|家的|那个)",
    re.IGNORECASE,
)
_EMPTY: Final = frozenset(
    terms(
        "everything anything all whatever thing things stuff about regarding concerning that this it please again now the my our fact memory memories "
        "information info note notes entry what which was were you told said mention any every last just ok thanks thank"
    )
) | frozenset(
    {"那个", "这个", "这件", "件事", "那件", "事情", "一切", "所有", "全部", "刚才", "内容", "信息", "事", "吧", "了", "的", "它"}
)
_HOW: Final = re.compile(r"^(?:to|how to|it[,.]? (?:i|we|let)|the (?:whole )?idea|about it[,.]? )\b", re.IGNORECASE)

_JUST_SAID: Final = re.compile(
    r"^\W*(?:please )?(?:forget|delete|erase) (?:that|this)\W*(?:please)?\W*$|^\W*(?:请|麻烦)?把?(?:刚才的?|这个|这条|那条|这些)(?:都)?(?:忘掉|忘了|删掉|删除)",
    re.IGNORECASE,
)


_TELLING: Final = frozenset({"preference", "instruction", "decision", "procedure", "introduce", "task_state", "habit", "state"})
"""Cues of a sentence that is worth remembering by itself."""


class ForgetRequest(Record):
    """What a user asks to have forgotten."""

    certain: bool = False
    """Whether it speaks of what was said or is remembered ("forget what I told you about …"), so that it is no figure of speech."""

    topic: tuple[str, ...] = ()
    """The words that it is about; none for "forget that": what was just said."""


def read_forget_request(text: str) -> ForgetRequest | None:
    """The request that a text makes, or None where it makes none ("don't forget to call", "I forgot my keys")."""
    match = _REQUEST.match(text.strip())
    if match is None or re.search(r"\b(?:don't|do not|never|didn't) forget\b|别忘|不要忘|没忘", text, re.IGNORECASE):
        return None
    about = next((match[name] for name in ("en", "en2", "en3", "zh3", "zh", "zh2") if match[name] is not None), "")
    if _HOW.match(about):
        return None
    sentence = re.split(r"[.!?。！？;；]\s*", about.strip(), maxsplit=1)[0]
    words = dict.fromkeys(term for term in terms(_MEMORY.sub(" ", sentence)) if term not in _EMPTY)
    certain = bool(_MEMORY.search(sentence)) or (not words and _JUST_SAID.match(text.strip()) is not None)
    return ForgetRequest(topic=tuple(words), certain=certain)


def about(request: ForgetRequest, units: Iterable[MemoryUnit]) -> list[MemoryUnit]:
    """The units that a request with a topic means: those that name everything that it names. Nothing is guessed."""
    wanted = set(request.topic)
    return [unit for unit in units if wanted and wanted <= _names(unit)]


def rest_of(request: ForgetRequest, unit: MemoryUnit) -> str:
    """What a unit says besides what is to be forgotten: its sentences that name nothing of it, where another one names all of it.

    "" where there are none, or none that tells anything by itself: then the unit goes as a whole.
    """
    wanted = set(request.topic)
    said = [sentence.strip() for sentence in sentences(unit.content) if sentence.strip()]
    meant = [sentence for sentence in said if wanted & set(terms(sentence))]
    if not any(wanted <= set(terms(sentence)) for sentence in meant):
        return ""
    rest = [sentence for sentence in said if sentence not in meant]
    return " ".join(rest) if any(triples(sentence) or _TELLING & cues(sentence) for sentence in rest) else ""


def _names(unit: MemoryUnit) -> set[str]:
    triple = unit.triple
    said = [unit.content, *unit.entities, *([triple.subject, triple.attribute.replace("_", " "), triple.value] if triple else [])]
    return {term for text in said for term in terms(text)}
