"""Names of parameters say what is passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("polydl", "variants", "microkernels", "ranking", "fusion", "experiments", "tests")
SAY_NOTHING = {"found", "made", "own", "each"}


def parameters(path: Path) -> Iterator[ast.arg]:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return (node for node in ast.walk(tree) if isinstance(node, ast.arg))


def test_names_of_parameters_say_what_is_passed() -> None:
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    assert len(files) > 200
    nothing = [
        f"{path.relative_to(ROOT)}:{parameter.lineno}: {parameter.arg}"
        for path in files
        for parameter in parameters(path)
        if parameter.arg in SAY_NOTHING
    ]
    assert not nothing
