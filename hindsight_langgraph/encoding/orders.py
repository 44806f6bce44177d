"""Find text that gives orders to the assistant about its own behaviour: kept only as a quoted claim of its author.

A wish about the work ("use pytest from now on", "以后用表格") is a preference, not an order of this kind. An order aims at
what the assistant is told, believes itself to be, reveals, or may do: it plays the system, lifts rules, or hides from the user.
"""

from __future__ import annotations

import re
from typing import Final

_TOLD: Final = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directives?|guardrails?|restrictions?|safety (?:rules|filters?)|programming"
    r"|system message)"
)
_REST: Final = r"[^.!?\n。！？]{0,200}"

_ORDER: Final = re.compile(
    rf"\b(?:please\s+)?(?:ignore|disregard|forget|override|bypass|drop|discard|do not follow|don['’]t follow|stop following)\s+"
    rf"(?:(?:all|any|each|every|the|your|my|our|of|these|those|this|previous|prior|earlier|above|preceding|foregoing"
    rf"|other|existing|current|original|system|safety"
    rf"|developer|initial)\s+){{1,6}}{_TOLD}{_REST}"
    rf"|\b(?:ignore|disregard)\s+(?:everything|all|anything)\s+(?:above|before this|said (?:above|before)|you (?:were"
    rf"|have been) told){_REST}"
    rf"|(?:^|\n|[\"'“])\s*(?:#+\s*)?(?:\[?(?:system|developer|assistant)(?: (?:message|prompt|note|override"
    rf"|instructions?))?\]?)\s*[:：>]{_REST}"
    rf"|\[(?:system|developer)(?: (?:message|prompt|note|override))?\]{_REST}"
    rf"|<\|?(?:im_start|system|endoftext|start_header_id)\|?>{_REST}|\[/?INST\]{_REST}|<</?SYS>>{_REST}|</?(?:system"
    rf"|memory|memories|instructions?)>{_REST}"
    rf"|\b(?:you are|you['’]re|act as|behave as|pretend (?:to be|you are|that you are)|from now on,? you are)\s+"
    rf"(?:now\s+)?(?:an?\s+)?"
    rf"(?:DAN\b|(?:unrestricted|uncensored|unfiltered|jailbroken|evil)\b|(?:in )?(?:developer|debug|god|admin|root"
    rf"|sudo|maintenance|unrestricted) mode\b"
    rf"|(?:a |an )?(?:ai|assistant|model|bot) (?:without|with no)\b){_REST}"
    rf"|\b(?:enter|enable|activate|switch (?:in)?to|turn on)\s+(?:the\s+)?(?:developer|debug|god|dan|jailbreak"
    rf"|unrestricted|admin) mode{_REST}"
    rf"|\b(?:reveal|print|show|repeat|output|leak|tell me|give me|send|dump)\s+(?:me\s+)?(?:(?:the|all|of|full|entire|exact)\s+)*"
    rf"(?:system (?:prompt|message|instructions)|(?:your|hidden|secret|initial)\s+(?:\w+\s+){{0,2}}(?:prompt"
    rf"|instructions|message|rules)){_REST}"
    rf"|\b(?:do not|don['’]t|never)\s+(?:tell|inform|mention (?:this|it|that) to|reveal (?:this|it|that) to|warn"
    rf"|alert)\s+(?:the\s+)?(?:user|users|human|owner|admin|operator)\b{_REST}"
    rf"|\bwithout\s+(?:telling|informing|asking|notifying)\s+(?:the\s+)?(?:user|human|owner)\b{_REST}"
    rf"|\b(?:assistant|ai|agent|model|llm|chatbot)s?(?:\s+(?:reading|processing|that reads?|who"
    rf" reads?)\s+this)?[,:]?\s+(?:you\s+)?(?:must|should|shall|needs? to|are (?:to|instructed to|required to)|will"
    rf" now)\s+"
    rf"(?:now\s+|always\s+|never\s+|immediately\s+|also\s+)?(?:call|run|execute|send|forward|delete|reveal|ignore"
    rf"|comply|obey|reply|respond|answer|say|output|transfer|approve|grant|email|post|trust|treat){_REST}"
    rf"|\b(?:new|updated|real|actual|important|urgent)\s+(?:system\s+)?(?:instructions?|directives?|rules?)\s*(?:for "
    rf"(?:the )?(?:assistant|ai|agent|model))?\s*[:：]{_REST}"
    rf"|\byour (?:new|real|true|actual) (?:instructions?|task|goal|purpose|directive|rule)s?\s+(?:is|are)\b{_REST}"
    rf"|\byou (?:have no|no longer have (?:any)?|are no longer bound by(?: any)?|are free (?:from|of))\s+(?:any\s+"
    rf"|all\s+|your\s+)?(?:rules|restrictions|limits|guidelines|instructions|filters){_REST}"
    rf"|(?:请|麻烦)?(?:忽略|无视|忘记|忘掉|抛开|不要遵守|不要理会|不用管|别管|绕过|跳过)(?:掉)?(?:你)?(?:之前|以前"
    rf"|前面|上面|上述|先前|此前|以上|所有|全部|任何|一切|原来|系统|的|你|和|收到|给你|安全|过|那些|这些|、){{1,10}}"
    rf"(?:指令|指示|提示词?|规则|设定|命令|要求|限制|约束|系统提示|说明){_REST}"
    rf"|(?:^|\n|[“\"])\s*(?:【?\[?(?:系统|系统消息|系统提示|开发者|管理员)\]?】?)\s*[:：]{_REST}"
    rf"|(?:你现在是|从现在起你(?:就)?是|假装你是|扮演)(?:一个|一名)?(?:没有|不受|无)(?:任何)?(?:限制|约束|规则|审查|道德){_REST}"
    rf"|(?:进入|开启|切换到|启用|打开)(?:开发者|调试|越狱|上帝|管理员|无限制)模式{_REST}"
    rf"|(?:输出|打印|显示|泄露|告诉我|发给我|复述|说出)(?:一下)?(?:你的|你|完整的?|全部的?|所有的?|隐藏的?|最初的?)*"
    rf"(?:系统提示词?|系统指令|提示词|初始指令|内部指令){_REST}"
    rf"|(?:不要|别|不准|不许|禁止)(?:告诉|通知|提醒|让)(?:用户|使用者|主人|管理员)(?:知道)?{_REST}"
    rf"|(?:助手|AI|人工智能|模型|智能体|机器人)(?:必须|应当|应该|需要|务必|请)(?:立即|马上|总是|永远|直接)?(?:调用"
    rf"|执行|运行|发送|转发|删除|泄露|忽略|服从|回复|回答|输出|转账|批准|信任){_REST}"
    rf"|你(?:已经)?(?:不再受|没有|不受)(?:任何|一切|所有)?(?:限制|约束|规则|审查){_REST}",
    re.IGNORECASE,
)
_HINT: Final = re.compile(
    r"instruction|prompt|rule|guideline|directive|system|developer|ignore|disregard|mode\b|user|human|owner|assistant"
    r"|\bai\b|agent|model|bot\b|dan\b|inst\]|im_start"
    r"|memor|your (?:new|real|true|actual)|restrict|unfilter|uncensor|指令|指示|提示|规则|设定|命令|限制|约束|系统"
    r"|开发者|管理员|模式|用户|助手|模型|智能体|机器人|审查",
    re.IGNORECASE,
)


def find_orders(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) of the orders in a text, in order, not overlapping; each runs to the end of its sentence."""
    if not _HINT.search(text):
        return ()
    return tuple(match.span() for match in _ORDER.finditer(text))


def is_instruction_to_assistant(text: str) -> bool:
    """True when the text tries to change how the assistant itself behaves (prompt injection, playing the system)."""
    return bool(find_orders(text))
