"""The rankers that a deployment learnt from its own outcomes, one for each task domain (SPEC E6, A10).

A version is a file that names a ranker for each domain; one that a training left alone is taken over from the version before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from hindsight_langgraph.errors import ConfigError, StoreCorrupt
from hindsight_langgraph.recall.ranker import RANKER_VERSION, Ranker, read_ranker
from hindsight_langgraph.recall.trees import TreeEnsemble
from hindsight_langgraph.recall.versions import Versions
from hindsight_langgraph.records import Record

NO_DOMAIN = ""
"""Stands for tasks of no named domain."""


class _Version(Record):
    """One version as it is stored."""

    features: int
    """`RANKER_VERSION` of the rankers' features; one of other features is not used."""
    files: Mapping[str, str]
    """By domain, the file of its ranker."""


class RankerShelf(Versions):
    """The rankers of one deployment."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory, stem="rankers", suffix=".json")

    def load(self) -> dict[str, Ranker]:
        """The rankers in use, by domain.

        Raises:
            ConfigError: they cannot be read.
        """
        try:
            return {domain: read_ranker(self.directory / file) for domain, file in self._files().items()}
        except (StoreCorrupt, OSError) as error:
            raise ConfigError(f"the rankers in {self.directory} cannot be read: {error}; run `hindsight train --back`") from error

    def add(self, trees: Mapping[str, TreeEnsemble], *, version: int | None = None) -> int:
        """Store rankers by domain beside those in use, and use them. Returns the version, the next one unless another is given."""
        number = version or self.next()
        self.directory.mkdir(parents=True, exist_ok=True)
        files = dict(self._files())
        for place, (domain, ensemble) in enumerate(sorted(trees.items())):
            files[domain] = f"trees-{number}-{place}.npz"
            ensemble.save(self.directory / files[domain], version=RANKER_VERSION)
        told = _Version(features=RANKER_VERSION, files=files)
        self.path(number).write_text(told.model_dump_json(), encoding="utf-8")
        self.use(number)
        return number

    def _files(self) -> Mapping[str, str]:
        if self.current is None:
            return {}
        path = self.path(self.current)
        try:
            version = _Version.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValidationError) as error:
            raise ConfigError(f"{path} cannot be read: {error}; run `hindsight train --back`") from error
        return version.files if version.features == RANKER_VERSION else {}
