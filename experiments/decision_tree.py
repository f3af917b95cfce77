"""Dead ends in the tree of decisions, and what the bound prunes of it, in three orders of the decisions.

    python -m experiments.decision_tree --json experiments/data/decision_tree.json

After Table 2 and §5.5 of Beaugnon et al., "On the Representation of Partially Specified Implementations". Decisions are
taken in polydl's order, in the reverse one but for the rewrites, which stay first, and in polydl's order with the
rewrites last. A walk takes them one by one, each evenly among the values that propagation leaves and that do not
contradict at once; at a dead end, no value is left. Then the tree is built level by level, to the first level with more
than ``--nodes`` candidates. Candidates are counted that may still be faster than what the first of a ranking
of 400 variants is predicted to take. Nothing is compiled or timed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from experiments.tables import markdown
from polydl import Machine, pipeline, workloads
from polydl.contracts.search import Node

Document = dict[str, Any]

# Standard errors to each side that 95 % of a normal distribution lie within.
_NORMAL = 1.96
_UNSEEN = 3.0
_EXAMPLES = Path(__file__).parents[1] / "examples"
NESTS: dict[str, tuple[str, Mapping[str, int]]] = {
    "256 x 256 x 32": ("matmul.c", {"M": 256, "N": 256, "K": 32}),
    "1024 x 1024 x 1024": ("matmul.c", {"M": 1024, "N": 1024, "K": 1024}),
    "stencil.c": ("stencil.c", {}),
    "resnet_03": ("", {}),
}
_REWRITES = "rewrites"


def _direct(node: Node) -> str | None:
    return node.next_decision


def _reverse(node: Node) -> str | None:
    return _REWRITES if node.next_decision == _REWRITES else next(reversed(node.undecided), None)


def _rewrites_last(node: Node) -> str | None:
    return next((name for name in node.undecided if name != _REWRITES), node.next_decision)


Order = Callable[[Node], str | None]
#: What a candidate decides next.
ORDERS: Mapping[str, Order] = {"direct": _direct, "reverse": _reverse, "rewrites last": _rewrites_last}


def dead_ends(root: Node, order: Order, walks: int, seed: int) -> tuple[float, float]:
    """The share of random walks that end without a variant, and what 95 % of such estimates are within."""
    generator = random.Random(seed)
    share = sum(not _arrives(root, order, generator) for _ in range(walks)) / walks
    return share, _NORMAL * sqrt(share * (1.0 - share) / walks)


def _arrives(node: Node, order: Order, generator: random.Random) -> bool:
    while (name := order(node)) is not None:
        children = _children(node, name)
        if not children:
            return False
        node = generator.choice(children)
    return node.variant() is not None


def _children(node: Node, name: str) -> list[Node]:
    return [child for value in node.values(name) if (child := node.take(name, value)) is not None]


def pruned_tree(root: Node, order: Order, seconds: float, most: int) -> Document:
    """Candidates down to the first level with more than ``most``, and those that may take less than ``seconds``."""
    levels = [[(root, root.least_seconds() < seconds)]]
    while len(levels[-1]) <= most:
        following = [
            (child, alive and child.least_seconds() < seconds)
            for node, alive in levels[-1]
            if (name := order(node)) is not None
            for child in _children(node, name)
        ]
        if not following:
            break
        levels.append(following)
    left = sum(alive for level in levels for _, alive in level)
    return {"depth": len(levels) - 1, "candidates": sum(map(len, levels)), "left": left}


def measure(name: str, machine: Machine, walks: int, nodes: int) -> Document:
    """The figures of one nest."""
    with TemporaryDirectory() as directory:
        file, defines = NESTS[name]
        path = _EXAMPLES / file if file else workloads.workload(name).write(directory)
        nest = pipeline.parse(path, defines=defines)
        space = pipeline.space_on(nest, machine)
        ranking = pipeline.rank(nest, pipeline.generate(space).variants, machine=machine)
    seconds = ranking.entries[0].score
    assert seconds is not None
    root = pipeline.decision_tree(space, machine)
    size = pipeline.estimated_size(space)
    orders = {}
    for title, order in ORDERS.items():
        share, error = dead_ends(root, order, walks, seed=0)
        tree = pruned_tree(root, order, seconds, nodes)
        orders[title] = {"dead_ends": share, "dead_ends_error": error, **tree}
    return {
        "nest": name,
        "size": size.value,
        "size_low": size.low,
        "size_high": size.high,
        "rewrites": len(root.alternatives),
        "walks": walks,
        "seconds": seconds,
        "orders": orders,
    }


def rows(documents: Sequence[Document]) -> list[list[str]]:
    found = []
    for each in documents:
        size = f"{each['size']:.2g} ({each['size_low']:.2g} to {each['size_high']:.2g})"
        for order, tree in each["orders"].items():
            factor = f"{tree['candidates'] / tree['left']:.1f}" if tree["left"] else "all"
            ends = f"{tree['dead_ends']:.1%} ± {tree['dead_ends_error']:.1%}"
            if not tree["dead_ends"]:
                # An event with so many expected walks stays unseen in 5 % of all cases.
                ends = f"none (below {_UNSEEN / each['walks']:.1%})"
            candidates = f"{tree['candidates']:,} ({tree['depth']})"
            found.append([each["nest"], size, str(each["rewrites"]), order, ends, candidates, factor])
    return found


@click.command(help=__doc__)
@click.argument("nests", nargs=-1, type=click.Choice(list(NESTS)))
@click.option("--walks", default=1000, show_default=True, help="Random walks for the share of dead ends.")
@click.option("--nodes", default=5000, show_default=True, help="The tree is built until a level has more candidates.")
@click.option("--threads", default=2, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures there as well.")
def main(nests: tuple[str, ...], walks: int, nodes: int, threads: int, path: Path | None) -> None:
    machine = Machine.detect(threads=threads)
    documents = [measure(name, machine, walks, nodes) for name in nests or NESTS]
    titles = ["nest", "legal variants", "sets of rewrites", "order", "dead ends", "candidates (depth)"]
    titles.append("over those left")
    click.echo("\n".join(markdown(titles, rows(documents))))
    if path is not None:
        path.write_text(json.dumps(documents, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
