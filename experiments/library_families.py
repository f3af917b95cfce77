"""Libraries of convolutions, of attention and of its scores at shapes that they were not made from: beside kernels for
the very shape, beside PyTorch, and what the learned model picks.

    python -m experiments.library_families measure convolution --out convolution.json.xz
    python -m experiments.library_families table convolution.json.xz

All run on one thread. At each held-out shape the library's function, the winner of an optimization for that shape alone
and the plain nest are measured in turns (``polydl.libraries.held_out``), then the library's function and PyTorch's
operator in turns: convolutions on rows of channels and on channels last, each on contiguous tensors. PyTorch's first
call at a shape, which makes oneDNN's primitive, is told apart. Both are called from Python, and a call of a library's
function takes longer for that than one of PyTorch's, so that small shapes say little of the code itself. At some shapes
the configurations that the model expects to be fastest are measured as well, as ISAAC compares its first pick with the
best of 10 and of 100 (Tillet and Cox, SC 2017, section 6).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import polydl
from experiments.layers import keep, raw
from experiments.tables import markdown
from polydl.bench.ratios import geometric_mean
from polydl.ir.measurement import counting
from polydl.libraries.held_out import held_out, picks
from polydl.libraries.ranges import size_ranges
from polydl.libraries.shapes import Shape, sampled_shapes

Document = dict[str, Any]
Call = Callable[[], Any]

_EXAMPLES = Path(__file__).parents[1] / "examples"
# Other than the library's, which draws with 0, 1 and 2.
_SEED = 1000
_ROUNDS, _LEAST_SECONDS = 7, 0.02
_FEWEST, _MOST = 10, 100


@dataclass(frozen=True)
class Family:
    """A nest, the sizes that it is for, and what computes the same."""

    file: str
    ranges: Mapping[str, str]
    #: of the held-out shapes, at most
    most_operations: float
    #: the arrays of the nest at a shape, the result first, by name
    arrays: Callable[[Shape], dict[str, Any]]
    #: calls of PyTorch that compute the same of the arrays, by what they are called; each returns the result
    peers: Callable[[Mapping[str, Any]], dict[str, Call]]
    defines: Mapping[str, int]


def _random(seed: int, *extents: int) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, extents).astype(np.float32)


def _images(shape: Shape) -> dict[str, Any]:
    n, c, f, h, w = (shape[name] for name in "NCFHW")
    image, weights = _random(0, n, c, h + 2, w + 2), _random(1, f, c, 3, 3)
    return {"out": np.zeros((n, f, h, w), np.float32), "in": image, "filter": weights}


def _convolutions(arrays: Mapping[str, Any]) -> dict[str, Call]:
    import torch
    from torch.nn.functional import conv2d

    image, weights = (torch.from_numpy(arrays[name]) for name in ("in", "filter"))
    last = image.contiguous(memory_format=torch.channels_last), weights.contiguous(memory_format=torch.channels_last)
    return {"PyTorch": lambda: conv2d(image, weights), "PyTorch, channels last": lambda: conv2d(*last)}


def _sequences(shape: Shape) -> dict[str, Any]:
    h, s = shape["H"], shape["S"]
    every = _of_heads(shape, "query", "key", "value")
    weights = np.zeros((h, s, s), np.float32)
    return {"out": np.zeros((h, s, _DIMENSIONS), np.float32), "weights": weights, **every, "scale": _DIMENSIONS**-0.5}


def _of_heads(shape: Shape, *names: str) -> dict[str, Any]:
    """Operands with a row for each place of a sequence, by name."""
    return {name: _random(seed, shape["H"], shape["S"], _DIMENSIONS) for seed, name in enumerate(names)}


def _attention(arrays: Mapping[str, Any]) -> dict[str, Call]:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    every = [torch.from_numpy(arrays[name])[None] for name in ("query", "key", "value")]
    return {"PyTorch": lambda: scaled_dot_product_attention(*every)[0]}


def _heads(shape: Shape) -> dict[str, Any]:
    h, s = shape["H"], shape["S"]
    return {"out": np.zeros((h, s, s), np.float32), **_of_heads(shape, "query", "key")}


def _scores(arrays: Mapping[str, Any]) -> dict[str, Call]:
    import torch

    query, key = (torch.from_numpy(arrays[name]) for name in ("query", "key"))
    result = torch.empty(arrays["out"].shape)
    return {"PyTorch": lambda: torch.bmm(query, key.transpose(1, 2), out=result)}


_DIMENSIONS = 64
FAMILIES = {
    "scores": Family(
        "attention_scores_any.c", {"H": "1..16", "S": "1..4096"}, 5e9, _heads, _scores, {"D": _DIMENSIONS},
    ),
    "convolution": Family(
        "conv_any.c", {"N": "1..16", "C": "64..512:64", "F": "64..512:64", "H": "7..224", "W": "7..224"}, 2e9,
        _images, _convolutions, {},
    ),
    "attention": Family(
        "attention_any.c", {"H": "1..16", "S": "1..4096"}, 5e9, _sequences, _attention, {"D": _DIMENSIONS},
    ),
}  # fmt: skip


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command()
@click.argument("name", metavar="FAMILY", type=click.Choice(sorted(FAMILIES)))
@click.option("--sampled", default=24, show_default=True, help="shapes that the library is made from")
@click.option("--shapes", default=60, show_default=True, help="held-out ones")
@click.option("--picked", default=10, show_default=True, help="of these, at which the model's picks are measured")
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measure(name: str, sampled: int, shapes: int, picked: int, out: Path) -> None:
    """Make the library, and measure it; what is measured is written after each shape."""
    import torch

    torch.set_num_threads(1)
    family = FAMILIES[name]
    start = time.perf_counter()
    library = polydl.library(
        _EXAMPLES / family.file, family.ranges, defines=family.defines, shapes=sampled,
        machine=polydl.Machine.detect(threads=1),
    )  # fmt: skip
    document: Document = {
        "family": name,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": library.machine.name,
        "torch": torch.__version__,
        "ranges": dict(family.ranges),
        "kernels": len(library.kernels),
        "bytes": library.files["library"].stat().st_size,
        "made_in_seconds": round(time.perf_counter() - start, 1),
        "sampled": [dict(shape) for shape in library.shapes],
        "worst_sampled": max(library.slowdowns),
        "shapes": [],
        "picks": [],
    }
    texts = [f"{size}={values}" for size, values in family.ranges.items()]
    every = sampled_shapes(
        size_ranges(texts), shapes + sampled, _SEED, lambda shape: library.read(shape).flops <= family.most_operations
    )
    wanted = [shape for shape in every if shape not in library.shapes][:shapes]
    for shape in wanted:
        document["shapes"].append(_beside(library, family, shape))
        keep(document, out)
        click.echo(_line(document["shapes"][-1]), err=True)
    for shape in wanted[:: max(1, len(wanted) // picked)][:picked] if picked else []:
        document["picks"].append(_picks(library, shape))
        keep(document, out)
    print(*tables(document), sep="\n")


def _beside(library: polydl.Library, family: Family, shape: Shape) -> Document:
    (measured,) = held_out(library, [shape])
    roles = ("library", "tuned", "plain")
    samples = {
        role: median(counting([[each.seconds, each.disturbed] for each in taken]))
        for role, taken in zip(roles, measured.samples, strict=True)
    }
    return {"sizes": dict(shape), "chosen": measured.chosen, **samples, **_peers(library, family, shape)}


def _peers(library: polydl.Library, family: Family, shape: Shape) -> Document:
    """Seconds of the library's function and of PyTorch's in turns, medians; and those of PyTorch's first call."""
    arrays = family.arrays(shape)
    function = library.best
    calls: dict[str, Call] = {"polydl": lambda: function(**arrays), **family.peers(arrays)}
    first, results = {}, {}
    for name, call in calls.items():
        start = time.perf_counter()
        results[name] = call()
        first[name] = time.perf_counter() - start
    right = arrays["out"]
    for name, result in results.items():
        if name != "polydl":
            np.testing.assert_allclose(result.numpy(), right, rtol=1e-3, atol=1e-3 * float(np.abs(right).max()))
    repeats = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        repeats[name] = max(1, round(_LEAST_SECONDS / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter() - start) / repeats[name])
    return {"in_turns": {name: median(taken) for name, taken in times.items()}, "first": first}


def _picks(library: polydl.Library, shape: Shape) -> Document:
    measured = picks(library, shape, _MOST)
    return {
        "sizes": dict(shape),
        "library": measured.seconds,
        "plain": measured.original_seconds,
        "picks": list(measured.expected),
    }


def _line(shape: Mapping[str, Any]) -> str:
    turns = shape["in_turns"]
    others = min(seconds for name, seconds in turns.items() if name != "polydl")
    sizes = " ".join(f"{name}={size}" for name, size in shape["sizes"].items())
    slowdown = shape["library"] / shape["tuned"]
    return f"{sizes}: {slowdown:.2f} of the time for the very shape, {others / turns['polydl']:.2f} over PyTorch"


@main.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True))
def table(file: Path) -> None:
    """What was measured, as tables in Markdown."""
    print(*tables(raw(file)), sep="\n")


def tables(document: Document) -> Iterator[str]:
    """Slow-downs over kernels for the very shape, ratios to PyTorch, and what the model's picks take."""
    shapes = document["shapes"]
    yield (
        f"{document['kernels']} kernels in {document['bytes'] // 1024} KB, made from {len(document['sampled'])} shapes "
        f"in {document['made_in_seconds']:.0f} s; PyTorch {document['torch']}."
    )
    yield ""
    slowdowns = [each["library"] / each["tuned"] for each in shapes]
    plain = geometric_mean([each["plain"] / each["library"] for each in shapes])
    within = [sum(factor <= limit for factor in slowdowns) for limit in (1.1, 1.25)]
    yield from markdown(
        ["held-out shapes", "slow-down, mean", "worst", "within 1.10", "within 1.25", "over the plain nest"],
        [
            [
                str(len(shapes)),
                f"{geometric_mean(slowdowns):.2f}",
                f"{max(slowdowns):.2f}",
                *map(str, within),
                f"{plain:.1f}",
            ]
        ],
    )
    yield ""
    rows = []
    for name in [*(peer for peer in shapes[0]["in_turns"] if peer != "polydl"), "the best of them"]:
        rows.append([name, *_ratios(shapes, name, "in_turns"), *_ratios(shapes, name, "first")])
    yield from markdown(["beside", "known shape: mean", "worst", "ahead", "new shape: mean", "worst", "ahead"], rows)
    yield ""
    worst = sorted(shapes, key=lambda shape: float(shape["tuned"] / shape["library"]))[:8]
    names = list(shapes[0]["sizes"])
    yield from markdown(
        [*names, "library", "for the shape", "slow-down", "over PyTorch", "kernel"],
        [
            [
                *(str(each["sizes"][name]) for name in names), f"{each['library']:.3g} s", f"{each['tuned']:.3g} s",
                f"{each['library'] / each['tuned']:.2f}", f"{_over(each, 'the best of them', 'in_turns'):.2f}",
                each["chosen"],
            ]
            for each in worst
        ],
    )  # fmt: skip
    if document["picks"]:
        yield ""
        yield from _pick_table(document["picks"])


def _ratios(shapes: Sequence[Mapping[str, Any]], peer: str, when: str) -> list[str]:
    ratios = [_over(each, peer, when) for each in shapes]
    ahead = sum(ratio > 1 for ratio in ratios)
    return [f"{geometric_mean(ratios):.2f}", f"{min(ratios):.2f}", f"{ahead} of {len(ratios)}"]


def _over(shape: Mapping[str, Any], peer: str, when: str) -> float:
    """How many times as long as the library a peer takes; for a new shape, in the first call of each."""
    times = shape[when]
    others = [seconds for name, seconds in times.items() if name != "polydl" and peer in (name, "the best of them")]
    return float(min(others) / times["polydl"])


def _pick_table(picks: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the model's first pick, the best of its first 10 and of all take, over the best of all that was measured."""
    rows = []
    for name, most in (("first pick", 1), (f"best of {_FEWEST}", _FEWEST), (f"best of {_MOST}", _MOST)):
        factors = [_taken(each["picks"][:most]) / _least(each) for each in picks]
        rows.append([name, *_spread(factors)])
    rows.append(["the library's choice", *_spread([each["library"] / _least(each) for each in picks])])
    return markdown([f"at {len(picks)} shapes", "over the best: mean", "worst"], rows)


def _least(pick: Mapping[str, Any]) -> float:
    return min(_taken(pick["picks"]), pick["library"], pick["plain"])


def _taken(seconds: Sequence[float | None]) -> float:
    return min((each for each in seconds if each is not None), default=math.inf)


def _spread(factors: Sequence[float]) -> list[str]:
    finite = [factor for factor in factors if math.isfinite(factor)]
    if not finite:
        return ["none ran", ""]
    failed = f" ({len(factors) - len(finite)} failed)" if len(finite) < len(factors) else ""
    return [f"{geometric_mean(finite):.2f}{failed}", f"{max(finite):.2f}"]


if __name__ == "__main__":
    main()
