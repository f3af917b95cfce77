"""What an addition touches: files of the package that a commit changed when it added a rewrite or a microkernel, and
those that name it today.

    python -m experiments.additions

Reads the repository's history (a full clone) and its files; nothing is measured. The schema of documents, which
``make schema`` writes anew from the steps, is counted apart; files of tests, documents and experiments are not counted.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from experiments.tables import markdown

_ROOT = Path(__file__).parents[1]
_PACKAGE = ("polydl", "variants", "microkernels", "ranking", "fusion")
_SCHEMA = "docs/optimize.schema.json"
#: The last rewrites and microkernels that were added, the latest first: the module of each, what it is, and the commit.
ADDITIONS = {
    "untile": ("untile", "nests without the tiles of the source", "d0c00fa0"),
    "pivot_blocks": ("pivot_blocks", "loops over pivots in blocks", "0c5aa411"),
    "peel": ("peel", "one iteration of a loop apart", "16248477"),
    "coalesce_rows": ("coalesce_rows", "short rows as one, with a new phase of rewrites", "2250813a"),
    "zero_point": ("zero_point", "products of quantized numbers without their zero points", "06670fb"),
    "split_index_set": ("split_index_set", "sums of few terms in parts, by the conditions at borders", "cbe448e"),
    "expand": ("expand", "arrays with elements for each iteration that reuses them", "5d936fb"),
    "polyphase": ("polyphase", "strided convolutions in parts, with `bench --weights` in the same commit", "2bcb88e"),
    "c-int16": (
        "int16",
        "a microkernel for shorts, with greatest elements and sums in vectors in the same commit",
        "89399f1",
    ),
    "cut_triangle": ("cut_triangle", "products in a triangle as squares", "610b970"),
}


def is_known(commit: str) -> bool:
    """Whether the history has a commit; that of a shallow clone may lack it."""
    command = ["git", "-C", str(_ROOT), "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(command, capture_output=True).returncode == 0


def changed(commit: str, *places: str) -> list[str]:
    """The files below some places that a commit changed."""
    command = ["git", "-C", str(_ROOT), "show", "--name-only", "--format=", commit, "--", *places]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def naming(name: str, module: str) -> Iterator[str]:
    """The package's files that import the addition's module, or have its name as a string, besides its own."""
    homes = (f"rewrites.{module}", f"microkernels.{module}")
    for path, (imported, strings) in _package().items():
        if path.stem != module and (name in strings or any(each.endswith(homes) for each in imported)):
            yield str(path)


@cache
def _package() -> dict[Path, tuple[frozenset[str], frozenset[str]]]:
    """By file of the package: the modules that names are imported from, and the strings in it."""
    return {
        path.relative_to(_ROOT): _named(ast.parse(path.read_bytes()))
        for path in sorted(each for folder in _PACKAGE for each in (_ROOT / folder).rglob("*.py"))
    }


def _named(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    imported, strings = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    return frozenset(imported), frozenset(strings)


def named_today(name: str) -> str:
    """The files that name an addition, as the table has them."""
    return ", ".join(f"`{place}`" for place in naming(name, ADDITIONS[name][0]))


def table() -> list[str]:
    """A line of Markdown for each addition."""
    rows = []
    for name, (_, what, commit) in ADDITIONS.items():
        schema = "yes" if changed(commit, _SCHEMA) else "no"
        rows.append([f"`{name}`, {what} (`{commit}`)", str(len(changed(commit, *_PACKAGE))), schema, named_today(name)])
    return markdown(["addition", "files changed", "and the schema", "files that name it today"], rows)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(*table(), sep="\n")


if __name__ == "__main__":
    main()
