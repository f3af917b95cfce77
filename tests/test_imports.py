"""Who may import whom, who may print and who tells steps apart: the rules of docs/architecture.md, over the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polydl.registry import GROUPS
from polydl.variant_json import step_kinds

ROOT = Path(__file__).parents[1]
PARTS = ("variants", "microkernels", "ranking", "fusion")
PUBLIC = {
    "polydl",
    "polydl.bench.polybench",
    "polydl.bench.ratios",
    "polydl.bench.results",
    "polydl.bfloat16",
    "polydl.contracts",
    "polydl.contracts.search",
    "polydl.errors",
    "polydl.execute.contract",
    "polydl.execute.sampling",
    "polydl.execute.toolchain",
    "polydl.learning.metrics",
    "polydl.learning.recorded_space",
    "polydl.learning.samples",
    "polydl.libraries.answers",
    "polydl.libraries.held_out",
    "polydl.libraries.ranges",
    "polydl.libraries.shapes",
    "polydl.machine",
    "polydl.pipeline",
    "polydl.registry",
    "polydl.start",
    "polydl.torch",
    "polydl.ir",
    "polydl.variant_json",
    "polydl.workloads",
}
# Rooms of the package and the rooms that each may import; those that are not named may import any but what prints.
VALUES = {"ir", "errors", "bfloat16", "divisors"}
PROOFS = VALUES | {"poly", "match"}
PLUG_INS = VALUES | {"machine", "contracts", "native"}
ALLOWED = {
    "errors": set(),
    "bfloat16": set(),
    "divisors": set(),
    "durations": set(),
    "inclusions": set(),
    "emitted_names": {"errors"},
    "element_types": {"errors", "bfloat16"},
    "ir": {"errors", "bfloat16", "durations"},
    "contracts": {"ir", "errors", "machine"},
    "rewrite_contract": {"ir", "machine", "match", "poly"},
    "poly": {"ir", "errors", "bfloat16"},
    "match": PROOFS - {"match"} | {"contracts", "vector_functions"},
    "plan": PROOFS | {"contracts", "machine", "registry", "rewrite_contract", "vector_functions"},
    "reuse": PROOFS | {"plan"},
    "microkernels": PLUG_INS,
    "ranking": PLUG_INS | {"model"},
    "variants": PROOFS | PLUG_INS | {"plan", "registry", "rewrite_contract", "vector_functions"},
    "page": {"errors", "ir", "records", "system"},
    "fusion": PROOFS | PLUG_INS | {"plan", "model", "rewrite_contract", "variants"},
}
SHOWN = {"cli", "commands", "presentation"}
# Rooms that make, read, change or apply steps; all others go by what the steps of a nest ask for together.
MAKE_STEPS = {"plan", "rewrite_contract", "variant_json", "variants", "fusion", "fuzzing", "libraries"}


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


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[Import, ...]:
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
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for statement in node.body:
                yield from walk(statement, in_function, True)
            for statement in node.orelse:
                yield from walk(statement, in_function, checked_only)
        else:
            inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, inside, checked_only)

    return tuple(walk(parsed(path), False, False))


def room(module: str) -> str:
    """The first folder or module below the package."""
    return module.split(".")[1] if "." in module else ""


def arrows() -> dict[str, set[str]]:
    """The rooms that each room imports, for a type checker or inside of functions as well."""
    found: dict[str, set[str]] = {}
    for name, path in FILES.items():
        used = {room(each.module) for each in imports(path) if each.module.split(".")[0] == "polydl"}
        found.setdefault(room(name), set()).update(used - {room(name)})
    return found


def cycles(arrows: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What is in a cycle, or between two, and what of that it imports."""
    assert any(arrows.values())
    left = {name: used & arrows.keys() for name, used in arrows.items()}
    # What imports nothing that is left, or is imported by nothing that is left, is in no cycle.
    while outer := [name for name in left if not left[name] or name not in set[str]().union(*left.values())]:
        left = {name: used - set(outer) for name, used in left.items() if name not in outer}
    return left


def test_the_search_for_cycles_finds_those_that_are_there() -> None:
    assert cycles({"a": {"b"}, "b": {"c", "elsewhere"}, "c": {"b", "d"}, "d": set()}) == {"b": {"c"}, "c": {"b"}}
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {}


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


def test_each_room_imports_only_what_it_may() -> None:
    found = arrows()
    assert ALLOWED.keys() <= found.keys()
    stray = {name: used - ALLOWED[name] - {""} for name, used in found.items() if name in ALLOWED}
    assert {name: used for name, used in stray.items() if used} == {}


def test_the_core_imports_no_part_statically() -> None:
    stray = {
        name: [each.module for each in imports(path) if each.static and room(each.module) in PARTS]
        for name, path in FILES.items()
        if room(name) not in PARTS
    }
    assert stray
    assert {name: modules for name, modules in stray.items() if modules} == {}


def test_no_file_imports_itself_by_way_of_others() -> None:
    """Imports within functions and those of type checkers count as well."""
    assert cycles({name: {each.module for each in imports(path)} for name, path in FILES.items()}) == {}


def test_no_room_imports_itself_by_way_of_others() -> None:
    """Rooms are folders and modules of the package, and the package itself; any import counts."""
    assert cycles(arrows()) == {}


def test_rewrites_and_microkernels_are_known_through_the_registry_alone() -> None:
    plug_ins = {target.partition(":")[0] for group in ("rewrites", "microkernels") for target in GROUPS[group].values()}
    assert plug_ins <= FILES.keys()
    core = {name: path for name, path in FILES.items() if room(name) not in (*PARTS, "registry")}
    known = {name: {each.module for each in imports(path)} & plug_ins for name, path in core.items()}
    assert {name: modules for name, modules in known.items() if modules} == {}


@cache
def step_classes() -> frozenset[tuple[str, str]]:
    """The module and the name of each class of steps, those of rewrites included."""
    return frozenset((kind.__module__, kind.__name__) for kind in step_kinds())


def imports_steps(path: Path) -> bool:
    froms = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom))
    return any((node.module, alias.name) in step_classes() for node in froms for alias in node.names)


def tells_steps_apart(path: Path) -> bool:
    """Whether a file asks for the class of a step, by ``isinstance`` or ``match``."""
    asked: list[ast.expr] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked.append(node.args[1])
        elif isinstance(node, ast.MatchClass):
            asked.append(node.cls)
    names = {each.id for kind in asked for each in ast.walk(kind) if isinstance(each, ast.Name)}
    return any(name in names for _, name in step_classes())


def test_only_what_makes_or_applies_steps_knows_their_classes() -> None:
    assert {room(name) for name, path in FILES.items() if imports_steps(path)} == MAKE_STEPS
    telling = {name for name, path in FILES.items() if tells_steps_apart(path)}
    # What the steps of a nest ask for together, how an attachment reads, and what the fuzzer changes.
    assert {name for name in telling if not name.startswith("polydl.variants.rewrites.")} == {
        "polydl.ir.variant",
        "polydl.plan.rewrite_steps",
        "polydl.fuzzing.drawing",
    }


def test_picks_rankers_pipeline_and_presentation_name_no_rewrite_and_no_microkernel() -> None:
    # Emitted C is a kind of file, and a split of data a part of a model's card.
    names = {*GROUPS["rewrites"], *GROUPS["microkernels"]} - {"c", "split"}
    named: dict[str, set[str]] = {}
    for name, path in FILES.items():
        constants = {str(node.value) for node in ast.walk(parsed(path)) if isinstance(node, ast.Constant)}
        named.setdefault(room(name), set()).update(constants & names)
    assert named["registry"] == names
    assert (
        named["optimization"] | named["outcome"] | named["ranking"] | named["pipeline"] | named["presentation"] == set()
    )


def test_nothing_but_the_command_line_knows_the_command_line() -> None:
    assert {name for name, used in arrows().items() if used & SHOWN} == {"cli", "commands", "start"}


def prints(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield f"line {node.lineno}: print"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (name := f"{node.value.id}.{node.attr}") in ("sys.stdout", "sys.stderr", "click.echo"):
                yield f"line {node.lineno}: {name}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            if any(name.split(".")[0] in ("click", "rich") for name in names):
                yield f"line {node.lineno}: imports what prints"


def test_only_the_command_line_prints() -> None:
    found = {name: list(prints(path)) for name, path in FILES.items() if room(name) not in SHOWN}
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert list(prints(FILES["polydl.cli"])), "the check itself sees what prints"


def test_experiments_use_the_public_interface_alone() -> None:
    paths = sorted((ROOT / "experiments").rglob("*.py"))
    assert paths
    for path in paths:
        used = {each.module for each in imports(path) if each.module.split(".")[0] == "polydl"}
        assert {each for each in used if not each.startswith("polydl.ir")} <= PUBLIC, path
