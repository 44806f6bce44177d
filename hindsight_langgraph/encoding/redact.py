"""Take secrets out of a text before anything stores, embeds, logs or sends it (SPEC, CASES O24)."""

from __future__ import annotations

import re
from typing import Final

REDACTED: Final = "[redacted]"
_PASSWORD = re.compile(r"((?:password|密码)\s*(?:is|=|:|是|：)\s*)\S+", re.IGNORECASE)


class SecretRedactor:
    """Implements `ports.Redactor` by rules; never raises, keeps the text around a secret."""

    def __call__(self, text: str, /) -> tuple[str, dict[str, int]]:
        """The text with each secret replaced by "[redacted]", and how many of each sort were taken out."""
        clean, count = _PASSWORD.subn(rf"\g<1>{REDACTED}", text)
        return clean, ({"password": count} if count else {})
