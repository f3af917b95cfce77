"""Who reads C: nobody what polydl has written, whose ingredients are values; the user's C where it has to be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from test_imports import FILES, imports, parsed

# The modules that read C, and those that may use each of them.
READERS = {
    "polydl.c_tokens": {
        "polydl.execute.rings",  # literals, among the user's statements in generated loops as well
        "polydl.frontend.macro_definitions",
        "polydl.frontend.source",
        "polydl.records.record",  # comments are left out of the digest of a kernel
    },
    "polydl.inclusions": {
        "polydl.execute.own_headers",
        "polydl.frontend.feature_macros",
        "polydl.frontend.includes",
        "polydl.records.questions",
    },
}
# Fields of ``KernelSource`` that are C.
TEXTS = {"c", "harness"}
# What is called of such a text in the package: the number of its lines.
CALLED = {("polydl.ir.kernel", "count")}


def methods_of_texts(tree: ast.AST) -> Iterator[str]:
    """What is called of a generated text, or done with it besides, but for putting it together and measuring it."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=field), attr=method)) if field in TEXTS:
                if hasattr(str, method):
                    yield method
            case ast.Call(func=ast.Attribute(attr=function), args=arguments) if hasattr(re.Pattern, function):
                # Of the module ``re`` as of a pattern that is kept.
                if any(is_text(each) for each in arguments):
                    yield function
            case ast.Compare(ops=operators, comparators=others) if any(map(is_text, others)):
                if any(isinstance(each, ast.In | ast.NotIn) for each in operators):
                    yield "in"
            case ast.Subscript(value=value) if is_text(value):
                yield "[]"


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in TEXTS


def test_the_walk_sees_every_way_to_read_a_text() -> None:
    source = 'k.c.replace("a", "b"); re.search("a", k.harness); _A.match(k.c); "a" in k.c; k.c[3:]; len(k.c)'
    source += '; f"{k.c}"; form.c.array'
    assert sorted(methods_of_texts(ast.parse(source))) == ["[]", "in", "match", "replace", "search"]


def test_nobody_reads_c_that_polydl_has_written() -> None:
    found = {(name, method) for name, path in FILES.items() for method in methods_of_texts(parsed(path))}
    assert found == CALLED


def test_only_those_read_c_that_are_known_to() -> None:
    users = {
        reader: {name for name, path in FILES.items() if any(each.module == reader for each in imports(path))}
        for reader in READERS
    }
    assert users == READERS


def test_code_generation_imports_no_reader() -> None:
    """Nor do what takes its texts home, and the fuzzer, which puts them together."""
    rooms = ("polydl.codegen.", "polydl.emission.", "polydl.fuzzing.", "polydl.libraries.", "polydl.microkernels.")
    names = [name for name in FILES if name.startswith(rooms)]
    assert all(any(name.startswith(room) for name in names) for room in rooms)
    assert [name for name in names if {each.module for each in imports(FILES[name])} & READERS.keys()] == []
