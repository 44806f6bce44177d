"""Secrets leave a text; everything else stays."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.redact import REDACTED, SecretRedactor, scrub, secrets_of

redact = SecretRedactor()

GITHUB = "ghp_" + "Ab1" * 12
OPENAI = "sk-proj-" + "Zx9" * 12
AWS = "AKIA" + "Q7ZX" * 4
SLACK = "xoxb-" + "1234567890-" * 2 + "AbCdEf"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhYmMifQ.c2lnbmF0dXJl"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + "abc1" * 9 + "\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    (
        "Remember: the staging db password is Pl4ce-holder!77 and the token is tok_test_0000FAKE1111.",
        ["Pl4ce-holder!77", "tok_test_0000FAKE1111"],
    ),
    ("Authorization: Bearer FAKEFAKE.e30.sig", ["FAKEFAKE.e30.sig"]),
    ('{"Authorization": "Basic dXNlcjpwYXNz"}', ["dXNlcjpwYXNz"]),
    ("curl -H 'authorization: token 9f8e7d6c5b'", ["9f8e7d6c5b"]),
    ("the wifi password is swordfish", ["swordfish"]),
    ("My password for the NAS is hunter2, keep it.", ["hunter2"]),
    ("password: Tr0ub4dor&3", ["Tr0ub4dor&3"]),
    ("PASSWORD=correcthorse", ["correcthorse"]),
    ("the password was changed to Vq7-lamp", ["Vq7-lamp"]),
    ("the passphrase is “open-sesame9” ", ["open-sesame9"]),
    ("db_password = 'x9!kk'", ["x9!kk"]),
    ("api_key=abcd1234efgh", ["abcd1234efgh"]),
    ('"apiKey": "q1w2e3r4t5"', ["q1w2e3r4t5"]),
    ("export STRIPE_SECRET_KEY=sk_live_abcdefghij12", ["sk_live_abcdefghij12"]),
    ("our client secret is 8Q~kk_1-aa", ["8Q~kk_1-aa"]),
    (f"use {GITHUB} for the bot", [GITHUB]),
    (f"key {OPENAI}", [OPENAI]),
    (f"{AWS} is the access id", [AWS]),
    (f"slack {SLACK}", [SLACK]),
    (f"session {JWT} expired", [JWT]),
    (f"here:\n{PEM}\nthanks", ["MIIEow"]),
    ("postgres://app:hunter22@db.local:5432/shop", ["hunter22"]),
    ("redis://:s3cr3t@10.0.0.5:6379/0", ["s3cr3t"]),
    ("Server=tcp:x;User=sa;Password=Yy6!kk;Encrypt=1", ["Yy6!kk"]),
    ("https://example.org/cb?access_token=abc123def&x=1", ["abc123def"]),
    ("Cookie: session=abcdef123; theme=dark", ["abcdef123"]),
    ("mysql --password S3cret9 -h db", ["S3cret9"]),
    ("curl -u admin:tops3cret https://x.test", ["tops3cret"]),
    ("login admin password hunter22", ["hunter22"]),
    ("my card is 4111 1111 1111 1111, exp 12/29", ["4111 1111 1111 1111"]),
    ("card 5555-5555-5555-4444", ["5555-5555-5555-4444"]),
    ("378282246310005", ["378282246310005"]),
    ("the PIN is 4471", ["4471"]),
    ("密码是 Tuna#4471，别外传", ["Tuna#4471"]),
    ("密码是Tuna4471", ["Tuna4471"]),
    ("数据库密码：abcDEF99", ["abcDEF99"]),
    ("wifi 密码改成了 moon-2288", ["moon-2288"]),
    ("令牌为 9a8b7c6d5e", ["9a8b7c6d5e"]),
    ("验证码是 884213", ["884213"]),
    ("secret key wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzKEY12", ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzKEY12"]),
    ("it is Zk9vQ2pLx8RmT4bWn7Yc3HsJ6dFg1aUe", ["Zk9vQ2pLx8RmT4bWn7Yc3HsJ6dFg1aUe"]),
    ("api key is q8w7e6r5t4", ["q8w7e6r5t4"]),
    ("the token's abc-123-def", ["abc-123-def"]),
    ('password: "correct horse battery staple"', ["correct horse battery staple"]),
    ("the passphrase is “open sesame nine”.", ["open sesame nine"]),
    ("<db:password>hunter2</db:password>", ["hunter2"]),
    ('{"密码":"abcDEF99","用户":"李"}', ["abcDEF99"]),
]


@pytest.mark.parametrize(("text", "literals"), SECRETS)
def test_a_secret_leaves_the_text_and_is_counted(text: str, literals: list[str]) -> None:
    clean, counts = redact(text)
    assert not any(literal in clean for literal in literals)
    assert REDACTED in clean
    assert sum(counts.values()) >= len(literals)


HARMLESS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "order 4417 and 8410, port 5432, version 1.31.2",
    "order number 4111111111111112",
    "A1032 is tea, A1023 is cups",
    "the password is stored in the vault",
    "The token is expired, get a new one.",
    "my password is wrong again",
    "password is required",
    "max_tokens=800 and a token budget of 500",
    "token: 2000",
    "my secret is that I like ketchup",
    "Password reset works now.",
    "the api key is missing",
    "password: ${DB_PASSWORD}",
    "API_KEY=<your key>",
    "api_key = os.environ['KEY']",
    "密码是多少？",
    "密码是错的",
    "他忘了密码",
    "the spare root key for shed is taped under the printer",
    "a bearer of bad news",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "see https://example.org/a/b/c?page=2&sort=asc",
    "test_a_forgotten_fact_is_never_recalled_in_2025",
    "call me on +44 20 7946 0958",
    "192.0.2.40 and 2001:db8::1",
    "The pin is bent.",
    "key: value",
    "I use Vim and pytest. 我喜欢茉莉毛尖。",
    "EXP-12 的学习率 1e-4",
    "The meeting at 10:30 is about tokens and secrets.",
    '{"password": "must be at least 8 characters"}',
    '{"password": "", "user": "bob"}',
    '{"password":null,"user":"bob"}',
    '{"token_count":"1234"}',
    'he said the password is "not what you think it is".',
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_survives(text: str) -> None:
    assert redact(text) == (text, {})


def test_the_useful_part_stays() -> None:
    clean, counts = redact("the staging db password is Pl4ce-holder!77, ask Ines")
    assert clean == "the staging db password is [redacted], ask Ines"
    assert counts == {"password": 1}


SECRET_VALUES = st.text("aZ9#-_!.'\\\"{}[],:", min_size=4, max_size=12).map(lambda tail: f"x7{tail}Q")


@given(
    secret=SECRET_VALUES,
    name=st.sampled_from(["password", "db_password", "apiKey", "密码", "client_secret"]),
    compact=st.booleans(),
    deep=st.integers(0, 2),
    within=st.booleans(),
)
def test_json_stays_json_without_its_secret(secret: str, name: str, compact: bool, deep: int, within: bool) -> None:
    separators = (",", ":") if compact else None

    def dumped(value: str) -> str:
        told: object = {"user": "bob", name: value, "rows": [1, 2], "note": "kept as it is"}
        for _ in range(deep):
            told = {"data": [told]}
        text = json.dumps(told, separators=separators, ensure_ascii=False)
        return json.dumps({"body": text}, ensure_ascii=False) if within else text

    assert redact(dumped(secret)) == (dumped(REDACTED), {"password": 1})


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('{"password": "hunter2"}', '{"password": "[redacted]"}'),
        ("{'token': 'abc123', 'n': 1}", "{'token': '[redacted]', 'n': 1}"),
        ("{password: hunter2}", "{password: [redacted]}"),
        ("user=bob&password=hunter2&page=2", "user=bob&password=[redacted]&page=2"),
        ('export PASSWORD="hunter2"; ls', 'export PASSWORD="[redacted]"; ls'),
        ('{"password": ["hunter2", "swordfish1"]}', '{"password": ["[redacted]", "[redacted]"]}'),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, clean: str) -> None:
    assert redact(text)[0] == clean


@pytest.mark.parametrize("text", [case[0] for case in SECRETS])
def test_redacting_twice_changes_nothing(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, {})


def test_an_echo_of_a_secret_is_scrubbed() -> None:
    text = "the password is Pl4ce-holder!77 and the pin is 4471"
    secrets = secrets_of(text, redact(text)[0])
    assert secrets == ("Pl4ce-holder!77", "4471")
    assert scrub("(db, password, Pl4ce-holder!77)", secrets) == "(db, password, [redacted])"


def test_a_text_without_secrets_has_none() -> None:
    assert secrets_of("hello", "hello") == ()


@given(st.text(max_size=200))
def test_any_text_is_redacted_without_error(text: str) -> None:
    clean, counts = redact(text)
    assert counts or clean == text
