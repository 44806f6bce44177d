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
        "rent": "rent 房租 租金", "seat": "seat 座位", "room": "room room_number 房间 房间号", "meeting_room": "meeting_room conference_room 会议室",
        "supplier": "supplier vendor 供应商", "hobby": "hobby 爱好", "pet": "pet 宠物", "major": "major 专业", "advisor": "advisor adviser supervisor 导师",
        "doctor": "doctor gp 医生", "dentist": "dentist 牙医", "blood_type": "blood_type 血型", "shoe_size": "shoe_size 鞋码 鞋号",
        "licence_plate": "licence_plate license_plate number_plate 车牌 车牌号", "flight": "flight flight_number 航班 航班号", "nickname": "nickname 昵称 外号",
        "nationality": "nationality 国籍", "hometown": "hometown 老家 家乡", "school": "school 学校", "university": "university 大学", "username": "username "
        "account 用户名 账号", "website": "website url 网站 网址", "test_framework": "test_framework 测试框架", "language": "programming_language 编程语言",
        "font": "font 字体", "currency": "currency 货币 币种", "model": "model 型号", "owner": "owner 负责人", "place": "place location venue 地点 位置",
        "time": "time 时间", "frequency": "frequency 频率", "capacity": "capacity 容量", "limit": "limit cap 上限 限额", "opening_hours": "opening_hours "
        "business_hours 营业时间", "working_hours": "working_hours office_hours 上班时间 工作时间", "religion": "religion 宗教", "drink": "drink 饮料",
        "food": "food dish 食物 菜", "fruit": "fruit 水果", "film": "film movie 电影", "book": "book 书", "song": "song 歌", "sport": "sport 运动",
        "season": "season 季节", "animal": "animal 动物", "band": "band 乐队", "restaurant": "restaurant 餐厅 饭店 餐馆", "game": "game 游戏", "subject": "subject 科目",
    }.items()
    for name in names.split()
}  # fmt: skip
"""Everyday attributes under one name in both languages."""
_RELATIVES: Final = {
    name: plain
    for plain, names in {
        "wife": "wife 老婆 妻子 太太", "husband": "husband 老公 丈夫", "mother": "mother mum mom 妈妈 妈 母亲", "father": "father dad 爸爸 爸 父亲",
        "son": "son 儿子", "daughter": "daughter 女儿", "girlfriend": "girlfriend 女朋友", "boyfriend": "boyfriend 男朋友", "boss": "boss manager 老板 经理",
        "landlord": "landlord 房东", "flatmate": "flatmate roommate housemate 室友", "neighbour": "neighbour neighbor 邻居", "dog": "dog 狗", "cat": "cat 猫",
    }.items()
    for name in names.split()
}  # fmt: skip
"""Those of whom one says "my …", under one name in both languages; siblings are left out, Chinese tells the older from the younger."""
_FAVOURITE: Final = re.compile(r"^(?:my[ _])?favou?rite[ _](?P<en>.+)$|^最(?:喜欢|爱)的(?P<zh>.+)$")


@lru_cache(maxsize=8_192)
def subject_keys(subject: str) -> frozenset[Key]:
    """The things that a subject names: one key each, and one for the whole."""
    name = canonical(Triple(subject=subject, attribute="x", value="x")).subject
    if name == USER:
        return frozenset({frozenset({USER})})
    return _keys(_RELATIVES.get(normalise(name), normalise(name)))


@lru_cache(maxsize=8_192)
def attribute_keys(attribute: str) -> frozenset[Key]:
    """The attributes that a name covers: one key each, and one for the whole."""
    name = canonical(Triple(subject="x", attribute=attribute, value="x")).attribute
    if (favourite := _FAVOURITE.match(name)) is not None:
        thing = favourite["en"] or favourite["zh"]
        return _keys(f"favourite {_PLAIN.get(thing, thing)}".replace("_", " "))
    return _keys(_PLAIN.get(name, name).replace("_", " "))


def _keys(name: str) -> frozenset[Key]:
    parts = [part for part in _JOINED.split(name) if part.strip()]
    return frozenset(key for part in {name, *parts} if (key := _key(part)))


def _key(part: str) -> Key:
    plain = _PLAIN.get(slug(part))
    found = terms(plain or part)
    return frozenset(_PLAIN.get(term, term) for term in found) or frozenset({part.strip().casefold()})


def same_subject(one: Triple, other: Triple) -> bool:
    """Whether two statements are about one thing."""
    return bool(subject_keys(one.subject) & subject_keys(other.subject))
