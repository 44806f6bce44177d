"""Attributes under one slug each, and which of them hold several values at once (SPEC F3).

Extractors name the same attribute in many ways ("lives in", "residence", "住在"); superseding by triple needs one name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from hindsight_langgraph.records import Triple

USER: Final = "user"
"""Subject of everything that the speaking user says of themselves."""

_SYNONYMS: Final[dict[str, str]] = {
    name: slug
    for slug, names in {
        "lives_in": "lives_in live_in living_in lives residence residence_city city home_city home_town address_city moved_to location 住在 住址 居住地 城市 现居",
        "works_at": "works_at work_at works_for employer company workplace joined 公司 工作单位 就职于 任职于",
        "occupation": "occupation job profession job_title works_as 职业 工作 职位",
        "name": "name is_called called full_name 名字 姓名 叫",
        "likes": "likes like loves love enjoys enjoy adores is_fond_of is_into favours favors prefers prefer preference 喜欢 爱 爱吃 爱喝 偏好 偏爱",
        "uses": "uses use tool is_using 用 使用",
        "plays": "plays play plays_instrument instrument 弹 演奏",
        "speaks": "speaks speak language languages speaks_language 说 会说 语言",
        "drinks": "drinks drink 喝",
        "eats": "eats eat diet 吃",
        "has": "has have owns own possesses 有 养 拥有",
        "allergic_to": "allergic_to allergy allergies is_allergic_to 过敏 对…过敏",
        "drives": "drives drive car 开车 车",
        "studies": "studies study studying learns learning 学 学习",
    }.items()
    for name in names.split()
}
CANONICAL: Final = frozenset(_SYNONYMS.values())
"""Attributes that are known by one slug in both languages."""
_OPPOSITES: Final[dict[str, str]] = dict.fromkeys(
    [
        "dislikes",
        "dislike",
        "hates",
        "hate",
        "loathes",
        "detests",
        "avoids",
        "can't_stand",
        "cannot_stand",
        "cant_stand",
        "does_not_like",
        "讨厌",
        "不喜欢",
        "受不了",
        "不爱",
        "不吃",
        "不喝",
    ],
    "likes",
)
MULTI_VALUED: Final = frozenset({"likes", "uses", "plays", "speaks", "drinks", "eats", "has", "allergic_to", "studies", "is_a"})
"""A second value stands beside the first."""

_USER_NAMES: Final = frozenset({"i", "me", "my", "myself", "we", "us", "user", "the user", "用户", "我", "我们", "咱们", "本人"})


def slug(name: str) -> str:
    """A name of an attribute in lower case, words joined by "_"."""
    folded = unicodedata.normalize("NFKC", name).casefold().strip()
    return re.sub(r"[\s\-/]+", "_", re.sub(r"[^\w\s\-/'…]", "", folded)).strip("_")


def names_of(attribute: str) -> tuple[str, ...]:
    """Every name that is known for an attribute, its slug first."""
    return (attribute, *(name for name, known in _SYNONYMS.items() if known == attribute and name != attribute))


def canonical(triple: Triple, *, subject: str | None = None) -> Triple:
    """The triple with its attribute under one name, its opposite turned into a negation, the user under one subject.

    "dislikes" negated is no dislike, and no liking either; it stays as it is.
    """
    attribute = slug(triple.attribute)
    negated = triple.negated
    if attribute in _OPPOSITES and not negated:
        attribute, negated = _OPPOSITES[attribute], True
    attribute = _SYNONYMS.get(attribute, attribute)
    name = subject if subject is not None else triple.subject
    if name.strip().casefold() in _USER_NAMES or re.fullmatch(r"user[_ ]?\w?", name.strip().casefold()):
        name = USER
    return triple.model_copy(
        update={
            "subject": name.strip(),
            "attribute": attribute,
            "negated": negated,
            "multi_valued": triple.multi_valued or attribute in MULTI_VALUED,
        }
    )
