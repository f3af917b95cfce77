"""Names of parameters say what is passed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("polydl", "variants", "microkernels", "ranking", "fusion", "experiments", "tests")
SAY_NOTHING = {"found", "made", "own", "each"}
# What such a parameter looks like, and some expressions: most files have neither, and need not be parsed.
_LIKE_ONE = re.compile(rf"(?:[(,*]|\blambda\b|^)\s*(?:{'|'.join(SAY_NOTHING)})(?:\s*[:,)]|=)", re.MULTILINE)


def parameters(path: Path) -> Iterator[ast.arg]:
    text = path.read_text(encoding="utf-8")
    if _LIKE_ONE.search(text) is None:
        return iter(())
    return (node for node in ast.walk(ast.parse(text, filename=str(path))) if isinstance(node, ast.arg))


def test_parameters_are_seen_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    text = "def f(found, *made: int, x=1,\n  # a comment\n  own: int = 2, **each): pass\ng = lambda each: each\n"
    path.write_text(text)
    assert [node.arg for node in parameters(path)].count("each") == 2
    for line in (
        "def f(own): pass",
        "def f(*,\n  made=3): pass",
        "f = lambda each: 1",
        "def f(\n  # why\n  found: int): pass",
    ):
        path.write_text(line)
        assert len(list(parameters(path))) == 1, line
    path.write_text("found = 1")
    assert list(parameters(path)) == []


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
