"""Who may import whom, and who may print: the rules of docs/architecture.md, over the import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("variants", "microkernels", "ranking", "fusion")
PUBLIC = {
    "polydl",
    "polydl.bfloat16",
    "polydl.errors",
    "polydl.execute.contract",
    "polydl.execute.sampling",
    "polydl.execute.toolchain",
    "polydl.machine",
    "polydl.pipeline",
    "polydl.registry",
    "polydl.types",
    "polydl.workloads",
}
BASIC = {
    "polydl.types",
    "polydl.steps",
    "polydl.errors",
    "polydl.machine",
    "polydl.contracts",
    "polydl.bfloat16",
    "polydl.divisors",
    "polydl.native",
}


@dataclass(frozen=True)
class Import:
    """``static`` is False for one that only a type checker sees or that a function does when it runs."""

    module: str
    static: bool
    checked_only: bool


def module_name(path: Path) -> str:
    relative = path.relative_to(ROOT).with_suffix("")
    words = list(relative.parts) if relative.parts[0] == "polydl" else ["polydl", *relative.parts]
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


FILES = {module_name(path): path for folder in ("polydl", *PARTS) for path in sorted((ROOT / folder).rglob("*.py"))}


def imports(path: Path) -> Iterator[Import]:
    """All imports of a file; for ``from a import b`` also ``a.b``, if that is one of our modules."""

    def walk(node: ast.AST, in_function: bool, checked_only: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, not in_function and not checked_only, checked_only)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield Import(full if full in FILES else node.module, not in_function and not checked_only, checked_only)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for child in node.body:
                yield from walk(child, in_function, True)
            for child in node.orelse:
                yield from walk(child, in_function, checked_only)
        else:
            inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, inside, checked_only)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), False, False)


def ours(name: str) -> set[str]:
    """What a module imports of polydl, type checking aside."""
    return {each.module for each in imports(FILES[name]) if each.module.startswith("polydl") and not each.checked_only}


def in_part(name: str, *parts: str) -> bool:
    return name.split(".")[1:2] != [] and name.split(".")[1] in parts


def test_the_walk_sees_every_kind_of_import(tmp_path: Path) -> None:
    source = tmp_path / "probe.py"
    source.write_text(
        "import a\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\n"
        "def f():\n    from c import d\n    if a:\n        import e\n"
    )
    found = {each.module: (each.static, each.checked_only) for each in imports(source)}
    assert found == {
        "a": (True, False), "typing": (True, False), "b": (False, True), "c": (False, False), "e": (False, False)
    }  # fmt: skip


def test_errors_import_nothing_of_ours_and_types_only_steps_and_errors() -> None:
    assert ours("polydl.errors") == ours("polydl.bfloat16") == set()
    assert ours("polydl.types") <= {"polydl.steps", "polydl.calls", "polydl.errors", "polydl.bfloat16"}
    assert ours("polydl.steps") <= {"polydl.errors"}


def test_contracts_stand_on_the_basic_values() -> None:
    assert ours("polydl.contracts") <= {"polydl.types", "polydl.steps", "polydl.errors", "polydl.machine"}


@pytest.mark.parametrize("name", [name for name in FILES if in_part(name, "microkernels", "ranking")])
def test_microkernels_and_rankers_see_only_the_basic_values(name: str) -> None:
    part = ".".join(name.split(".")[:2])
    allowed = {each for each in ours(name) if each in BASIC or each.startswith(part) or each == "polydl"}
    assert ours(name) == allowed


@pytest.mark.parametrize("name", [name for name in FILES if in_part(name, "variants", "fusion")])
def test_variants_and_fusion_see_the_polyhedral_model_too(name: str) -> None:
    part = ".".join(name.split(".")[:2])
    others = {each for each in ours(name) if each not in BASIC and not each.startswith((part, "polydl.poly"))}
    assert others <= {"polydl"}


@pytest.mark.parametrize("name", [name for name in FILES if not in_part(name, *PARTS)])
def test_the_core_imports_no_part_statically(name: str) -> None:
    parts = [each for each in imports(FILES[name]) if in_part(each.module, *PARTS)]
    assert not [each.module for each in parts if each.static]
    if name != "polydl.pipeline":
        assert not [each.module for each in parts if not each.checked_only], "only the pipeline joins the parts"


def test_the_core_does_not_know_its_command_line() -> None:
    shown = ("polydl.cli", "polydl.commands", "polydl.presentation")
    for name in FILES:
        if not name.startswith(shown):
            assert not [each for each in ours(name) if each.startswith(shown)], name


def prints(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield f"line {node.lineno}: print"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr", "click.echo"):
            yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            if any(name.split(".")[0] in ("click", "rich") for name in names):
                yield f"line {node.lineno}: imports what prints"


def test_only_the_command_line_prints() -> None:
    found = {
        name: list(prints(path))
        for name, path in FILES.items()
        if not name.startswith(("polydl.cli", "polydl.commands", "polydl.presentation"))
    }
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert list(prints(FILES["polydl.cli"])), "the check itself sees what prints"


def test_experiments_use_the_public_interface_alone() -> None:
    for path in sorted((ROOT / "experiments").rglob("*.py")):
        used = {each.module for each in imports(path) if each.module.split(".")[0] == "polydl"}
        assert used <= PUBLIC, path
