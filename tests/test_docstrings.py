"""Public functions and classes have docstrings, and so have the members of contracts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("polydl", "variants", "microkernels", "ranking", "fusion")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Named = tuple[str, Definition]


def public(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    """The functions and classes of a body whose names don't begin with an underscore."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def members_of_contracts(tree: ast.Module) -> Iterator[Named]:
    """The public methods and properties of a module's public protocols, which implementations need not document."""
    for node in public(tree.body):
        if isinstance(node, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in node.bases):
            yield from ((f"{node.name}.{member.name}", member) for member in public(node.body))


def bare(named: Iterable[Named]) -> list[str]:
    """The names of those without a docstring, with their lines."""
    return [f"{node.lineno}: {name}" for name, node in named if not ast.get_docstring(node)]


def top_level(tree: ast.Module) -> Iterator[Named]:
    return ((node.name, node) for node in public(tree.body))


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """The modules of the package, by their paths from the root."""
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_definitions_without_docstrings_are_seen() -> None:
    text = '''
def one(): return 1

async def two():
    """Says something."""

@dataclass
class Three:
    field: int
    def method(self): ...

class Four(Protocol[T]):
    """A contract."""
    @property
    def name(self) -> str: ...
    def run(self) -> None:
        """Runs."""
    def _hidden(self) -> None: ...

def _five(): pass

def six(): ""
'''
    tree = ast.parse(text)
    assert bare(top_level(tree)) == ["2: one", "8: Three", "22: six"]
    assert bare(members_of_contracts(tree)) == ["15: Four.name"]


def test_public_functions_and_classes_have_docstrings(trees: dict[Path, ast.Module]) -> None:
    assert sum(1 for tree in trees.values() for _ in top_level(tree)) > 2000
    assert not [f"{path}:{where}" for path, tree in trees.items() for where in bare(top_level(tree))]


def test_members_of_contracts_have_docstrings(trees: dict[Path, ast.Module]) -> None:
    assert sum(1 for tree in trees.values() for _ in members_of_contracts(tree)) > 50
    assert not [f"{path}:{where}" for path, tree in trees.items() for where in bare(members_of_contracts(tree))]
