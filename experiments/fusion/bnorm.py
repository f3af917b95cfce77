"""Batch normalization and ReLU, fused by polydl, beside its own unfused code, oneDNN's primitive and PyTorch.

    python -m experiments.fusion.bnorm --out results.json [64,56,56 ...] [--images 28]
    python -m experiments.fusion.bnorm --out results.json --table

Inference and training. The tensors are the outputs of the ten networks' convolutions (channels, height, width), where
the channels come in blocks of 16. Unfused, each nest of the source stays one of its own, at the fastest that polydl
makes it: as one file, or with the last two nests in files of their own, so that the normalization's stores may go past
the caches; whichever is faster. In training, partly fused is all but ReLU, which stays a nest of its own; if the rest
writes past the caches, also the fastest one that leaves the tensor there for ReLU, whichever is better. The share of
the bandwidth is that of a loop which only scales the same tensor into the same output. PyTorch, if it is installed,
takes the fastest of its ways (``pytorch.py``). Needs oneDNN's headers (libdnnl-dev).
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polydl
from experiments.fusion.comparison import (
    Row,
    compared,
    drive,
    driver,
    fastest,
    means_text,
    options,
    run_all,
    with_torch,
)
from experiments.tables import markdown
from polydl.workloads import Convolution, suite, workload

_EXAMPLES = Path(__file__).parents[2] / "examples"
_BLOCK = 16
# By the bytes of a tensor, which is read and written.
_CLASSES = {"in the second cache": 1 << 20, "to 10 MB": 10_000_000}


def tensors() -> list[str]:
    """All shapes of outputs, the largest first."""
    shapes = set()
    for name in suite("conv"):
        p = workload(name).problem
        assert isinstance(p, Convolution)
        if p.filters % _BLOCK == 0:
            shapes.add((p.filters, p.output_height, p.output_width))
    return [",".join(map(str, s)) for s in sorted(shapes, key=lambda s: (-s[0] * s[1] * s[2], s))]


def _partly(example: str) -> str:
    """The example but for its last nest."""
    return example[: example.rindex("  for (int img")] + example[example.index("#pragma endscop") :]


def _apart(example: str) -> list[str]:
    """The last two nests of the example, and what comes before them, in functions of their own.

    The local arrays of floats are handed from one to the next.
    """
    before, rest = example.split("#pragma scop\n")
    body, after = rest.split("#pragma endscop")
    *first, normalization, relu = body.split("\n\n")
    head, local = before.split(")\n{\n")
    handed = "".join(
        f", float {array}"
        for arrays in re.findall(r"^  float (.+);$", local, re.MULTILINE)
        for array in arrays.split(", ")
    )
    local = re.sub(r"^  float .+;\n", "", local, flags=re.MULTILINE)
    parts = ["\n\n".join(first), normalization, relu]
    return [f"{head}{handed})\n{{\n{local}#pragma scop\n{part}\n#pragma endscop{after}" for part in parts if part]


def prepare(tensor: str, images: int, threads: int, folder: Path) -> Row:
    channels, height, width = map(int, tensor.split(","))
    defines = {"nImg": images, "nChannels": channels, "height": height, "width": width}
    machine = polydl.Machine.detect(threads=threads)
    # Nothing is written past caches that hold everything.
    holding = polydl.Machine.detect(threads=threads, cache_sizes="48K,2G,4G")
    libraries: dict[str, str] = {}
    variants: dict[str, Any] = {}

    def add(kind: str, text: str, *, fuse: bool = True, on: polydl.Machine = machine) -> None:
        source = folder / f"{kind}.c"
        source.write_text(text)
        optimization = polydl.optimize(
            source, machine=on, defines=defines, max_variants=60, top_k=4, fuse=fuse, out=folder / kind, records=False
        )
        assert optimization.winner is not None
        variants[kind] = optimization.winner.ranked.variant.to_json()
        libraries[kind] = str(optimization.files["library"])

    for kind, name in (("infer", "bnorm_relu"), ("train", "bnorm_train")):
        example = (_EXAMPLES / f"{name}.c").read_text()
        add(kind, example)
        add(f"{kind}_unfused", example, fuse=False)
        if kind == "train":
            add("train_partly", _partly(example))
            libraries["train_kept"] = "-"
            if any(step["step"] == "stream" for step in variants["train_partly"]):
                add("train_kept", _partly(example), on=holding)
        for number, part in enumerate(_apart(example)):
            add(f"{kind}_apart_{number}", part, fuse=False)
    size = 4 * images * channels * height * width
    return {"bytes": size, "images": images, "threads": threads, "variants": variants, "libraries": libraries}


def measure(tensor: str, prepared: Row, seconds: float) -> Row:
    sizes = (prepared["images"], *tensor.split(","))
    peers = ("onednn", "torch", "unfused")
    pairs = [[f"{peer}_{kind}", f"fused_{kind}"] for kind in ("infer", "train") for peer in peers]
    pairs += [["partly_fused_train", "fused_train"], ["scaling", "fused_infer"], ["scaling", "fused_train"]]
    program = driver("bnorm_onednn", ["-ldnnl"])
    arguments = (*sizes, *prepared["libraries"].values())
    return with_torch(drive(program, arguments, ("bnorm", *sizes), prepared["threads"], seconds), pairs)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--images", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0, help="of timing per tensor")
    given = parser.parse_args()
    rows = run_all(
        given,
        tensors(),
        lambda tensor, folder: prepare(tensor, given.images, given.threads, folder),
        lambda tensor, prepared: measure(tensor, prepared, given.seconds),
    )
    print(*table(rows), sep="\n")


def table(rows: Mapping[str, Row]) -> list[str]:
    """Lines of a table in Markdown: geometric means by size, and the worst tensor's ratio."""
    groups: dict[str, dict[str, Row]] = {}
    for tensor, row in rows.items():
        groups.setdefault(next((text for text, most in _CLASSES.items() if row["bytes"] <= most), "larger"), {})[
            tensor
        ] = row
    groups["all"] = dict(rows)
    peers = {"onednn": "oneDNN"} | ({"torch": "PyTorch"} if compared(rows, "torch") else {}) | {"unfused": "unfused"}
    infer, train = list(peers.values()), [*peers.values(), "partly fused"]
    heads = ["tensors", "number", f"inference: {infer[0]}", *infer[1:], "GB/s", f"training: {train[0]}", *train[1:]]
    cells = []
    for name, group in groups.items():
        rates = [2 * row["bytes"] / statistics.median(fastest(row, "fused_infer")) / 1e9 for row in group.values()]
        line = [means_text(group, f"{peer}_infer", "fused_infer") for peer in peers]
        line.append(f"{statistics.geometric_mean(rates):.0f}")
        line += [means_text(group, f"{peer}_train", "fused_train") for peer in (*peers, "partly_fused")]
        cells.append([name, str(len(group)), *line])
    return markdown(heads, cells)


if __name__ == "__main__":
    main()
