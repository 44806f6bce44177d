"""What every benchmark takes and gives: `--data DIR`, `--json`, one object of figures."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("../shared"), help="directory that holds gold/ and data/")
    options.add_argument("--json", action="store_true", help="end with one line that is one JSON object")
    return options


def gold_of(data: Path) -> Path:
    """Where the labelled corpora are: `DIR/gold`, or `DIR` itself."""
    return data / "gold" if (data / "gold").is_dir() else data


def sets_of(data: Path) -> Path:
    """Where the public sets are: `DIR/data`, or `DIR` itself."""
    return data / "data" if (data / "data").is_dir() else data


def tell(figures: Any, *, as_json: bool) -> None:
    """Print figures for people, and once more in one line for programs."""
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
