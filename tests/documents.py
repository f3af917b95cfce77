"""The fenced blocks of the documents, so that what they show is what the tests run."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    #: What stands on the fence, as in ``sh`` or ``python``.
    language: str
    #: What follows the language on the fence: ``run``, ``session``, ``same`` or ``file=one.c``.
    mark: str
    text: str
    #: The line of the fence, from 1.
    line: int


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document, by its path from the root."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        Block(fence[1], fence[2].strip(), fence[3], text.count("\n", 0, fence.start()) + 1)
        for fence in _FENCE.finditer(text)
    ]


def with_output(document: str) -> Iterator[tuple[Block, Block]]:
    """Each block to run that is followed by its exact output: a block marked ``same``."""
    for block, following in pairwise(blocks(document)):
        if following.mark == "same":
            yield block, following


def write_output(document: str, outputs: Mapping[int, str]) -> None:
    """Put other text into blocks of a document, by the line of their fence."""
    path = ROOT / document
    text = path.read_text(encoding="utf-8")

    def replaced(fence: re.Match[str]) -> str:
        line = text.count("\n", 0, fence.start()) + 1
        if line not in outputs:
            return fence[0]
        return f"```{fence[1]} {fence[2]}\n{outputs[line]}```"

    path.write_text(_FENCE.sub(replaced, text), encoding="utf-8")


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
