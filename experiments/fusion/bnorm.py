"""Batch normalization and ReLU, fused by polydl, beside its own unfused code and oneDNN's primitive.

    python -m experiments.fusion.bnorm results.json [64,56,56 ...] [--images 28]

Inference and training. The tensors are the outputs of the ten networks' convolutions (channels, height, width), where
the channels come in blocks of 16. Unfused is polydl's fastest normalization, then ReLU as a nest of its own; if that
normalization writes past the caches, also the fastest one that leaves the tensor there for ReLU, whichever is better.
The
share of the bandwidth is that of a loop which only scales the same tensor into the same output. Needs oneDNN's headers
(libdnnl-dev).
"""

from __future__ import annotations

from pathlib import Path

import polydl
from experiments.fusion.comparison import (
    Row,
    drive,
    driver,
    fastest,
    geometric_mean,
    options,
    ratios_text,
    run_all,
    summary,
)
from polydl.workloads import Convolution, suite, workload

_EXAMPLES = Path(__file__).parents[2] / "examples"
_BLOCK = 16
_BETWEEN_CACHES = 1 << 21
_RELU = """void relu(float output[{0}][{1}][{2}][{3}][16])
{{
#pragma scop
  for (int img = 0; img < {0}; ++img)
    for (int tile = 0; tile < {1}; ++tile)
      for (int h = 0; h < {2}; ++h)
        for (int w = 0; w < {3}; ++w)
          for (int c = 0; c < 16; ++c)
            output[img][tile][h][w][c] = output[img][tile][h][w][c] > 0.0f ? output[img][tile][h][w][c] : 0.0f;
#pragma endscop
}}
"""


def tensors() -> list[str]:
    """All shapes of outputs, the largest first."""
    shapes = set()
    for name in suite("conv"):
        p = workload(name).problem
        assert isinstance(p, Convolution)
        if p.filters % _BLOCK == 0:
            shapes.add((p.filters, p.output_height, p.output_width))
    return [",".join(map(str, s)) for s in sorted(shapes, key=lambda s: (-s[0] * s[1] * s[2], s))]


def _without_relu(example: str) -> str:
    """The example but for its last nest."""
    text = (_EXAMPLES / f"{example}.c").read_text()
    return text[: text.rindex("  for (int img")] + text[text.index("#pragma endscop") :]


def prepare(tensor: str, images: int, threads: int, folder: Path) -> Row:
    channels, height, width = map(int, tensor.split(","))
    defines = {"nImg": images, "nChannels": channels, "height": height, "width": width}
    machine = polydl.Machine.detect(threads=threads)
    # Nothing is written past caches that hold everything.
    holding = polydl.Machine.detect(threads=threads, cache_sizes="48K,2G,4G")
    libraries: list[str] = []
    row: Row = {"bytes": 4 * images * channels * height * width, "images": images, "threads": threads, "variants": {}}

    def add(kind: str, path: Path, sizes: dict[str, int] | None, on: polydl.Machine = machine) -> bool:
        found = polydl.optimize(
            path, machine=on, defines=sizes, max_variants=60, top_k=4, out=folder / kind, records=False
        )
        assert found.winner is not None
        row["variants"][kind] = steps = found.winner.ranked.variant.to_json()
        libraries.append(str(found.files["library"]))
        return any(step["step"] == "stream" for step in steps)

    relu = folder / "relu.c"
    relu.write_text(_RELU.format(images, channels // _BLOCK, height, width))
    for example in ("bnorm_relu", "bnorm_train"):
        add(example, _EXAMPLES / f"{example}.c", defines)
        alone = folder / f"{example}_alone.c"
        alone.write_text(_without_relu(example))
        if add(f"{example}_alone", alone, defines):
            add(f"{example}_kept", alone, defines, holding)
        else:
            libraries.append("-")
    add("relu", relu, None)
    return row | {"libraries": libraries}


def measure(tensor: str, prepared: Row, seconds: float) -> Row:
    arguments = (prepared["images"], *tensor.split(","), seconds, *prepared["libraries"])
    pairs = [[f"{peer}_{kind}", f"fused_{kind}"] for kind in ("infer", "train") for peer in ("onednn", "unfused")]
    pairs += [["scaling", "fused_infer"], ["scaling", "fused_train"]]
    return drive(driver("bnorm_onednn", ["-ldnnl"]), arguments, prepared["threads"]) | {"compared": pairs}


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
    if given.summary:
        for tensor, row in rows.items():
            print(tensor, ratios_text(row))
    inside = {name: row for name, row in rows.items() if 2 * row["bytes"] <= _BETWEEN_CACHES}
    beyond = {name: row for name, row in rows.items() if name not in inside}
    for text, chosen in (("all", rows), ("in the second cache", inside), ("beyond", beyond)):
        if chosen:
            print(text, *summary(chosen), sep="\n  ")
            rates = [2 * row["bytes"] / min(fastest(row, "fused_infer")) / 1e9 for row in chosen.values()]
            print(f"  fused_infer: {geometric_mean(rates):.1f} GB/s read and written")


if __name__ == "__main__":
    main()
