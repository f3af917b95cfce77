"""Convolutions with ReLU6 or with bias and ReLU, fused by polydl, beside its own unfused code, oneDNN and PyTorch.

    python -m experiments.fusion.conv_postops --out results.json [resnet_03:relu6 ...] [--images 28]
    python -m experiments.fusion.conv_postops --out results.json --table

oneDNN is asked for every algorithm in every layout, with transforms of filters outside of the timing: its best beside
polydl's best, and its best direct one beside polydl's fastest fused code that computes every product. Unfused, each
nest of the source stays one of its own, at the fastest that polydl makes it: as one file, or in a file each, whichever
is faster. Partly fused is the convolution, then bias and ReLU in one nest of their own. The convolution alone shows
what fusion would gain if the operators cost nothing. Activations and filters are blocked; polydl's input is padded
beforehand. PyTorch, if it is installed, takes the fastest of its ways (``pytorch.py``), all of them direct. Needs
oneDNN's headers (libdnnl-dev).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import polydl
from experiments.fusion.comparison import Row, compared, drive, driver, means_text, options, run_all, with_torch
from experiments.tables import markdown
from polydl.workloads import Convolution, Workload, suite, workload

OPERATIONS = ("relu6", "bias_relu")


def sources(layer: Workload, operations: str) -> dict[str, str]:
    """C of the fused nest, of the convolution alone, of what follows it alone, and of each operator of that."""
    declared = re.search(r"float output((?:\[\d+\])+)", layer.source)
    assert declared is not None
    extents = re.findall(r"\d+", declared[1])
    output = "output[p0][p1][p2][p3][p4]"
    values = {
        "relu6": (f"{output} < 0.0f ? 0.0f : ({output} > 6.0f ? 6.0f : {output})",),
        "bias_relu": (f"{output} + bias[p1][p4]", f"{output} > 0.0f ? {output} : 0.0f"),
    }[operations]
    head = ["#pragma omp parallel for collapse(3)"]
    head += [f"{'  ' * (d + 1)}for (int p{d} = 0; p{d} < {e}; ++p{d})" for d, e in enumerate(extents)]
    nests = ["\n".join([*head, f"{'  ' * 6}{output} = {value};"]) for value in values]
    bias = f", const float bias[{extents[1]}][{extents[4]}]" if operations == "bias_relu" else ""
    fused = layer.source.replace(")\n{", f"{bias})\n{{", 1)

    def alone(body: str) -> str:
        return f"void post_operations(float output{declared[1]}{bias})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"

    body = "\n".join(nests)
    return {
        "fused": fused.replace("#pragma endscop", f"{body}\n#pragma endscop"),
        "convolution": layer.source,
        "after": alone(body),
        **{f"after_{number}": alone(nest) for number, nest in enumerate(nests)},
    }


def prepare(problem: str, images: int, threads: int, folder: Path) -> Row:
    name, operations = problem.split(":")
    layer = workload(name, images=images)
    machine = polydl.Machine.detect(threads=threads)
    row: Row = {"images": images, "threads": threads, "variants": {}, "libraries": {}}
    texts = sources(layer, operations)
    for kind, text in (texts | {"unfused": texts["fused"], "direct": texts["fused"]}).items():
        path = folder / f"{kind}.c"
        path.write_text(text)
        optimization = polydl.optimize(
            path,
            machine=machine,
            max_variants=400,
            top_k=8,
            fuse=kind != "unfused",
            fewer_products=kind != "direct",
            with_unfused=kind == "fused",
            out=folder / kind,
            records=False,
        )
        assert optimization.winner is not None
        row["variants"][kind] = optimization.winner.ranked.variant.to_json()
        row["libraries"][kind] = str(optimization.files["library"])
    return row


def measure(problem: str, prepared: Row, seconds: float) -> Row:
    name, operations = problem.split(":")
    layer = workload(name, images=prepared["images"])
    p = layer.problem
    assert isinstance(p, Convolution)
    sizes = (p.images, p.channels, p.filters, p.height, p.width, p.kernel_height, p.pad_height, p.stride)
    libraries = dict(prepared["libraries"])
    first = [libraries.pop(kind) for kind in ("fused", "unfused", "convolution", "after", "direct")]
    program = driver("conv_onednn", ["-ldnnl"])
    arguments = (operations, *sizes, *layer.blocks, layer.function, *first, *libraries.values())
    row = drive(program, arguments, ("conv", operations, *sizes), prepared["threads"], seconds)
    pairs = [["unfused", "fused"], ["unfused", "alone"], ["onednn_direct", "direct_fused"], ["onednn", "fused"]]
    pairs += [["torch", "direct_fused"], ["torch", "fused"]]
    return with_torch(row, pairs + ([["partly_fused", "fused"]] if operations == "bias_relu" else []))


def table(rows: Mapping[str, Row]) -> list[str]:
    """Lines of a table in Markdown: geometric means by network and operator, and the worst problem's ratio."""
    groups: dict[str, dict[str, Row]] = {}
    for problem, row in rows.items():
        name, operations = problem.split(":")
        groups.setdefault(f"{name.split('_')[0]}, {operations.replace('_', ' and ')}", {})[problem] = row
    groups["all"] = dict(rows)
    columns = {
        "unfused / fused": ("unfused", "fused"),
        "at most": ("unfused", "alone"),
        "oneDNN / fused, both direct": ("onednn_direct", "direct_fused"),
        "oneDNN / fused, both best": ("onednn", "fused"),
    }
    if compared(rows, "torch"):
        columns |= {"PyTorch / fused, both direct": ("torch", "direct_fused"), "PyTorch / fused": ("torch", "fused")}
    heads = ["layers", "number", *columns]
    return markdown(heads, [[name, str(len(group)), *(means_text(group, *pair) for pair in columns.values())]
                            for name, group in groups.items()])  # fmt: skip


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4.0, help="of timing per layer")
    given = parser.parse_args()
    layers = [name for model in ("resnet", "fastrcnn") for name in suite(model) if workload(name).blocks[0] > 3]
    problems = [f"{name}:{operations}" for name in layers for operations in OPERATIONS]
    rows = run_all(
        given,
        problems,
        lambda problem, folder: prepare(problem, given.images, given.threads, folder),
        lambda problem, prepared: measure(problem, prepared, given.seconds),
    )
    print(*table(rows), sep="\n")


if __name__ == "__main__":
    main()
