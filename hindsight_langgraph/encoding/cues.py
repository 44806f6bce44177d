"""Cues: the words by which a text shows what it does, in English and Chinese.

The gate, the kind rules and the heads all read the same cues, so that a decision can always be explained by their names. They are
general turns of phrase of the two languages; none comes from one corpus.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SOURCES: Final[dict[str, tuple[str, str]]] = {
    # --- conversation that carries nothing ---
    "question": (r"\?\s*[)\"'”’]*\s*$", r"[？?]\s*$|(?:吗|呢|么)[。\s]*$"),
    "acknowledgement": (
        r"^(?:ok(?:ay)?|sure|right|true|yes|yep|yeah|no|nope|fine|fair(?: enough)?|agreed|exactly|perfect|great|cool|thanks?(?: you)?|"
        r"thank you|got it|understood|noted|good idea|very good|of course|indeed|will do|do|ha(?:ha)*|oh|hm+|ugh)\b[^a-z0-9]*"
        r"(?:[a-z']+\W*){0,3}$",
        r"^(?:好(?:的|嘞|吧)?|嗯+|行(?:吧)?|对(?:对|的|啊)*|是(?:的|啊)?|可以|没错|明白|知道了|收到|谢谢.{0,3}|多谢|辛苦了?|哈+|哦+|也是|可不)"
        r"[。！!，,~～\s]*.{0,4}$",
    ),
    "greeting": (
        r"^(?:hi|hello|hey|(?:good )?(?:morning|afternoon|evening)|good night|happy \w+day|it's me|back)\b|"
        r"\b(?:bye|see you|good night|gotta (?:run|dash|go)|talk later|later!|off to|bus is|calling)\b",
        r"^(?:早|你好|嗨|晚上好|下午好|中午好|在吗|我来了)|(?:晚安|再见|拜拜|回头聊|回头见|先撤|撤了|睡了|下班|周末愉快|去了)[。！!]*$",
    ),
    "hedge": (
        r"\b(?:maybe|perhaps|probably|could be|might|not sure|hm+|i think so|i guess|let me think|think(?:ing)? (?:out loud|aloud)|"
        r"i wonder|no idea|nobody knows|i'd have to (?:look|check)|daydream\w*|torn between|can't decide|who knows)\b|\.\.\.|…",
        r"可能|也许|大概吧|或许|说不定|我想想|想想|纠结|不确定|没想好|感觉是|谁知道|鬼知道|来着|唉|还没(?:细看|想|定)|……|应该吧|吧，|吧？",
    ),
    "joke": (r"\b(?:kidding|joke|joking|ignore me|ha(?:ha)+)\b|^ha\b", r"哈哈|开玩笑|逗你"),
    "request": (
        r"^(?!.*\b(?:always|never|from now on|in future|whenever|every|each|any ?more|again and again)\b)\W*"
        r"(?:please |now |can you |could you |would you |just |and )*"
        r"(?:write|show|tell|translate|summari[sz]e|explain|give|list|draft|help|find|generate|create|rewrite|shorten|compare|describe|"
        r"suggest|recommend|check|fix|review|look up|read|make) (?:(?:me|us|it|that|this|the|an?|some|all|\d+|two|three)\b|\")",
        r"^(?!.*(?:以后|今后|每次|总是|一律|从现在|别再))(?:请|麻烦|你)?(?:再)?(?:帮我|给我|替我)?"
        r"(?:写|翻译|总结|解释|列|讲|说|查|找|改|看|推荐|介绍|生成|画|算)(?:一|几|两|三|下|个|首|篇|段|遍|讲)",
    ),
    # --- events worth writing (SPEC B1) ---
    "remember": (
        r"\b(?:remember|write (?:this|that|it) down|keep (?:this|that)|note (?:this|that|down)|for the record|on record|make a note|"
        r"don't (?:forget|mix|confuse)|keep in mind|for context|by the way|fyi|one more thing|one thing)\b",
        r"记(?:一下|住|着|好|下来)|帮我(?:记|存)|你(?:帮我)?(?:存着|存|记)|别(?:忘|弄混|搞混|记串|记错)|说(?:个|一下|下)|跟你说|介绍下|对了|另外|还有",
    ),
    "preference": (
        r"\b(?:i|we)(?:'d| would| really| always| also| just| do| still|'ve)*\s+(?:prefer|like|love|enjoy|adore|hate|dislike|loathe|"
        r"can(?:'t|not) stand|don't like|don't enjoy|want|favou?r|avoid)\b|\bfavou?rite\b|\ballergic\b|\bgone off\b|\bdone with\b|"
        r"\bfan of\b|\brather not\b|\bi(?:'m| am) (?:vegan|vegetarian)\b",
        r"喜欢|超爱|最爱|我爱|很爱|爱(?:吃|喝|看|听|用)|讨厌|受不了|不爱|偏好|习惯用|只(?:用|要|喝|吃|看)|腻了|不想(?:再)?|过敏|改主意|不动了|"
        r"信(?:得过)?[A-Z]|怕(?:辣|冷|热|吵)",
    ),
    "instruction": (
        r"\b(?:from now on|whenever|always|never|every time|each time)\b|\b(?:when|if) (?:you|i ask)\b|\bfor me\b|"
        r"\banything you\b|\bwhatever you\b|\bplease\b|\bstop \w+ing\b|\byou (?:can|may|don't (?:have|need) to|needn't)\b.*\b(?:again|now|any ?more|as well)\b|"
        r"(?:^|[.!;:,] )(?:and |so |also )?(?:use|give|write|make|keep|send|call|talk|show|avoid|stick|"
        r"(?:don't|do not)(?! (?:forget|mix|confuse|worry|mind|know|think))|no more|mark|cut|push|put)\b",
        r"以后|今后|从现在|一律|给我.{0,4}(?:写|列|出|发|排|讲|用|做|画|改)|给我写|都给我|都按|按.{1,6}来|别(?:再)?给我|照旧|每次|不要(?:再|给)|"
        r"请(?:用|按|别|不要)|你(?:可以|不用|不必).{0,8}了|不用(?:那么|再)|(?:多|少)(?:来|往|用|放)|(?:^|[，。,；])(?:别|不要)",
    ),
    "decision": (
        r"\b(?:decided?|decision|settled|agreed|voted|chosen?|chose|approved|go(?:ing)? with|went with|switch(?:ed|ing)?|pick(?:ed)?|"
        r"opt(?:ed|ing) for|(?:stay|stick)(?:ing)? (?:with|to)|keeping|on ice|on hold|postpone[ds]?|put off|called off|cancel(?:led|ed)?|scrapped|"
        r"is off|is on again|goes? (?:back|into)|i won't be|we(?:'re| are) (?:moving|going|dropping)|i've decided)\b",
        r"定了|定的|决定|拍(?:了)?板|拍的板|敲定|同意|通过了|投票|商量好|说好|改成|换成|换到|改投|改用|选(?:了|定)|不.{0,2}了，|先停|暂停|恢复|"
        r"反转|取消|黄了|不换了|就用|还是(?:用|走|去|选|投|背|住)",
    ),
    "change": (
        r"\b(?:now|no longer|any ?more|instead|moved|changed|changes|renamed|replaced|raised|lowered|shrank|grew|merged|"
        r"up(?:graded)?|goes (?:up|down|from)|went (?:up|down)|from .{1,30} to|after all|again|new|not \S+ (?:any ?more|now)|used to|"
        r"as of|from (?:now|this|next|here)|until further|restart\w*|back (?:at|on|to|since|in)|converted|leaves|drops?|stays?|still|moving|bumped|cut|"
        r"(?:down|up) to|(?:is|are|'s|'re|was) (?:off|gone|over|out)(?! (?:to|in|on)\b)|gone off|swapped|shifted|pushed|brought forward|delayed|these days|no more|"
        r"(?:has|have|'s|'ve) left|handed in|took over|takes over|steps? down|in (?:his|her|their|its) place|fell through|quit)\b",
        r"改(?:了|成|为|到|用|主意|回)|换(?:了|成|到|掉)|变(?:了|成|为)|现在|不再|又(?:改|换|来|补|要)|(?:降|提|加|涨|减|扩|升|调|缩)(?:到|成|至|了)|"
        r"扩了|收紧|放宽|只(?:剩|留)|取消|原来|目前|从.{1,12}(?:变|改|换|到)|还是|挪|总共|一共|掉了|调(?:到|去|成|为)|推(?:迟|到|了)|提前|延(?:期|后|到)|搬(?:到|去|了)|"
        r"辞(?:职|了)|离职|离开|接手|升(?:到|成|了)|转(?:到|成|为|去)|涨(?:到|了)|补(?:了|好)|(?:早就|已经)不|不[^，。；！？错行]{1,4}了|没[^，。；！？]{1,6}成|[退停]了|恢复",
    ),
    "forget": (
        r"\b(?:forget (?:that|what|it|about|where|everything|i)|(?<!i )(?<!not )(?<!n't )(?<!never )forget (?:the|my)|ignore what|scrap that|drop (?:it|that)|disregard|take (?:that|it) back|"
        r"delete (?:that|what|it)|erase|strike that|unsay|withdraw)\b",
        r"忘(?:了|掉)(?:吧|它|这|那|这个|那个|$|，|。)|忘掉|你忘了|删(?:掉|了|除)|别记|作废|撤回|别再提|别提了|不用记|当我没说|收回|别用了|不算数",
    ),
    "correction": (
        r"\b(?:correction|actually|i was wrong|my mistake|misspoke|i mixed up|i meant|not \S+,? (?:but|it's)|no, \S+|"
        r"turn(?:s|ed) out|wasn't true|wrong (?:about|number)|take back|was a joke)\b",
        r"更正|纠正|说错|记错|弄错|搞错|写错|其实|误会|不是.{1,12}(?:是|，)|错了|谣言|应该是",
    ),
    "procedure": (
        r"\bfirst\b.*\b(?:then|next|after that|finally)\b|\bto \w+ .*\byou\b.*,|\bthen\b.*\b(?:then|finally|last)\b|"
        r"(?:,|,? and)(?: only)? then (?!i|we|he|she|they|it|the)[a-z]+\b|\b(?:before|after) .{3,60}\byou \w+ .*(?:,| and) |"
        r"\b(?:steps?|procedure|recipe|trick|how i|how to|the way (?:i|we)|in that order|set-?up order|fix(?:ed)? (?:it|was)|"
        r"what (?:cured|fixed|worked|helps)|work(?:ed|s)? around)\b|`[^`]+`|^(?:stop|run|open|start)\b.*,.*\bthen\b",
        r"先.+?(?:再|然后|最后|接着)|第一步|步骤|流程|办法|规矩|方法是|怎么(?:弄|做|处理)的|是这么|顺序",
    ),
    "alias": (
        r"\b(?:called|named|goes by|known as|a\.?k\.?a|nickname\w*|calls? (?:him|her|it|them|me)|same (?:person|thing|one)|short for|"
        r"handle|stands for|i (?:just )?write|abbreviat\w+)\b",
        r"叫(?!起|醒|号|我|你|了)|叫我.{1,6}(?:就|即|吧|好了|$|。)|又叫|也叫|大家都叫|简称|外号|小名|昵称|别名|同一个人|都是(?:他|她|它)|姓|也就是",
    ),
    "introduce": (
        r"\b(?:i(?:'m| am) (?:a|an|the|in charge|writing|working|based|from|on leave|building)|i (?:run|own|manage|work|live|study|teach|lead)|"
        r"my (?:name|job|team|company|wife|husband|partner|son|daughter|brother|sister|boss|manager|editor|flatmate|dog|cat|mother|father)|"
        r"we (?:have|use|run|are)|our \w+|there (?:is|are)|is (?:the|our|my|an?)\b|it's (?:a|set)\b)",
        r"我(?:是|在|叫|住|做|管|负责|开了|研|刚接手|家|老婆|老公|妈|爸|儿子|女儿|同事|室友)|归.{1,6}管|负责|由.{1,6}(?:管|负责)|管(?:着|两|三)|导师|领队|店长|老板是",
    ),
    "state": (
        r"(?:^|[.!;] )(?:(?:[Tt]he|[Oo]ur|[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Tt]heir|[Ee]very|[Ee]ach|[Aa]ll) (?:[\w'&.-]+ ){1,4}?|"
        r"(?!It |That |This |There |What |Who |He |She |They |You |Yes |No |How |Why |I )[A-Z][\w-]*(?: [A-Z\d][\w-]*)* )"
        r"(?:(?:now|only|always|usually|also|still) )*"
        r"(?:has|have|owns?|belongs?|needs?|runs?|deploys?|starts?|opens?|closes?|ends?|expires?|costs?|weighs?|holds?|contains?|"
        r"supports?|uses?|reads?|writes?|lives?|works?|stops?|leaves?|comes?|goes|lasts?|requires?|(?:is|are|was|were) (?:on|in|at|under|"
        r"behind|next|near|from|due|called|named|built|made|owned|replaced|kept|stored|located|not|an?|the|\d|\[|[A-Z]))\b",
        r"^(?!今天|天气|这|那|我|你|他|她|它|咱|好|真|有点|什么|怎么)[\u4e00-\u9fffA-Za-z0-9 ·“”-]{2,14}?"
        r"(?:在(?!吗|哪)|有(?!没有|意思|点|道理)|归|属于|需要|叫|用|放在|位于|采用|支持|到期|开门|关门|发布|部署)",
    ),
    "habit": (
        r"\b(?:i|we|he|she|they|it)\b.{0,40}\b(?:every|each) (?:\w+ )?(?:day|week|month|morning|evening|night|year|\w+day)\b|"
        r"\bon (?:\w+ )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:daily|weekly|monthly|(?:once|twice|\w+ times) a (?:day|week|month))\b",
        r"每(?:天|周|月|年|晚|早|次|个|逢|隔)|周[一二三四五六日末](?:都|去|上|做|休|会|开)|经常|平时|固定",
    ),
    "sentiment": (
        r"\b(?:proud|dread(?:ing|ed)?|worried|worry|nervous|anxious|excited|thrilled|happy (?:about|with|that)|sad|upset|scared|afraid|"
        r"lonely|relieved|frustrated|angry|stressed|overwhelmed|grateful|miss(?:ing)? (?:her|him|them|home|my|our|the|those|you)|guilty|ashamed)\b",
        r"骄傲|自豪|紧张|兴奋|慌|担心|害怕|难过|伤心|开心|高兴|焦虑|失望|生气|委屈|孤单|感动|压力大|后悔|心疼|激动|睡不好|崩溃|想念|怀念|舍不得|郁闷|烦躁",
    ),
    "task_state": (
        r"\b(?:finished|completed?|done(?! with)|drafted|booked|shipped|paused|blocked|in progress|pending|so far|as of|out of \d+|"
        r"\d+ of \d+|half(?:way)?|submitted|signed|paid|waiting for|started|halfway|left to do|i(?:'d| will|'ll) \w+|going to|plan(?:ning)? to)\b",
        r"完成|做完|写完|弄完|办好|买好|交了|到账|已经|进度|还差|还剩|暂停|卡住|等.{0,4}审批|提交|打算|计划|准备(?:开|做|去)|愿意|正在",
    ),
    "hearsay": (
        r"\b(?:i heard|they say|apparently|rumou?r|supposedly|says? (?:that|he|she|they)|told me|according to)\b",
        r"听说|据说|传言|谣传|有人说|说是",
    ),
    "reason": (r"\b(?:because|since|due to|reason|so that|that's why|caused by)\b", r"因为|由于|原因|理由|所以|是为了"),
    "choice": (
        r"\b(?:the )?(?:first|second|third|last|former|latter|other) (?:one|option|plan|version)?\b|\b(?:option|plan|version) (?:one|two|three|[abc123])\b",
        r"(?:头|前|后|第)(?:一|二|两|三)(?:个|种|版|套|项)|(?:方案|选项)(?:一|二|三|[ABC123])|前者|后者",
    ),
    "quantity": (
        r"\b\d[\d,.:]*\s?(?:%|€|£|\$|[a-z]+)?|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|hundred|dozen)\b",
        r"\d|[一二两三四五六七八九十百千万半]+(?:个|台|次|天|年|月|周|元|块|斤|克|公里|人|条|款|套|名|份|张|号|点|分|秒|对|万|位|间|家|本|章)",
    ),
    "name": (
        r"(?<![.!?:]\s)(?<!^)\b[A-Z][A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b|\"[^\"]{2,30}\"|“[^”]{1,30}”|\b[A-Z]{2,}\b|\b\w+-\d+\b",
        r"[A-Za-z][A-Za-z0-9_.-]+|“[^”]{1,20}”|「[^」]{1,20}」|《[^》]{1,20}》|[老小阿][\u4e00-\u9fff](?=[^\u4e00-\u9fff]|[的是说提让给跟和在]|$)",
    ),
    "negation": (
        r"\b(?:not|no|never|don't|doesn't|didn't|isn't|aren't|won't|can't|cannot|no longer|without|none|neither)\b",
        r"不|没|别|勿|无",
    ),
    "first_person": (r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|our|us|we've|we're)\b", r"我|咱|俺"),
    "second_person": (r"\b(?:you|your|yours|you're|you'd)\b", r"你|您"),
    "elsewhere": (
        r"\b(?:the weather|rain(?:ing|s)?|coffee|lunch|dinner|tea|bus|slept|sleep|tired|weekend|hungry|bed)\b",
        r"天气|下雨|降温|咖啡|午饭|吃饭|吃饱|困|睡|累|热死|冷死|堵车|地铁|周末",
    ),
}
"""name → (English, Chinese) pattern."""

NAMES: Final = tuple(_SOURCES)
"""Every cue, in the order of the heads' features."""

_CASED: Final = frozenset({"name", "state"})
"""Cues that read capital letters."""

_KEEP_IN_MIND: Final = re.compile(r"\b(?:don't|do not|never|won't|didn't) forget\b|别忘|不要忘|不会忘|没忘", re.IGNORECASE)
_CJK = re.compile(r"[\u3400-\u9fff]")


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(en, 0 if name in _CASED else re.IGNORECASE), re.compile(zh, re.IGNORECASE))
        for name, (en, zh) in _SOURCES.items()
    )


def is_chinese(text: str) -> bool:
    """True when a text has Chinese characters; names and code in it may be Latin."""
    return bool(_CJK.search(text))


_ASKING: Final = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|well|hey|then),? )?"
    r"(?:(?:what|when|where|who|whose|which|how|why)(?: (?!i\b|you\b|we\b|they\b|he\b|she\b|it\b|that\b|the\b)\w+){0,2} )?"
    r"(?:is|are|was|were|do|does|did|can|could|should|would|will|have|has|may|must) "
    r"(?:i|you|we|they|he|she|it|this|that|there|the|my|your|our)\b(?!.*[,:])",
    re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Whether one sentence asks: by its mark, by its particle, or by its word order where the mark was left out."""
    text = sentence.strip()
    if text.endswith(("?", "？")):
        return True
    if is_chinese(text):
        return bool(re.search(r"(?:吗|什么|谁|哪[里儿个些]|怎么样|多少|几点)[。\s]*$", text))
    return bool(_ASKING.search(text))


_TO_REMEMBER: Final = re.compile(
    r"^(?:please |and |also )?(?:remember|note|keep in mind|don't forget|do not forget|make a note)(?: (?:that|this|to|the|my|our)\b|[:,])|"
    r"^(?:请|麻烦|帮我)?(?:你)?(?:记(?:住|一下|下来?|着)|别忘了?)(?!吗)",
    re.IGNORECASE,
)


def asks_to_remember(text: str) -> bool:
    """Whether a text begins by asking that it be remembered."""
    return bool(_TO_REMEMBER.search(text.replace("’", "'").strip()))


_ASKS_VALUE: Final = re.compile(
    r"\b(?:how (?:many|much|long|often|old|big|far|tall|do you take)|what (?:colou?r|size|time|date|day|name|kind|sort|address|number|format|language)|"
    r"which \w+|what(?:'s| is) (?:your|the|her|his|their) \w+|when (?:is|are|do|does|should|will)|where (?:is|are|do|does|should|will)|"
    r"who (?:is|are|does|should|will)|(?:are you|is \w+) (?:\w+ )?allergic|(?:do|does|are|is) \w+ still)\b|"
    r"几|多少|什么(?:颜色|尺寸|时候|名字|格式|牌子|型号)|哪(?:天|个|种|家|里|儿|些)|谁|多(?:久|大|长|远|高)|过敏",
    re.IGNORECASE,
)


def asks_for_value(question: str) -> bool:
    """Whether a question asks for a number, a time, a name or the like: its answer is a fact, however short."""
    return bool(_ASKS_VALUE.search(question.replace("’", "'")))


@lru_cache(maxsize=8_192)
def cues(text: str) -> frozenset[str]:
    """Names of the cues that a text shows."""
    straight = text.replace("’", "'").strip()
    chinese = is_chinese(straight)
    return frozenset(name for name, english, zh in _patterns() if (zh if chinese else english).search(straight))


def is_retraction(text: str) -> bool:
    """Whether a text asks to forget, or takes back, what was said before; "don't forget" does not."""
    return "forget" in cues(_KEEP_IN_MIND.sub("", text))
