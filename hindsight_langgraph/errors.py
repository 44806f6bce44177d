"""Every error that the library raises, by what the caller can do about it.

```
HindsightError
├── CallError                 fix the call
│   ├── MissingUser           no user id, or a blank one
│   ├── MissingExtra          an optional package is not installed
│   ├── ConfigError           a setting is wrong
│   └── StoreClosed           used after close()
├── StoreError
│   ├── StoreUnavailable      try again later: down, slow or refused
│   ├── StoreAuthError        fix the credentials
│   ├── StoreLocked           another process holds the embedded store
│   ├── StoreRejected         the store refused this request; the request is wrong
│   ├── StoreCorrupt          stored data cannot be read
│   └── EmbeddingMismatch     the store holds vectors of another model: re-embed
├── ModelError
│   ├── ModelUnavailable      try again later
│   └── ModelAnswerInvalid    the model's answer could not be used
└── Conflict                  someone else changed it in between: read again and retry
```
"""

from __future__ import annotations


class HindsightError(Exception):
    """Root of all errors of this library."""


class CallError(HindsightError):
    """The call is wrong; it fails the same way until it is changed."""


class MissingUser(CallError):
    """No user id was given. The memory has no shared bucket to fall back to."""


class MissingExtra(CallError):
    """An optional package is needed and not installed; the message holds the install command."""


class ConfigError(CallError):
    """A setting is missing, out of range or contradicts another."""


class StoreClosed(CallError):
    """The memory or store was used after it was closed."""


class StoreError(HindsightError):
    """A store could not do what was asked. Nothing of the request is to be assumed done."""


class StoreUnavailable(StoreError):
    """The store is down, too slow, or refuses connections. The same request may succeed later."""


class StoreAuthError(StoreError):
    """The store refused the credentials."""


class StoreLocked(StoreError):
    """Another process holds the embedded store."""


class StoreRejected(StoreError):
    """The store refused the request itself, for example a vector of the wrong length."""


class StoreCorrupt(StoreError):
    """Stored bytes could not be read back."""


class EmbeddingMismatch(StoreError):
    """The store holds vectors of another embedding model or dimension (SPEC A11)."""


class ModelError(HindsightError):
    """An embedding or chat model failed."""


class ModelUnavailable(ModelError):
    """The model is down, over quota or too slow. The same request may succeed later."""


class ModelAnswerInvalid(ModelError):
    """The model answered, but not in a form that can be used."""


class Conflict(HindsightError):
    """The record changed between read and write: read again and retry."""
