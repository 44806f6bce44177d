"""Which user a bearer token belongs to."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter, ValidationError

from hindsight_langgraph.errors import ConfigError

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

TOKEN_CHARS: Final = 16
"""The least of a bearer token."""


class Tokens:
    """Which user each bearer token belongs to; kept as digests and compared in constant time.

    Args:
        users: token by user id.

    Raises:
        ConfigError: a token is short, or two users share one.
    """

    def __init__(self, users: Mapping[str, str]) -> None:
        for user, token in users.items():
            if not user.strip() or len(token) < TOKEN_CHARS:
                raise ConfigError(
                    f"the token of user {user!r}: a user has a name, and a token of at least {TOKEN_CHARS} characters"
                )
        if not users or len(set(users.values())) < len(users):
            raise ConfigError("the MCP server over HTTP needs one token per user, and no two users may share one")
        self._users = {hashlib.sha256(token.encode()).digest(): user for user, token in users.items()}

    def user_of(self, token: str) -> str | None:
        """The user that a token belongs to, or None."""
        given = hashlib.sha256(token.encode()).digest()
        found = [user for digest, user in self._users.items() if hmac.compare_digest(digest, given)]
        return found[0] if found else None

    async def verify_token(self, token: str) -> AccessToken | None:
        """The SDK's `TokenVerifier`."""
        from mcp.server.auth.provider import AccessToken

        user = self.user_of(token)
        return None if user is None else AccessToken(token=token, client_id=user, scopes=[], subject=user)


def read_tokens(path: Path | None) -> Tokens:
    """The tokens of a JSON file, `{"alice": "a long secret"}`.

    Raises:
        ConfigError: there is no file, or it holds something else.
    """
    if path is None:
        raise ConfigError(
            "over HTTP every user needs a bearer token: pass --tokens FILE, or set HINDSIGHT_MCP_TOKENS to its path"
        )
    try:
        users: dict[str, str] = TypeAdapter(dict[str, str]).validate_json(path.read_bytes(), strict=True)
    except ValidationError as error:
        raise ConfigError(f'{path} is no JSON object of the form {{"alice": "a long secret"}}') from error
    return Tokens(users)
