"""Find what looks like a name in English or Chinese text: people, products, places, codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WORD: Final = r"[A-ZÀ-Þ][\w&+#]*(?:[.'’-][\w+#]+)*"
_TITLE: Final = r"(?:Dr|Mr|Mrs|Ms|Miss|Prof|Sir|Lady)\.?"
_CAPITALS: Final = re.compile(
    rf"(?<![\w.@/-])(?:{_TITLE} )?{_WORD}(?:(?: (?:of|de|van|von|the|and|&) (?=[A-Z]\w)| )(?!{_TITLE} ){_WORD})*"
)
_CODE: Final = re.compile(r"(?<![\w./-])(?:[A-Z]{1,6}-?\d{1,6}[A-Za-z]?|[a-z]+(?:-[a-z0-9]+)*-\d+)(?![\w-]|[./]\w|%)")
_NUMBERED: Final = re.compile(
    r"\b(order|ticket|issue|invoice|case|room|flat|gate|bug|pr|task|job|account|project)\s+(?:no\.?\s*|number\s*|#)?(\d{1,8})\b",
    re.IGNORECASE,
)
_NUMBERED_CHINESE: Final = re.compile(r"(订单|工单|单号|编号)\s*(?:号)?\s*(?:是|为|：|:)?\s*([A-Z]{0,3}\d{2,10})")
_CODE_SPAN: Final = re.compile(r"`([^`\n]{2,40})`")
_QUOTED: Final = re.compile(r"[\"“「『]([^\"”」』\n，。,.!?！？]{1,24})[\"”」』]")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;…\n。！？：；]['\"”’)]?\s+|^\s*[-*•]\s+|[\"“(]\s*)$")
_FOLLOWED_BY_VERB: Final = re.compile(
    r"(?:['’]s\b|\s+(?:is|was|are|were|has|had|will|would|can|can['’]t|does|did|doesn['’]t|didn['’]t|wants?|says?"
    r"|said|told|asked|called|rang|goes|went|keeps?|needs?|likes?|hates?|moved|runs|ran"
    r"|writes|wrote|joined|left|lives|works|owns|uses|prefers|takes?|took|gets|got|gave|gives|sent|sends|[a-z]+ed)\b)"
)
_NO_NAME_WORDS: Final = (
    "i i'm i'll i've i'd i’m i’ll i’ve i’d ok okay yes no not the a an and but or so if when while that "
    "this these those it its it's it’s he she they we you my your our his her their there here what who "
    "why how where which then also as at by for from in into of off on onto out over to up with without "
    "about after before because both each either every few more most much many some any all none nothing "
    "something everything anything someone everyone everybody nobody nobody's one two three four five six "
    "seven eight nine ten first second third last next let let's let’s please thanks thank sure right "
    "well oh ah hi hello hey morning afternoon evening good great fine nice perfect maybe perhaps never "
    "always just only still even again already yet now today tomorrow yesterday tonight meanwhile however "
    "besides anyway agreed correct correction yep nope hmm ugh sorry actually honestly finally lately "
    "recently once until since than too very quite rather do does did don't don’t is was are were be been "
    "can could should would may might must will won't won’t has have had use make keep give take put get "
    "go come see look say tell write send ask try remember forget ignore stop start monday tuesday "
    "wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays january february march april june july august september october november december mon tue "
    "wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec etc am pm tbd fyi btw asap pdf "
    "url faq todo eta diy wip lol omg bigger smaller better worse new old same different other another "
    "such plain less half orders exactly almost nearly could during against between under above below "
    "through across along around plot eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred rate rates unless whenever "
    "wherever whatever whoever whether though although despite instead otherwise therefore thus hence "
    "like unlike per via"
)
NO_NAME: Final = frozenset(_NO_NAME_WORDS.split())

_SURNAMES: Final = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛奚范彭郎鲁韦昌马苗凤花俞任袁柳鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安乐于傅卞齐康伍余顾孟黄穆萧尹姚邵汪祁毛狄臧"
    "戴宋茅庞熊纪舒屈项祝董梁杜阮蓝闵季贾江童颜郭梅林刁钟徐邱骆高夏蔡田樊胡凌霍虞万柯管卢莫房缪干解应宗丁宣邓洪包诸左石崔吉龚程邢裴陆荣翁荀甄曲封储靳段焦巴牧谷车侯宓全班仇甘厉祖武符刘景詹龙叶司黎薄印白"
    "怀蒲邰从鄂索籍赖卓蔺屠蒙池乔阴闻党翟谭贡劳逄姬申扶堵冉宰桑桂牛寿通边扈燕冀尚农温庄晏柴瞿阎连习容向古易慎戈廖庾终居衡步都耿满弘匡国文寇广禄东欧沃利蔚越隆师巩聂晁勾敖融冷辛阚那简饶曾沙养丰关相查游肖"
)
_SAFE_SURNAMES: Final = (
    "赵孙李周吴郑王冯陈褚蒋沈韩杨朱秦许何吕张孔曹严魏陶姜谢邹喻苏潘葛范彭鲁韦马俞袁柳鲍史唐薛雷贺倪汤罗毕郝邬傅齐康顾孟黄萧尹姚邵汪祁毛戴宋庞熊纪屈项祝董梁杜阮季贾江颜郭梅林钟徐邱骆高夏蔡田樊胡凌霍卢莫"
    "丁邓洪崔龚程邢裴陆翁荀甄段焦侯刘詹龙叶黎乔翟谭温庄柴阎廖耿聂冷辛曾肖柯"
)
_LONG_TITLE: Final = (
    "老师|医生|大夫|教授|经理|主任|师傅|老板|同学|先生|女士|小姐|律师|警官|护士|校长|院长|博士|队长|主管|总监|工程师|店长"
    "|阿姨|叔叔|大哥|大姐"
)
CHINESE_PERSON: Final = re.compile(
    rf"[{_SURNAMES}](?:{_LONG_TITLE})|[{_SAFE_SURNAMES}](?:工(?![作程人具资厂序地])|总(?![是共之结体会数部算额量])|导"
    rf"(?![致师入出航])|哥(?!们)|姐|叔|姨|队(?![列伍员]))"
    rf"|老(?:[{_SAFE_SURNAMES}])(?![家师板是])|小"
    rf"(?:[{_SAFE_SURNAMES}宁棠雨月雪晴敏丽芳燕婷娟娜倩佳静悦琪琳琴瑶玲玉珊珍云涛磊军勇杰峰强明飞鹏浩宇凯辉])"
    rf"(?![序度时学组])"
    r"|阿[\u4e00-\u9fff](?!姨)"
)
_CALLED: Final = re.compile(
    r"(?:名叫|叫做|叫作|名字是|名字叫|取名叫?|起名叫|(?<![也都又再喊管来])叫)[“\"「]?"
    r"([\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z0-9· ]{1,8}?)[”\"」]?(?=[，。；,.;！!？?、）)\s]|$|的)"
)
_NOT_CALLED: Final = re.compile(r"^[他她它我你人什法停外起醒]|^(?:这|那|一|不|车|好|名字)")
_ORGANISATION: Final = re.compile(
    r"([\u4e00-\u9fff]{2,8}?)(科技|物流|集团|公司|大学|学院|医院|银行|酒店|茶铺|咖啡馆|餐厅|书店|工作室|研究所|研究院"
    r"|中学|幼儿园|出版社|事务所|基金会|俱乐部)"
)
_BEFORE_ORGANISATION: Final = re.compile(r".*[我你他她在是去到和跟给的了从对把被让也都有叫手接管做进开这那家个]")
_LATIN: Final = re.compile(r"(?<![A-Za-z0-9_./@-])[A-Za-z][A-Za-z0-9+#]*(?:[.-][A-Za-z0-9+#]+)*(?![A-Za-z0-9@])")
_NO_LATIN_WORDS: Final = (
    "ok app id kg km cm mm ml ms gb mb kb tb am pm no yes vs etc pro lite max plus mini api url pdf ppt "
    "excel word wifi ip cpu gpu ui ux hr ceo cto pm qa bug demo kill batch fix todo"
)
_NO_LATIN: Final = frozenset(_NO_LATIN_WORDS.split())


def names_in(text: str) -> Iterator[tuple[int, str]]:
    """Every candidate with its place in the text, in no order, perhaps more than once."""
    for match in _NUMBERED.finditer(text):
        yield match.start(), match[2] if len(match[2]) > 2 else f"{match[1]} {match[2]}"  # later it is "4417" alone
    for pattern in (_CODE_SPAN, _QUOTED):
        for match in pattern.finditer(text):
            if len(match[1].split()) <= 4:
                yield match.start(1), match[1]
    for match in _CODE.finditer(text):
        yield match.start(), match[0]
    yield from _english(text)
    if re.search(r"[\u4e00-\u9fff]", text):
        yield from _chinese(text)


def _english(text: str) -> Iterator[tuple[int, str]]:
    for match in _CAPITALS.finditer(text):
        at, name = match.start(), match[0]
        words = name.split()
        initial = at == 0 or bool(_SENTENCE_START.search(text[max(0, at - 6) : at]))
        while words and _plain(words[0]) in NO_NAME and not (len(words) > 2 and _plain(words[0]) == "the"):
            at += len(words[0]) + 1
            words = words[1:]
            initial = False
        while words and (_plain(words[-1]) in NO_NAME or _CODE.fullmatch(words[-1]) or words[-1] in {"and", "of", "&"}):
            words = words[:-1]
        if not words:
            continue
        name = " ".join(words)
        if (
            len(words) == 1
            and initial
            and not _shows_name(words[0])
            and not _FOLLOWED_BY_VERB.match(text, at + len(name) - (2 if name.endswith(("'s", "’s")) else 0))
        ):
            continue
        if len(words) == 1 and len(name) == 1:
            continue
        yield at, name


def _plain(word: str) -> str:
    plain = word.lower().strip(".,'’")
    return (
        plain
        if plain in NO_NAME
        else re.sub(r"['’]s$", "", plain).split("-")[0]
        if "-" in plain and plain.split("-")[0] in _TENS
        else re.sub(r"['’]s$", "", plain)
    )


_TENS: Final = frozenset(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])


def _shows_name(word: str) -> bool:
    """Capitals or digits inside, or a hyphen: a name even where a sentence begins."""
    return bool(re.search(r".[A-Z0-9]|-[A-Z]", word))


def _chinese(text: str) -> Iterator[tuple[int, str]]:
    for match in CHINESE_PERSON.finditer(text):
        yield match.start(), match[0]
    for match in _CALLED.finditer(text):
        if not _NOT_CALLED.search(match[1]):
            yield match.start(1), match[1].strip()
    for match in _ORGANISATION.finditer(text):
        head = _BEFORE_ORGANISATION.sub("", match[1])
        if len(head) >= 2:
            yield match.end() - len(match[2]) - len(head), head + match[2]
    for match in _NUMBERED_CHINESE.finditer(text):
        yield match.start(), match[2]
    for match in _LATIN.finditer(text):
        if len(match[0]) > 1 and match[0].lower() not in _NO_LATIN:
            yield match.start(), match[0]


def last_name(text: str) -> str | None:
    """The name mentioned last: whom "she" or "他" means."""
    found = sorted(names_in(text), key=lambda pair: (pair[0], len(pair[1])))
    return found[-1][1] if found else None
