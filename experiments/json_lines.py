"""Raw data with a JSON document in each line, which measurements are added to one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def documents(path: Path) -> list[dict[str, Any]]:
    """Those of a file, in its order; none where there is no file yet."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def add(document: dict[str, Any], path: Path) -> None:
    """Add a line to a file, which is made where there is none."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(document, separators=(",", ":")) + "\n")
