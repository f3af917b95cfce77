"""What an addition touches: files of the package that a commit changed when it added a rewrite, and that name it today.

    python -m experiments.additions

Reads the repository's history (a full clone) and its files; nothing is measured. Files of tests, documents, schemas and
experiments are not counted, and neither are the random steps of ``polydl fuzz``.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

from experiments.tables import markdown

_ROOT = Path(__file__).parents[1]
_PACKAGE = ("polydl", "variants", "microkernels", "ranking", "fusion")
#: The last five rewrites that were added: what each is, and the commit.
ADDITIONS = {
    "zero_point": ("products of quantized numbers without their zero points", "06670fb"),
    "split_index_set": ("sums of few terms in parts, by the conditions at borders", "cbe448e"),
    "expand": ("arrays with elements for each iteration that reuses them", "5d936fb"),
    "polyphase": ("strided convolutions in parts, with `bench --weights` in the same commit", "2bcb88e"),
    "cut_triangle": ("products in a triangle as squares", "610b970"),
}


def changed(commit: str) -> list[str]:
    """The package's files that a commit changed."""
    command = ["git", "-C", str(_ROOT), "show", "--name-only", "--format=", commit, "--", *_PACKAGE]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines() if not line.startswith("polydl/fuzzing/")]


def naming(rewrite: str) -> Iterator[str]:
    """The package's files that import the rewrite's module, or have its name as a string, besides its own."""
    for path in sorted(each for folder in _PACKAGE for each in (_ROOT / folder).rglob("*.py")):
        place = path.relative_to(_ROOT)
        if place.stem != rewrite and "fuzzing" not in place.parts and _names(ast.parse(path.read_bytes()), rewrite):
            yield str(place)


def _names(module: ast.Module, rewrite: str) -> bool:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(f"rewrites.{rewrite}"):
            return True
        if isinstance(node, ast.Constant) and node.value == rewrite:
            return True
    return False


def table() -> list[str]:
    """A line of Markdown for each addition."""
    rows = []
    for name, (what, commit) in ADDITIONS.items():
        today = ", ".join(f"`{place}`" for place in naming(name))
        rows.append([f"`{name}`, {what} (`{commit}`)", str(len(changed(commit))), today])
    return markdown(["addition", "files changed", "files that name it today"], rows)


def main() -> None:
    print(*table(), sep="\n")


if __name__ == "__main__":
    main()
