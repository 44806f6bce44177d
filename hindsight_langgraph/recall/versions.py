"""Numbered versions of what a deployment learnt, in one directory; a file names the one in use, so that going back is a switch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CURRENT: Final = "current"


@dataclass(frozen=True, kw_only=True, slots=True)
class Versions:
    """The files `{stem}-{number}{suffix}` of a directory."""

    directory: Path
    stem: str
    suffix: str

    @property
    def numbers(self) -> list[int]:
        """Every version there is, oldest first."""
        found = self.directory.glob(f"{self.stem}-*{self.suffix}")
        return sorted(int(number) for path in found if (number := path.stem.removeprefix(f"{self.stem}-")).isdigit())

    @property
    def current(self) -> int | None:
        """The version in use, None for none."""
        try:
            return int((self.directory / _CURRENT).read_text())
        except (OSError, ValueError):
            return None

    def path(self, number: int) -> Path:
        """Where a version lies."""
        return self.directory / f"{self.stem}-{number}{self.suffix}"

    def next(self) -> int:
        """The number of the next version."""
        return (self.numbers or [0])[-1] + 1

    def use(self, number: int | None) -> None:
        """Switch to a version, or to none."""
        if not self.directory.exists():
            return
        partial = self.directory / f"{_CURRENT}.partial"
        partial.write_text("" if number is None else str(number))
        partial.replace(self.directory / _CURRENT)

    def back(self) -> int | None:
        """Switch to the version before the one in use, or to none. Returns which is in use now."""
        current = self.current
        earlier = [number for number in self.numbers if current is not None and number < current]
        self.use(earlier[-1] if earlier else None)
        return self.current
