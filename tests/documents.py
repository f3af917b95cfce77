"""The fenced blocks of the documents, so that what they show is what the tests run."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """``mark`` is what follows the language on the fence, such as ``file=one.c`` or ``run``."""

    language: str
    mark: str
    text: str
    line: int


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document, by its path from the root."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        Block(found[1], found[2].strip(), found[3], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def write_files(document: str, directory: Path) -> dict[str, Path]:
    """Write every block marked ``file=NAME``; the paths by name."""
    written = {}
    for block in blocks(document):
        if block.mark.startswith("file="):
            path = directory / block.mark.removeprefix("file=")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            written[block.mark.removeprefix("file=")] = path
    return written


def install(project: Path) -> None:
    """What ``pip install`` leaves beside a distribution's modules: its name and its entry points."""
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    directory = project / f"{settings['name'].replace('-', '_')}-{settings['version']}.dist-info"
    directory.mkdir()
    name, version = settings["name"], settings["version"]
    (directory / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, points in settings["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {target}" for point, target in points.items())]
    (directory / "entry_points.txt").write_text("\n".join(lines) + "\n")
