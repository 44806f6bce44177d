"""Brings subjects and attributes of statements to keys under which they can be compared (SPEC F3).

Word order, articles, plurals and a compound's parts do not matter: "supplier of flour" is "flour supplier", "status and weekly
quantity" speaks of both. A statement about a part is one about the compound as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hindsight_langgraph.encoding.attributes import USER, canonical, slug
from hindsight_langgraph.encoding.entities import normalise
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import Triple

Key = frozenset[str]
"""The terms of one name, in no order."""

_JOINED: Final = re.compile(
    r"\s+(?:and|&|as well as)\s+|\s*[、；;]\s*|(?<=[\u4e00-\u9fff])[和与及](?=[\u4e00-\u9fff])|\s+[和与及]\s*|\s*[和与及]\s+"
)
_PLAIN: Final = {
    name: plain
    for plain, names in {
        "quantity": "quantity amount count number 数量 个数 份数", "status": "status state 状态", "budget": "budget 预算", "date": "date day 日期",
        "deadline": "deadline due_date 截止日期 截稿日期 期限", "address": "address 地址", "version": "version 版本", "port": "port 端口",
        "price": "price cost 价格 单价", "password": "password 密码", "email": "email e-mail mail 邮箱 邮件地址", "phone": "phone telephone phone_number "
        "mobile 电话 手机号 手机", "age": "age 年龄", "birthday": "birthday date_of_birth 生日", "size": "size 规模 大小 尺寸", "team": "team 团队",
        "project": "project 项目", "order": "order 订单", "manager": "manager boss 经理 上司", "database": "database db 数据库", "editor": "editor "
        "text_editor 编辑器", "color": "color colour 颜色", "timezone": "timezone time_zone 时区", "os": "os operating_system 操作系统",
        "framework": "framework 框架", "height": "height 身高 高度", "weight": "weight 体重 重量", "salary": "salary 工资 薪水",
    }.items()
    for name in names.split()
}  # fmt: skip
"""Everyday attributes under one name in both languages."""


@lru_cache(maxsize=8_192)
def subject_keys(subject: str) -> frozenset[Key]:
    """The things that a subject names: one key each, and one for the whole."""
    name = canonical(Triple(subject=subject, attribute="x", value="x")).subject
    if name == USER:
        return frozenset({frozenset({USER})})
    return _keys(normalise(name))


@lru_cache(maxsize=8_192)
def attribute_keys(attribute: str) -> frozenset[Key]:
    """The attributes that a name covers: one key each, and one for the whole."""
    name = canonical(Triple(subject="x", attribute=attribute, value="x")).attribute
    return _keys(_PLAIN.get(name, name).replace("_", " "))


def _keys(name: str) -> frozenset[Key]:
    parts = [part for part in _JOINED.split(name) if part.strip()]
    return frozenset(key for part in {name, *parts} if (key := _key(part)))


def _key(part: str) -> Key:
    plain = _PLAIN.get(slug(part))
    found = terms(plain or part)
    return frozenset(_PLAIN.get(term, term) for term in found) or frozenset({part.strip().casefold()})
