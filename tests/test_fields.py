"""Fields of dataclasses are documented where they stand, not in the docstring of their class.

Numbers and truth values of classes that several files use say what they count, their unit, or when they hold.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ("polydl", "variants", "microkernels", "ranking", "fusion")
ROOMS = (*PACKAGE, "experiments")
_MAY_HAVE_FIELDS = re.compile(r"\bdataclass\b|\bStruct\b")
_NUMBER = re.compile(r"\b(?:int|float|bool)\b")
_COMMENT = re.compile(r"\s*#: *\S")


def has_fields(node: ast.ClassDef) -> bool:
    """Whether it is a dataclass or a msgspec.Struct."""
    makers = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return any(_last_name(each) == "dataclass" for each in makers) or any(_last_name(b) == "Struct" for b in node.bases)


def _last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def field_nodes(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            annotation = line.annotation.value if isinstance(line.annotation, ast.Subscript) else line.annotation
            if _last_name(annotation) != "ClassVar":
                yield line.target.id, line


def is_named(name: str, docstring: str) -> bool:
    """Whether a docstring has a field's name in double backquotes, or as a word that is no English one."""
    return f"``{name}``" in docstring or ("_" in name[1:-1] and re.search(rf"\b{name}\b", docstring) is not None)


def described_type(node: ast.expr) -> bool:
    """Whether it is ``Annotated[…, "text", …]``: the text is the field's, in JSON schemas, too."""
    if not isinstance(node, ast.Subscript) or _last_name(node.value) != "Annotated":
        return False
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    return any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in arguments[1:])


def described_types(tree: ast.Module) -> set[str]:
    """Names of a module for such types."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and described_type(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def is_documented(field: ast.AnnAssign, lines: list[str], types: set[str]) -> bool:
    """Whether a comment with ``#:`` is right above it or behind it, or its type describes it."""
    behind = lines[field.end_lineno - 1].encode()[field.end_col_offset :].decode() if field.end_lineno else ""
    comments = (lines[field.lineno - 2], behind)
    if any(_COMMENT.match(each) for each in comments):
        return True
    annotation = field.annotation
    return described_type(annotation) or (isinstance(annotation, ast.Name) and annotation.id in types)


def bare_fields(text: str, types: set[str]) -> Iterator[tuple[int, str]]:
    """Line and name of each field of a file that the docstring of its class names, and nothing documents in place."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and has_fields(node):
            docstring = ast.get_docstring(node) or ""
            for name, field in field_nodes(node):
                if is_named(name, docstring) and not is_documented(field, lines, types):
                    yield field.lineno, f"{node.name}.{name}"


def bare_numbers(text: str, types: set[str], used: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Line and name of each public field with numbers of a class that is ``used``, if nothing documents it in place."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and has_fields(node) and used(node.name):
            for name, field in field_nodes(node):
                if name.startswith("_") or not _NUMBER.search(ast.unparse(field.annotation)):
                    continue
                if not is_documented(field, lines, types):
                    yield field.lineno, f"{node.name}.{name}"


def test_fields_are_seen_in_dataclasses_and_structs_alone() -> None:
    text = '''
@dataclasses.dataclass(frozen=True)
class One:
    """Lines of ``length`` between ``first`` and ``last``, of so many ``points`` in ``a.width`` and element_bytes.

    ``depth`` and ``wéight`` are others.
    """

    kind: ClassVar[str] = "last"
    length: int
    # about length
    first: int
    #: where it ends
    last: int
    points: Annotated[tuple[int, ...], "all"] = ()
    width: int = 0
    element_bytes: int = 4
    depth: Count = 0
    wéight: str = "ü#: "  #: in tonnes


class Plain:
    """No dataclass, whatever its ``length``."""

    length: int


class Two(msgspec.Struct, frozen=True):
    """``length`` and ``other`` of it."""

    length: Annotated[int, Meta(ge=0)]
    #:
    other: Name
'''
    assert [name for _, name in bare_fields(text, {"Count"})] == [
        "One.length",
        "One.first",
        "One.element_bytes",
        "Two.length",
        "Two.other",
    ]
    assert described_types(ast.parse('A = Annotated[str, "a"]\nB = Annotated[int, Meta(ge=0)]\nC = "c"')) == {"A"}


def test_fields_are_documented_where_they_stand() -> None:
    texts = {path: path.read_text(encoding="utf-8") for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))}
    declared = {path: text for path, text in texts.items() if _MAY_HAVE_FIELDS.search(text)}
    assert len(declared) > 150
    types = set().union(*(described_types(ast.parse(t)) for t in texts.values() if re.search(r"= Annotated\b", t)))
    assert types
    bare = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, text in declared.items()
        for line, name in bare_fields(text, types)
    ]
    assert not bare


def test_numbers_are_seen_in_classes_that_others_use() -> None:
    text = '''
@dataclass
class One:
    """Something."""

    size: int
    sizes: tuple[int, ...] = ()
    #: in seconds
    time: float = 0.0
    name: str = ""
    _hidden: int = 0


@dataclass
class Two:
    """Another."""

    size: int
'''
    assert [name for _, name in bare_numbers(text, set(), {"One"}.__contains__)] == ["One.size", "One.sizes"]


def test_numbers_of_classes_that_several_files_use_are_documented() -> None:
    paths = [path for room in PACKAGE for path in sorted((ROOT / room).rglob("*.py"))]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    words = Counter(word for text in texts.values() for word in set(re.findall(r"\w+", text)))
    types = set().union(*(described_types(ast.parse(t)) for t in texts.values() if re.search(r"= Annotated\b", t)))
    bare = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, text in texts.items()
        if _MAY_HAVE_FIELDS.search(text)
        for line, name in bare_numbers(text, types, lambda name: words[name] > 1)
    ]
    assert not bare
