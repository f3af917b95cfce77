"""Names of parameters say what is passed, and the name of a class stands for one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ("polydl", "variants", "microkernels", "ranking", "fusion")
ROOMS = (*PACKAGE, "experiments", "tests")
SAY_NOTHING = {"found", "made", "own", "each"}
# One thing in two languages: what is drawn and what is generated, a framework's and another's, polydl's and a peer's.
IN_SEVERAL_LANGUAGES = {
    *("Access", "Assign", "Binary", "Call", "Declare", "Element", "If", "Loop", "Select", "Sum", "Variable"),
    *("Accuracy", "Node", "OptimizedModel", "Operator", "Report", "Translation"),
    *("Convolution", "MatrixProduct", "Writer"),
}
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


def test_the_name_of_a_class_stands_for_one_thing() -> None:
    files = [path for room in PACKAGE for path in sorted((ROOT / room).rglob("*.py"))]
    bodies = [ast.parse(path.read_text(encoding="utf-8")).body for path in files]
    classes = Counter(node.name for body in bodies for node in body if isinstance(node, ast.ClassDef))
    assert len(classes) > 500
    assert {name for name, count in classes.items() if count > 1 and not name.startswith("_")} == IN_SEVERAL_LANGUAGES
