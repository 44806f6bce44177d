"""Take secrets out of a text before anything stores, embeds, logs or sends it (CASES O24)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from pydantic import JsonValue

from hindsight_langgraph.ports import Redactor

REDACTED: Final = "[redacted]"

Replace = Callable[[re.Match[str]], str | None]
"""The text that takes a match's place, or None to leave it as it is."""

_QUOTE: Final = "\"'“”‘’`「」『』"
_CLOSED: Final = (
    r"(?<=[\"'`])(?:(?!(?<!\\)(?P=open))[^\n]){3,200}(?<!\\)(?=(?P=open))|(?<=[“‘「『])[^”’」』\n]{3,200}(?=[”’」』])"
)
"""What stands between a quote, escaped as often as it may be (JSON within JSON), and the next one of its kind."""
_BARE: Final = rf"(?![{_QUOTE}\\]|[\[{{]\s*[\[{{\"'\d\\])(?:(?!,\\*[\"']|&\w+=)[^\s，。；、！？）】」』“”<>]){{3,}}"
"""A run without blanks, which ends before the next member of an object or form; no object or list."""
_VALUE: Final = rf"(?P<open>\\*[\"'`]|[“‘「『])?(?P<value>(?!\[redacted\])(?:{_CLOSED}|(?P<bare>{_BARE})))"
_NAME: Final = (
    r"(?:pass(?:word|wd|phrase|code)s?|pwd|(?:client|app|api|shared|webhook|signing)[ _-]?secret|secret[ _-]?"
    r"(?:access[ _-]?)?key|secret(?=\s*[=:：])"
    r"|(?:api|access|auth|private|encryption|licen[cs]e|account|service|ssh|root)[ _-]?key|(?:(?:access|auth|bearer"
    r"|refresh|session|bot|api|id)[ _-]?)?token"
    r"|credentials?|登录密码|密码|口令|密钥|令牌|私钥|验证码|授权码)"
)
_BEFORE_NAME: Final = r"(?<![a-z])(?:[a-z0-9]{1,30}[_.-]){0,6}"
_PROSE_LINK: Final = (
    r"(?:\s+(?:for|of|on|to|at|in)\s+[\w .'’@/-]{1,40}?)?\s*(?:(?:\b(?:is|was|got|has been)\s+)?\b(?:changed|set"
    r"|reset|updated|equal)\s+to\b|\bis\b|\bwas\b|['’]s\b(?=\s)|=>|->|是|为|改成了?|换成了?|改为|设成了?|设为)"
    r"(?:\s+(?:now|still|just))?\s*[:：]?\s*"
)
_STATES_WORDS: Final = (
    "a all also an and any as at available been blank by changed compromised correct customary different "
    "empty encrypted expired fine for from gone good hashed here hidden i if in incorrect invalid it just "
    "kept leaked long lost mandatory missing my needed never new no none not now null off ok okay old on "
    "only optional our out private public required reset revoked right rotated safe same secret secure "
    "set shared short still stored strong that the their there this to too true false undefined unchanged "
    "unknown unset up valid very weak what where with wrong yes your yours"
)
_STATES: Final = frozenset(_STATES_WORDS.split())
_SENTENCE_WORDS: Final = "a an and are at be but can for from has have in is it its must no not of on or please should that the this to was will with you"
_SENTENCE: Final = frozenset(_SENTENCE_WORDS.split())
"""A quoted text with one of these in it says something of a secret; passphrases do without."""
_HOLDER: Final = re.compile(r"^(?:\$\{?|\{\{|%\(|<|os\.|process\.|env\b|getenv|\*{3,}|x{4,}$|\.{3}|…|your[_-])", re.IGNORECASE)


def _loose_end(value: str) -> int:
    """Where the value ends before punctuation that belongs to the sentence."""
    return len(value.rstrip(f".,;:)}}{_QUOTE}]")) or len(value)


def _value_of(match: re.Match[str]) -> str:
    value = match["value"]
    return value if match["bare"] is None else value[: _loose_end(value)]


def _kept(match: re.Match[str], *, prose: bool) -> str | None:
    value = _value_of(match)
    if _HOLDER.match(value) or not _is_secret(value, match, prose=prose):
        return None
    start = match.start("value") - match.start()
    return match[0][:start] + REDACTED + match[0][start + len(value) :]


def _is_secret(value: str, match: re.Match[str], *, prose: bool) -> bool:
    word = value.lower().strip(_QUOTE)
    if word in _STATES or not value.isascii() or _is_sentence(word):
        return False
    name = match["name"].lower()
    if "token" in name and value.isdecimal():
        return False  # a count of tokens
    if not prose or match["open"] or re.search(r"\d", value) or _looks_random(value):
        return True
    ends_clause = re.match(
        r"\s*(?:$|[.,;!?\n，。；！？)]|(?:and|but|so|for|please|don['’]t)\b)", match.string[match.start("value") + len(value) :]
    )
    return (
        bool(ends_clause) and name.startswith(("pass", "pwd", "密码", "口令")) and not word.endswith(("ed", "ing", "able", "ly"))
    )


def _is_sentence(text: str) -> bool:
    words = text.split()
    return len(words) > 1 and not _SENTENCE.isdisjoint(words)


def _looks_random(value: str) -> bool:
    return bool(re.search(r"[^\w.,:;!?'’\-/()]|[a-z][A-Z]|_", value))


def _assigned(match: re.Match[str]) -> str | None:
    return _kept(match, prose=False)


def _said(match: re.Match[str]) -> str | None:
    return _kept(match, prose=True)


def _beside(match: re.Match[str]) -> str | None:
    value = _value_of(match)
    if len(value) < 6 or not (re.search(r"\d", value) and re.search(r"[A-Za-z]", value)):
        return None
    return _kept(match, prose=True)


def _whole(_: re.Match[str]) -> str:
    return REDACTED


def _value_only(match: re.Match[str]) -> str | None:
    if match["value"].startswith(REDACTED) or _HOLDER.match(match["value"]):
        return None
    start, end = (position - match.start() for position in match.span("value"))
    return match[0][:start] + REDACTED + match[0][end:]


def _listed(match: re.Match[str]) -> str:
    start = match.start("value") - match.start()
    return match[0][:start] + re.sub(r"(?<=\")[^\"\\,\]]{3,}", REDACTED, match["value"])


def _card(match: re.Match[str]) -> str | None:
    digits = re.sub(r"\D", "", match[0])
    known = re.match(r"4|5[1-5]|2(?:2[2-9]|[3-6]\d|7[01])|3[47]|6(?:011|5|2)|35", digits)
    return REDACTED if known and 13 <= len(digits) <= 19 and luhn(digits) else None


def luhn(digits: str) -> bool:
    """Whether the check digit of a card number is right (ISO/IEC 7812)."""
    doubled = [int(char) * (1 + index % 2) for index, char in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _random(match: re.Match[str]) -> str | None:
    """Long runs of mixed letters and digits; hex digests and identifiers made of words stay."""
    text = match[0]
    mixed = re.search(r"[a-z]", text) and re.search(r"[A-Z]", text) and len(re.findall(r"\d", text)) >= 3
    if not mixed or re.fullmatch(r"[0-9a-fA-F-]+", text) or re.search(r"[A-Za-z]{12}|/.*/.*/", text):
        return None
    counts = Counter(text)
    entropy = -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
    return REDACTED if entropy > 4.0 else None


_KEYS: Final = (
    r"sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA|AGPA|AROA)[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}"
    r"|lsv2_[a-z]{2}_[A-Za-z0-9_]{20,}"
    r"|dop_v1_[a-f0-9]{40,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{30,}|tok_[A-Za-z0-9_]{10,}|gsk_[A-Za-z0-9]{20,}"
    r"|r8_[A-Za-z0-9]{30,}|tvly-[A-Za-z0-9-]{20,}"
    r"|AGE-SECRET-KEY-[0-9A-Z]{20,}|\d{8,10}:AA[A-Za-z0-9_-]{30,}|key-[0-9a-f]{32}|LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{13,}"
)


def _rule(kind: str, pattern: str, replace: Replace, flags: re.RegexFlag = re.IGNORECASE) -> tuple[str, re.Pattern[str], Replace]:
    return kind, re.compile(pattern, flags), replace


_RULES: Final = (
    _rule(
        "private_key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        _whole,
        re.DOTALL,
    ),
    _rule(
        "token",
        r"\b(?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic|token|digest|negotiate|apikey)\s+)?(?P<value>(?!(?:bearer|basic|token|digest|negotiate|apikey)\b)[^\s\"',;，。]{3,})",
        _value_only,
    ),
    _rule("token", r"\bbearer\s+(?P<value>(?=[^\s]*[\d._-])[A-Za-z0-9._~+/=-]{8,}[A-Za-z0-9_=])", _value_only),
    _rule("jwt", r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{3,}(?:\.[A-Za-z0-9_-]*)?", _whole, re.NOFLAG),
    _rule("api_key", rf"(?<![A-Za-z0-9])(?:{_KEYS})(?![A-Za-z0-9])", _whole, re.NOFLAG),
    _rule("connection_string", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,80}:(?P<value>[^\s@/]{1,200})(?=@)", _value_only),
    _rule(
        "connection_string",
        r"\b(?:AccountKey|SharedAccessKey|Pwd|Password)=(?P<value>(?:(?!&\w+=)[^\s;\"']){3,})(?=;|\s|$|[\"'&])",
        _value_only,
    ),
    _rule("token", r"https://hooks\.slack\.com/services/(?P<value>[A-Za-z0-9/]{15,})", _value_only),
    _rule(
        "token",
        r"[?&](?:access_token|api_?key|auth|key|password|sig|signature|secret|token|x-amz-signature)=(?P<value>[^\s&#]{4,})",
        _value_only,
    ),
    _rule("token", r"\b(?:set-)?cookie:\s*(?P<value>[^\s][^\n]*)", _value_only),
    _rule("password", r"(?:(?<=\s)|^)(?:-u|--user)\s+[\w.@-]+:(?P<value>\S{3,})", _value_only),
    _rule("password", r"(?:(?<=\s)|^)--(?:password|passphrase|token|secret|api-key)[= ](?P<value>[^\s-]\S{2,})", _value_only),
    _rule(
        "password",
        rf"{_BEFORE_NAME}(?P<name>{_NAME})(?:[_-][a-z0-9]{{1,30}}){{0,4}}(?:\\*[\"'])?\s*(?:=(?![=>])|:(?!//)|：|:=)\s*{_VALUE}",
        _assigned,
    ),
    _rule("password", rf"{_NAME}(?:\\*[\"'])?\s*[:=]\s*(?P<value>\[(?:\s*\\*\"[^\"\]]{{3,}}\"\s*,?)+\s*\])", _listed),
    _rule("password", rf"<(?:[\w.-]{{1,30}}[:_.-])?(?P<name>{_NAME})>\s*{_VALUE}(?=\s*</)", _assigned),
    _rule("password", rf"(?P<name>{_NAME}){_PROSE_LINK}{_VALUE}", _said),
    _rule("password", rf"(?P<name>{_NAME})\s+{_VALUE}", _beside),
    _rule("pin", r"\b(?:pin(?:\s*(?:code|number|码))?|cvv2?|cvc)\s*(?:is|was|=|:|：|是|为)?\s*(?P<value>\d{3,8})\b", _value_only),
    _rule("card", r"(?<![\w.-])(?:\d[ -]?){12,18}\d(?![\w-])", _card),
    _rule("key", r"(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_-]{32,}={0,2}(?![A-Za-z0-9+/_=])", _random, re.NOFLAG),
)


_HINT: Final = re.compile(
    r"pass|pwd|secret|key|token|credential|authori|bearer|cookie|pin\b|pin\s*码|cv[vc]|密|口令|令牌|私钥|验证码"
    r"|授权码|:\S{0,80}@|[?&]\w+=|-u\s|--\w|[A-Za-z0-9+/_.:-]{14,}|\d[\d -]{11,}",
    re.IGNORECASE,
)
"""What every rule needs somewhere; most texts have none of it (5 times the speed)."""


class SecretRedactor:
    """Implements `ports.Redactor` by rules: formats of known keys, and values that a text itself calls secret.

    Commit ids, UUIDs, order numbers, ports and versions stay. Redacting a redacted text changes nothing.
    """

    def __call__(self, text: str, /) -> tuple[str, dict[str, int]]:
        """The text with each secret replaced by "[redacted]", and how many of each sort were taken out."""
        counts: Counter[str] = Counter()
        parts = [_without_secrets(part, counts) for part in text.split(REDACTED)]  # a mark that stands there is no value
        return REDACTED.join(parts), dict(counts)


def _without_secrets(text: str, counts: Counter[str]) -> str:
    if not _HINT.search(text):
        return text
    for kind, pattern, replace in _RULES:

        def put(match: re.Match[str], kind: str = kind, replace: Replace = replace) -> str:
            instead = replace(match)
            if instead is None:
                return match[0]
            counts[kind] += 1
            return instead

        text = pattern.sub(put, text)
    return text


def secrets_of(text: str, clean: str) -> tuple[str, ...]:
    """The literals that a redactor replaced in `text` to get `clean`, so that an echo of one can be recognised."""
    if REDACTED not in clean or text == clean:
        return ()
    pattern = "(.+?)".join(re.escape(part) for part in clean.split(REDACTED))
    match = re.fullmatch(pattern, text, re.DOTALL)
    return tuple(dict.fromkeys(secret for secret in match.groups() if secret != REDACTED)) if match else ()


def knowing(redactor: Redactor, secrets: Sequence[str]) -> Redactor:
    """A redactor that takes out these literals too, as "echo": to know them again, it need not see what they stood beside."""

    def redact(text: str, /) -> tuple[str, dict[str, int]]:
        return without_echoes(*redactor(text), secrets=secrets)

    return redact if secrets else redactor


def without_echoes(clean: str, counts: dict[str, int], *, secrets: Sequence[str]) -> tuple[str, dict[str, int]]:
    """A redacted text without these literals either, counted as "echo"."""
    scrubbed = scrub(clean, secrets)
    echoes = scrubbed.count(REDACTED) - clean.count(REDACTED)
    return scrubbed, counts | {"echo": echoes} if echoes else counts


def redact_json(value: JsonValue, redactor: Redactor, *, name: str = "") -> JsonValue:
    """A JSON value without the secrets in its texts, each read with the name that it stands under."""
    if isinstance(value, dict):
        return {key: redact_json(inner, redactor, name=key) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_json(inner, redactor, name=name) for inner in value]
    return redact_text(value, redactor, name=name) if isinstance(value, str) else value


def redact_text(text: str, redactor: Redactor, *, name: str) -> str:
    """A text without its secrets; where it is one word, it is read as "name: word", since the name tells what it is."""
    clean, head = redactor(text)[0], f"{name}: "
    told = redactor(head + clean)[0] if name and len(clean.split()) == 1 else ""
    return told.removeprefix(head) if told.startswith(head) else clean


def scrub(text: str, secrets: Sequence[str]) -> str:
    """The text with every literal among `secrets` redacted, longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 3:
            text = text.replace(secret, REDACTED)
    return text
