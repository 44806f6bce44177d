"""Read triples off English sentences by their verb (SPEC A7). Chinese: `triples_zh`.

Only what a pattern reads without doubt becomes a triple; everything else stays a statement in words.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from hindsight_langgraph.encoding.attributes import MULTI_VALUED, USER, slug
from hindsight_langgraph.records import Triple

_RELATIVES: Final = (
    "wife|husband|partner|girlfriend|boyfriend|son|daughter|child|brother|sister|mother|father|mum|mom|dad|aunt|uncle|cousin|"
    "grandmother|grandfather|grandma|grandpa|niece|nephew|friend|flatmate|roommate|housemate|neighbou?r|colleague|coworker|boss|"
    "manager|teacher|doctor|landlord|dog|cat|team|company|editor|client"
)


class _Verb(NamedTuple):
    pattern: str
    """The verb in the present, any person."""
    attribute: str
    opposite: bool = False


_VERBS: Final = (
    _Verb(r"(?:live|lives|am living|is living|'m living|'s living|am based|'m based|is based|reside|resides) in", "lives_in"),
    _Verb(r"(?:moved|have moved|'ve moved|has moved|relocated|am moving|'m moving|is moving) to", "lives_in"),
    _Verb(r"(?:work|works|am working|'m working|is working) (?:at|for)", "works_at"),
    _Verb(r"(?:work|works) as (?:an? )?", "occupation"),
    _Verb(r"(?:plays?|am playing|'m playing)", "plays"),
    _Verb(r"speaks?", "speaks"),
    _Verb(r"(?:likes?|loves?|enjoys?|adores?|prefers?|am fond of|'m fond of|is fond of|am into|'m into|is into)", "likes"),
    _Verb(r"(?:hates?|dislikes?|loathes?|detests?|can't stand|cannot stand|can't bear|cannot bear)", "likes", opposite=True),
    _Verb(r"(?:am|'m|is|'s) allergic to", "allergic_to"),
    _Verb(r"(?:am|'m|is|'s) (?:no longer|not) allergic to", "allergic_to", opposite=True),
    _Verb(r"(?:uses?|am using|'m using|is using)", "uses"),
    _Verb(r"drinks?", "drinks"),
    _Verb(r"eats?", "eats"),
    _Verb(r"drives?", "drives"),
    _Verb(r"(?:study|studies|(?:am|'m|is|'s) (?:studying|learning))", "studies"),
    _Verb(r"(?:owns?|keeps?(?= (?:bees|chickens|hens|goats|sheep|horses|cats|dogs|rabbits|ducks)))", "has"),
    _Verb(r"(?:am|'m|is|'s) (?:called|named)", "name"),
    _Verb(r"(?:go|goes) by", "name"),
)
_ADVERBS: Final = r"(?:(?:really|also|still|just|now|always|usually|mostly|currently|absolutely|actually|do|does|both|only|simply|kind of|quite) )*"
_NEGATION: Final = r"(?P<no>(?:do not|don't|does not|doesn't|did not|didn't|no longer|never|am not|'m not|is not|isn't|used to|stopped|quit|have stopped|'ve stopped) )?"
_SUBJECT: Final = (
    rf"(?:(?P<i>\b[Ii]|\b[Ww]e)(?= |')|\b[Mm]y (?P<rel>(?:\w+[- ])?(?:{_RELATIVES}))(?:,? (?P<who>[A-Z][\w-]+),?)?|"
    r"(?P<name>\b[A-Z][\w-]+(?: [A-Z][\w-]+){0,2}))"
)
_OBJECT_END: Final = re.compile(
    r"\s*(?:[;!?()]|[,.:](?!\w)|\s[–—-]\s|\b(?:because|since|but|so|and (?:i|we|my|he|she|they|it|the)|when|if|while|although|though|which|that's|"
    r"(?:last|this|next) (?:week|month|year|spring|summer|autumn|fall|winter|\w+day)|yesterday|today|tonight|now|any ?more|these days|too|"
    r"as well|as (?:my|our|the|an?)|instead|again|at the moment|right now|a lot|very much|most of all|every (?:day|week|month|year|morning|afternoon|evening|night|\w+day)|(?:on|in) \w+days?|"
    r"(?:since|until|for) \w+)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_MEASURE: Final = re.compile(
    r"^(?:(?:\d+|one|two|three|four|five|six|a few|several|a lot of|lots of|plenty of|too much|a couple of)\s+)?"
    r"(?:(?:cups?|glass(?:es)?|bottles?|pints?|mugs?|cans?) of\s+)?(?=[^\W\d])",
    re.IGNORECASE,
)
"""How much is drunk or eaten: "two cups of coffee" and "coffee" are one value."""
_CONSUMED: Final = frozenset({"drinks", "eats"})
_ARTICLE: Final = re.compile(r"^(?:the|an?|some|my|our|his|her|their|to|in|at)\s+", re.IGNORECASE)
_SENTENCES: Final = tuple(
    (
        re.compile(
            rf"{_SUBJECT}(?: |(?='))(?:{_ADVERBS}{_NEGATION}{_ADVERBS})(?:{verb.pattern})\s+(?P<object>\S.{{0,80}})", re.DOTALL
        ),
        verb,
    )
    for verb in _VERBS
)
_STOPPED: Final = re.compile(
    r"\b(?P<i>[Ii])(?: have|'ve)? (?:stopped|quit|given up|gave up) (?P<verb>using|drinking|eating|playing|driving|studying) (?P<object>\S.{0,60})"
)
_GERUNDS: Final = {
    "using": "uses",
    "drinking": "drinks",
    "eating": "eats",
    "playing": "plays",
    "driving": "drives",
    "studying": "studies",
}
_BEING: Final = re.compile(
    rf"{_SUBJECT}(?: |(?=')){_ADVERBS}(?:am|'m|is|'s|are|'re) (?P<no>no longer |not )?(?:an? )?"
    r"(?:(?:big|huge|heavy|keen|avid|happy|long-?time|lifelong|die-hard|devoted|serious|total|real|passionate) )*"
    r"(?P<object>(?!(?:an?|the|end|power|new|first|regular|active|team|key|native|public|motivational)\b)[\w.+#-]+(?: [\w.+#-]+)?) (?P<as>user|drinker|eater|player|fan|lover)\b(?! of\b)"
)
_BEINGS: Final = {"user": "uses", "drinker": "drinks", "eater": "eats", "player": "plays", "fan": "likes", "lover": "likes"}
"""What someone does who is called so: "a Vim user" uses Vim."""
_OWN: Final = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?P<attribute>(?:[a-z][\w-]* ){0,2}[a-z][\w-]*) (?P<no>is not|isn't)?(?(no)|(?:is|are|ends in|starts at)) (?:now )?(?P<object>\S.{0,60})"
)
_CALL_ME: Final = re.compile(
    r"\b[Cc]all me (?!Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)(?P<object>[A-Z][\w-]+)(?=\s*(?:[,.;!]|$|not |instead|please))"
)
_THEIRS: Final = re.compile(
    rf"\b[Mm]y (?P<subject>(?:{_RELATIVES}))(?: [A-Z][\w-]+)?'s (?P<attribute>(?:[a-z][\w-]* ){{0,2}}[a-z][\w-]*) "
    r"(?P<no>is not|isn't)?(?(no)|(?:is|are)) (?:now )?(?P<object>\S.{0,60})"
)
_OF: Final = re.compile(
    r"\b(?:[Tt]he )?(?P<subject>[A-Z][\w-]*(?: [A-Z][\w-]*){0,2})(?:'s|’s) (?P<attribute>(?:[a-z][\w-]* ){0,2}[a-z][\w-]*) "
    r"(?P<no>is not|isn't)?(?(no)|(?:is|are)) (?:now )?(?P<object>\S.{0,60})"
)
_NO_SUBJECTS: Final = frozenset({"It", "This", "That", "There", "He", "She", "They", "You", "What", "Who", "If", "When", "And", "But", "So", "The", "Please", "Also", "Then", "Let", "Everyone", "Nobody", "Somebody", "Now"})  # fmt: skip
_POINTERS: Final = frozenset(
    {"it", "that", "this", "them", "those", "these", "him", "her", "you", "me", "us", "one", "what", "how", "to"}
)
"""Values that say nothing without the sentence before."""
_NO_ATTRIBUTES: Final = frozenset({"point", "guess", "bad", "idea", "question", "problem", "turn", "fault", "pleasure"})


def english_triples(sentence: str) -> list[Triple]:
    """Triples of one English sentence, in the order of the patterns; third parties keep their own name as subject."""
    text = sentence.replace("’", "'")
    found: list[Triple] = []
    for pattern, verb in _SENTENCES:
        for match in pattern.finditer(text):
            subject = _subject(match)
            value = _value(match["object"], consumed=verb.attribute in _CONSUMED)
            ended = match["no"] is not None
            if not subject or not value or (ended and verb.opposite):  # "don't dislike" says neither
                continue
            found.append(_triple(subject, verb.attribute, value, negated=ended or verb.opposite))
    found.extend(
        _triple(USER, _GERUNDS[match["verb"]], value, negated=True)
        for match in _STOPPED.finditer(text)
        if (value := _value(match["object"]))
    )
    found.extend(
        _triple(subject, _BEINGS[match["as"]], value, negated=match["no"] is not None)
        for match in _BEING.finditer(text)
        if (subject := _subject(match)) and (value := _value(match["object"]))
    )
    found.extend(_triple(USER, "name", match["object"], negated=False) for match in _CALL_ME.finditer(text))
    return _distinct([*found, *_copulas(text)])


def _copulas(text: str) -> list[Triple]:
    found: list[Triple] = []
    for pattern in (_OWN, _THEIRS, _OF):
        for match in pattern.finditer(text):
            attribute = slug(match["attribute"])
            head = match["attribute"].split()[-1]
            value = _value(match["object"])
            if value and head not in _NO_ATTRIBUTES and not re.fullmatch(_RELATIVES, match["attribute"]):
                subject = USER if pattern is _OWN else match["subject"]
                found.append(_triple(subject, attribute, value, negated=match["no"] is not None))
    return found


def _triple(subject: str, attribute: str, value: str, *, negated: bool) -> Triple:
    return Triple(subject=subject, attribute=attribute, value=value, negated=negated, multi_valued=attribute in MULTI_VALUED)


def _subject(match: re.Match[str]) -> str:
    if match["i"]:
        return USER
    if match["rel"]:
        return match["who"] or match["rel"].split()[-1]
    name = match["name"] or ""
    return "" if name.split()[0] in _NO_SUBJECTS else name


def _value(text: str, *, consumed: bool = False) -> str:
    """What the verb governs, up to the end of its clause; "" when that is nothing or too long to be one value."""
    value = text
    while (end := _OBJECT_END.search(value)) is not None and end.start() < len(value):
        value = value[: end.start()]
    value = value.strip().strip("\"'“”")
    value = _ARTICLE.sub("", _MEASURE.sub("", value) if consumed else value)
    words = value.split()
    return value if 0 < len(words) <= 7 and words[0].lower() not in _POINTERS else ""


def _distinct(triples: list[Triple]) -> list[Triple]:
    return list({(t.subject, t.attribute, t.value.casefold(), t.negated): t for t in triples}.values())
