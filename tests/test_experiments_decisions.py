"""What experiments count of trees of decisions, and how they measure the choice of a kernel."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from polydl.contracts.search import Node
from polydl.ir.variant import Tile, Variant
from polydl.learning import recorded_space

ROOT = Path(__file__).parents[1]


def test_the_choice_of_a_kernel_is_measured_as_the_manifest_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    document = {
        "shapes": [{"sizes": {"M": 3, "N": 4}}],
        "ranges": {"M": "1..64:4", "N": "2,8", "ld": "M.."},
        "kernels": [{"id": "a"}, {"id": "b"}],
        "decision": {"sizes": ["M", "N"], "at_most": 99, "then": "b", "else": "original"},
    }
    lines = import_module("experiments.library_answers").choice(document).splitlines()
    assert lines[0] == "__attribute__((noinline)) static int chosen(int M, int N)"
    assert lines[1] == (
        "{ if (!(M >= 1 && M <= 64 && N >= 2 && N <= 8)) return 0; "
        "if ((long)M * N <= 99) { return 2; } else { return 0; } }"
    )


def test_the_tree_of_decisions_is_counted_with_what_a_bound_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four values of a, which the bound knows, and three of b."""
    monkeypatch.syspath_prepend(str(ROOT))
    tree = import_module("experiments.decision_tree")
    rows = [
        recorded_space.Row(Variant((Tile(0, "i", (1 + a + 4 * b,)),)), {"a": a, "b": b}, 1.0, 1.0, least=float(a))
        for a in range(4)
        for b in range(3)
    ]
    root = recorded_space.RowsNode(tuple(rows))
    direct, reverse = tree.ORDERS["direct"], tree.ORDERS["reverse"]
    assert tree.pruned_tree(root, direct, 1.5, 3) == {"depth": 1, "candidates": 1 + 4, "left": 1 + 2}
    assert tree.pruned_tree(root, reverse, 1.5, 3) == {"depth": 2, "candidates": 1 + 3 + 12, "left": 1 + 3 + 6}
    assert tree.dead_ends(root, direct, 20, seed=0) == (0.0, 0.0)
    found = json.loads((ROOT / "experiments" / "data" / "decision_tree.json").read_text())
    assert [(row[0], row[3]) for row in tree.rows(found)] == list(product(tree.NESTS, tree.ORDERS))


def test_rewrites_may_be_decided_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    last = import_module("experiments.decision_tree").ORDERS["rewrites last"]
    rows = [
        recorded_space.Row(Variant((Tile(0, "i", (1 + a + 4 * b,)),)), {"rewrites": a, "shape": b}, 1.0, 1.0)
        for a in range(2)
        for b in range(2)
    ]
    node: Node | None = recorded_space.RowsNode(tuple(rows))
    for expected in ("shape", "rewrites"):
        assert node is not None
        assert last(node) == expected
        node = node.take(expected, 1)
    assert node is not None
    assert last(node) is None
