"""Batch normalization with ReLU, or residual add and ReLU, in three layouts: fused and right on random shapes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import detected

from polydl import pipeline
from polydl.cli import main
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.numerics import Numerics
from polydl.machine import Machine
from polydl.plan.rewrite_steps import is_fused

pytestmark = pytest.mark.usefixtures("second_level")

EXAMPLES = Path(__file__).parents[1] / "examples"
# By layout: the loops with their extents, the subscript of a tensor, that of a channel.
LAYOUTS = {
    "nchw": (("n", "c", "h", "w"), "[n][c][h][w]", "[c]"),
    "nhwc": (("n", "h", "w", "c"), "[n][h][w][c]", "[c]"),
    "nchwc": (("n", "t", "h", "w", "b"), "[n][t][h][w][b]", "[t][b]"),
}


def nests(layout: str, training: bool, residual: bool, extents: dict[str, int]) -> str:
    """C in the given layout, each operator in a nest of its own."""
    loops, at, channel = LAYOUTS[layout]
    dims = {at: "".join(f"[{extents[name]}]" for name in loops)}
    channels = [name for name in loops if f"[{name}]" in channel]
    dims[channel] = "".join(f"[{extents[name]}]" for name in channels)
    count = extents["n"] * extents["h"] * extents["w"]

    def nest(names: tuple[str, ...] | list[str], *statements: str) -> str:
        head = "".join(f"for (int {name} = 0; {name} < {extents[name]}; {name}++) " for name in names)
        return f"  {head}{{ {' '.join(statements)} }}\n"

    first = at.replace("[n]", "[0]").replace("[h]", "[0]").replace("[w]", "[0]")
    distance = f"(x{at} - x{first})"
    body = ""
    if training:
        body += nest(channels, f"sum{channel} = 0.0; squares{channel} = 0.0;")
        body += nest(loops, f"sum{channel} += {distance};")
        body += nest(loops, f"squares{channel} += {distance} * {distance};")
        variance = f"squares{channel} / {count}.0 - (sum{channel} / {count}.0) * (sum{channel} / {count}.0)"
        body += nest(
            channels,
            f"scale{channel} = gamma{channel} / sqrtf({variance} + 1e-2f);",
            f"shift{channel} = beta{channel} - (sum{channel} / {count}.0 + x{first}) * scale{channel};",
        )
    body += nest(loops, f"y{at} = x{at} * scale{channel} + shift{channel};")
    if residual:
        body += nest(loops, f"y{at} = y{at} + r{at};")
    body += nest(loops, f"y{at} = y{at} > 0.0f ? y{at} : 0.0f;")
    names = ("gamma", "beta") if training else ("scale", "shift")
    inputs = "".join(f", const float {name}{dims[channel]}" for name in names)
    if residual:
        inputs += f", const float r{dims[at]}"
    local = "".join(f"  float {name}{dims[channel]};\n" for name in ("scale", "shift"))
    local += "".join(f"  double {name}{dims[channel]};\n" for name in ("sum", "squares"))
    return (
        f"#include <math.h>\nvoid f(float y{dims[at]}, const float x{dims[at]}{inputs}) {{\n"
        f"{local if training else ''}#pragma scop\n{body}#pragma endscop\n}}\n"
    )


shapes = st.fixed_dictionaries(
    {
        "n": st.integers(1, 4),
        "c": st.integers(1, 40),
        "t": st.integers(1, 3),
        "b": st.sampled_from([4, 8, 16]),
        "h": st.integers(2, 14),
        "w": st.integers(2, 20),
    }
)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])
@pytest.mark.parametrize("residual", [False, True], ids=["relu", "residual"])
@pytest.mark.parametrize("layout", LAYOUTS)
@given(extents=shapes, seed=st.integers(0, 99))
@settings(max_examples=2)
def test_fused_normalization_is_right(
    layout: str, residual: bool, training: bool, extents: dict[str, int], seed: int
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "nest.c")
        path.write_text(nests(layout, training, residual, extents))
        scop = pipeline.parse(path)
        machine = detected(threads=2)
        space = pipeline.space_on(scop, machine)
        made = pipeline.generate_variants(scop, machine=machine, max_variants=24, seed=seed)
        fused = [variant for variant in made if is_fused(scop, variant)][:2]
        assert fused
        kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in fused]
        built = EXECUTOR.build([original(scop), *kernels], Toolchain.find().cautious, Path(directory))
        policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2)
        measured = EXECUTOR.measure(built[1:], built[0], scop, threads=2, policy=policy, seed=seed)
        assert [each.message for each in measured if each.status != "ok"] == []


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(
    ("numerics", "height", "width", "arrays"),
    [
        ("fast", 7, 7, 4),
        ("fast", 5, 3, 3),
        ("fast", 28, 30, 4),
        ("fast", 40, 9, 4),
        ("fast", 6, 1, 4),
        # Sums of doubles, as in the source, take twice the registers.
        ("bounded", 7, 7, 2),
    ],
)
def test_iterations_take_turns_with_the_sums_of_lanes(
    numerics: Numerics, height: int, width: int, arrays: int, tmp_path: Path
) -> None:
    sizes = {"nImg": 2, "nChannels": 32, "height": height, "width": width}
    scop = pipeline.parse(EXAMPLES / "bnorm_train.c", defines=sizes)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, numerics=numerics)
    generated = pipeline.generate_variants(scop, machine=machine, max_variants=12, numerics=numerics)
    made = [each for each in generated if each.rewrites]
    kernels = {}
    for variant in made:
        kernel = pipeline.kernel(space.apply(variant), 64)
        if f"polydl_row0_{arrays - 1}[c] +=" in kernel.c and f"polydl_row0_{arrays}" not in kernel.c:
            kernels[kernel.c[kernel.c.index("polydl_row0") :].splitlines()[0]] = kernel
    assert kernels
    built = EXECUTOR.build([original(scop), *kernels.values()], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=policy, most_error=space.most_error)
    assert [each.message for each in measured if each.status != "ok"] == []


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("example", ["bnorm_nchw", "bnorm_nhwc", "bnorm_residual"])
def test_the_command_fuses_the_examples(example: str, tmp_path: Path) -> None:
    sizes = ["-D", "nImg=2", "-D", "nChannels=32", "-D", "height=6", "-D", "width=7"]
    options = ["--max-variants", "16", "--top-k", "2", "--out", str(tmp_path / "made"), "--records", str(tmp_path)]
    ended = CliRunner().invoke(main, ["fuse", str(EXAMPLES / f"{example}.c"), *sizes, *options])
    assert ended.exit_code == 0, ended.output
    assert "can be fused" in ended.output
    assert (tmp_path / "made" / f"{example}_polydl.c").exists()


@pytest.mark.slow
def test_nests_that_share_all_of_their_loops_are_ranked(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(nests("nhwc", True, False, {"n": 2, "h": 6, "w": 7, "c": 32}))
    scop = pipeline.parse(path)
    machine = Machine.detect(threads=1)
    made = pipeline.generate_variants(scop, machine=machine, max_variants=16)
    assert len(pipeline.rank(scop, made, machine=machine).entries) == len(made)
