"""What depends on constants alone: found, proved, left out of predictions, and used by the emitted functions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from computed import check_kernels, parse
from machines import machine_with

import polydl
from polydl import pipeline
from polydl.codegen.header import header
from polydl.errors import ArgumentError, IllegalVariantError, OptionError
from polydl.execute.arrays import Data
from polydl.execute.callable import LoadedKernel, load
from polydl.execute.contract import Built, Executor, TimingPolicy
from polydl.execute.exactness import compare_exactly
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.frontend.constants import with_constants
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Status
from polydl.ir.scop import Scop
from polydl.ir.variant import Tile, UseMicrokernel, Variant
from polydl.microkernels.amx import AMX
from polydl.microkernels.amx_groups import AMX_GROUPS
from polydl.optimization.measuring import timing_policy
from polydl.optimization.unprepared import with_unprepared
from polydl.outcome.tried import Tried
from polydl.plan.apply import Applied
from polydl.plan.prepared import Prepared, proved
from polydl.presentation.answer import answer_text
from polydl.report.documents import optimization_document
from polydl.variants.build_space import build_space
from polydl.variants.rewrites.pack_panels import PackPanels
from polydl.variants.rewrites.split import Split

MACHINE = machine_with(1, 64)
PRODUCT = """\
void product(float c[32][128], const float a[32][64], const float b[64][128])
{
#pragma scop
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 128; j++)
      for (int k = 0; k < 64; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
PACKED = Variant(
    (
        Split("S0", "j", 64),
        PackPanels("S0", "b", ("j_block", "k", "j")),
        Tile(1, "i", (16,)),
        UseMicrokernel(1, "c", "j", "i", "k", (), ()),
    )
)


def product(tmp_path: Path, *constants: str) -> Scop:
    return with_constants(parse(tmp_path, PRODUCT), constants)


LAYER = """\
#include <polydl/bfloat16.h>
void layer(float y[128][256], const bfloat16 x[128][512], const bfloat16 w[256][512])
{
#pragma scop
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 256; j++)
      for (int k = 0; k < 512; k++)
        y[i][j] += bfloat16_to_float(x[i][k]) * bfloat16_to_float(w[j][k]);
#pragma endscop
}
"""


@pytest.mark.parametrize(
    "constants", [(), pytest.param(("w",), marks=pytest.mark.amx)], ids=["given each time", "constant"]
)
def test_constants_of_bfloat16_are_packed_in_pairs(constants: tuple[str, ...], tmp_path: Path) -> None:
    scop = with_constants(parse(tmp_path, LAYER), constants)
    space = build_space(scop, (AMX, AMX_GROUPS), MACHINE)
    every = [space, *space.alternatives]
    pairs = [each for each in every if any(isinstance(s, Split) and s.size == 2 for s in each.rewrites)]
    assert bool(pairs) == bool(constants)
    for each in pairs:
        assert any(isinstance(step, PackPanels) and step.array == "w" for step in each.rewrites)
        assert "c-amx-groups" in {report.kernel for report in each.reports}


def packed(scop: Scop) -> Applied:
    return pipeline.apply(scop, PACKED, machine=MACHINE)


def test_a_copy_of_a_constant_is_prepared(tmp_path: Path) -> None:
    part = packed(product(tmp_path, "b")).prepared
    assert part.statements == {"pack_b"}
    assert part.nests == {0}
    assert [array.name for array in part.arrays] == ["b_panels"]
    assert (part.offsets, part.bytes) == ((0,), 64 * 128 * 4)


@pytest.mark.parametrize("constants", [(), ("a",)])
def test_a_copy_of_what_may_change_is_not(tmp_path: Path, constants: tuple[str, ...]) -> None:
    assert packed(product(tmp_path, *constants)).prepared == Prepared()


TWO_STEPS = """\
float scale;
void scaled(float out[20], const float in[20], const float w[20])
{
  float inner[20], other[20], more[20];
#pragma scop
  for (int i = 0; i < 20; i++)
    inner[i] = w[i] * scale;
  for (int i = 0; i < 20; i++)
    other[i] = inner[i] + in[i];
  for (int i = 0; i < 20; i++)
    more[i] = inner[19 - i] * w[i];
  for (int i = 0; i < 20; i++)
    out[i] = other[i] * more[i];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("constants", "statements"),
    [(("w", "scale"), {"S0", "S2"}), (("w",), set()), (("scale",), set()), (("w", "scale", "in"), {"S0", "S1", "S2"})],
)
def test_what_prepared_arrays_feed_is_prepared_as_well(
    tmp_path: Path, constants: tuple[str, ...], statements: set[str]
) -> None:
    scop = with_constants(parse(tmp_path, TWO_STEPS), constants)
    assert pipeline.apply(scop, Variant(()), machine=MACHINE).prepared.statements == statements


def test_an_array_that_carries_values_out_is_not_prepared(tmp_path: Path) -> None:
    text = TWO_STEPS.replace("#pragma endscop\n", "#pragma endscop\n  out[0] += inner[0];\n")
    scop = with_constants(parse(tmp_path, text), ("w", "scale"))
    assert pipeline.apply(scop, Variant(()), machine=MACHINE).prepared == Prepared()


@pytest.mark.native
def test_constants_that_are_global_and_arrays_of_the_source(tmp_path: Path) -> None:
    scop = with_constants(parse(tmp_path, TWO_STEPS), ("w", "scale"))
    kernel = pipeline.kernel(pipeline.apply(scop, Variant(()), machine=MACHINE), 32)
    assert "void scaled_prepare(const float w[20], void *prepared);" in header(kernel.interface)
    check_kernels(tmp_path, scop, [kernel], threads=1)


def test_the_proof_refuses_what_depends_on_other_statements(tmp_path: Path) -> None:
    applied = packed(product(tmp_path, "b"))
    dependences = applied.rewritten.dependences
    proved(applied.scop, applied.prepared, dependences)
    with pytest.raises(IllegalVariantError, match="dependence on `b_panels` from pack_b"):
        proved(applied.scop, Prepared(frozenset({"S0"})), dependences)


def test_what_is_prepared_costs_nothing(tmp_path: Path) -> None:
    scops = product(tmp_path), product(tmp_path, "b")
    whole, run = (pipeline.candidates(scop, [PACKED], machine=MACHINE)[0] for scop in scops)
    assert whole.cycles[0] > 0
    assert run.cycles == (0.0, whole.cycles[1])
    assert run.traffic[0] == (0, 0, 0)
    assert whole.footprint - run.footprint == 64 * 128 * 4
    assert [use.nest for use in run.microkernels] == [1]


def test_panels_of_constants_are_proposed_however_small(tmp_path: Path) -> None:
    def panels(scop: Scop) -> list[str]:
        space = pipeline.space_on(scop, MACHINE, microkernel="c")
        steps = (step for each in space.alternatives for step in each.rewrites)
        return [step.array for step in steps if isinstance(step, PackPanels)]

    assert panels(product(tmp_path)) == []
    assert "b" in panels(product(tmp_path, "b"))


def test_constants_are_part_of_what_a_nest_is(tmp_path: Path) -> None:
    digests = {product(tmp_path, *names).digest for names in ((), ("a",), ("b",), ("a", "b"))}
    assert len(digests) == 4
    assert product(tmp_path, "b", "a").constants == ("a", "b")


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("d", "no parameter or global array 'd'", "one of a, b"),
        ("c", "the nest writes `c`", "one of a, b"),
    ],
)
def test_what_can_be_no_constant_is_refused(tmp_path: Path, name: str, message: str, remedy: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        product(tmp_path, name)
    assert caught.value.remedy == remedy
    assert product(tmp_path, *remedy.removeprefix("one of ").split(", ")).constants == ("a", "b")


def test_a_constant_that_the_function_may_change_is_refused(tmp_path: Path) -> None:
    text = PRODUCT.replace("const float b", "float b").replace("#pragma scop", "  b[0][0] = 1;\n#pragma scop")
    with pytest.raises(OptionError, match="before the region") as caught:
        with_constants(parse(tmp_path, text), ["b"])
    assert "leave it out" in (caught.value.remedy or "")


def test_a_fixed_size_is_no_constant(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text("void f(int n, float x[n]) {\n for (int i = 0; i < n; i++)\n  x[i] = 2 * x[i];\n}\n")
    with pytest.raises(OptionError, match="`n` is fixed by -D"):
        with_constants(pipeline.parse(path, defines={"n": 8}), ["n"])


def test_the_header_has_both_functions(tmp_path: Path) -> None:
    code = pipeline.kernel(packed(product(tmp_path, "b")), 64, "fast")
    text = header(code.interface)
    for line in (
        "size_t fast_prepared_bytes(void);",
        "void fast_prepare(const float b[64][128], void *prepared);",
        "void fast_run(float c[32][128], const float a[32][64], const float b[64][128], const void *prepared);",
    ):
        assert line in text
    assert "32,768 bytes" in " ".join(text.split())


CPP = """\
_Bool f(float *restrict new, float new_[32], const _Bool bool[32], const float (*restrict this)[32])
{
#pragma scop
  for (int i = 0; i < 32; i++)
    new[i] = bool[i] * this[i][i] + new_[i];
#pragma endscop
  return 1;
}
"""


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc -x c", "g++ -x c++ -std=c++11"])
def test_the_header_is_c_and_cpp(compiler: str, tmp_path: Path) -> None:
    scop = with_constants(parse(tmp_path, CPP), ["this", "bool"])
    text = header(pipeline.kernel(pipeline.apply(scop, Variant(()), machine=MACHINE), 32).interface)
    assert "bool f(float *new__, float new_[32], const bool bool_[32], const float (*this_)[32]);" in text
    (tmp_path / "f.h").write_text(text)
    command = [*compiler.split(), "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-include", "f.h", "/dev/null"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_code_without_constants_has_none_of_it(tmp_path: Path) -> None:
    code = pipeline.kernel(packed(product(tmp_path)), 64)
    assert code.interface.prepared is None
    assert "_prepare" not in code.c + code.harness + header(code.interface)


def test_constants_hold_the_same_in_both_checked_runs() -> None:
    def contents(stream: int, turn: int) -> list[float]:
        data = Data(3, signed=True, turn=turn, constant=(1,))
        return [value for _, chunk in data.chunks(stream, np.dtype(np.float32), 5) for value in chunk.tolist()]

    assert contents(1, 0) == contents(1, 1)
    assert contents(0, 0) != contents(0, 1)


@pytest.mark.native
def test_a_wrong_preparation_is_noticed(tmp_path: Path) -> None:
    scop = product(tmp_path, "b")
    kernel = pipeline.kernel(packed(scop), 64)
    right = "B_panels[B_0][B_1][B_2] = B[B_1]".replace("B_panels", "b_panels").replace("B", "b")
    assert right in kernel.c
    stale = replace(kernel, c=kernel.c.replace(right, right.replace("[b_1][b_2] = b[b_1]", "[b_1][b_2] = b[0]")))
    toolchain = Toolchain.find("gcc")
    assert compare_exactly(scop, kernel, toolchain, tmp_path / "right").verdict == "agrees"
    assert compare_exactly(scop, stale, toolchain, tmp_path / "wrong").verdict == "differs"


@pytest.mark.native
def test_sizes_and_results_of_the_source_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        "int twice(int n, float c[n][64], const float a[n][40], const float b[40][64])\n{\n  int done = 1;\n"
        "#pragma scop\n  for (int i = 0; i < n; i++)\n    for (int j = 0; j < 64; j++)\n"
        "      for (int k = 0; k < 40; k++)\n        c[i][j] += a[i][k] * b[k][j];\n#pragma endscop\n"
        "  return done + n;\n}\n"
    )
    scop = with_constants(pipeline.parse(path, defines={"n": 24}), ["b"])
    steps = (Split("S0", "j", 32), PackPanels("S0", "b", ("j_block", "k", "j")))
    applied = pipeline.apply(scop, Variant(steps), machine=MACHINE)
    kernel = pipeline.kernel(applied, 32)
    assert kernel.interface.prepared is not None
    assert (
        kernel.interface.prepared.prepare.text
        == "void twice_prepare(int n, const float b[n][64], void *prepared)".replace("b[n]", "b[40]")
    )
    check_kernels(tmp_path, scop, [kernel], threads=1)


def loaded(scop: Scop, directory: Path) -> LoadedKernel:
    (built,) = EXECUTOR.build([pipeline.kernel(packed(scop), 32)], Toolchain.find("gcc"), directory)
    assert built.library is not None, built.message
    return load(built.library, scop)


@pytest.mark.native
def test_weights_are_prepared_once_and_used_by_many(tmp_path: Path) -> None:
    kernel = loaded(product(tmp_path, "b"), tmp_path)
    random = np.random.default_rng(1)
    layers = [random.random((64, 128), np.float32) for _ in range(2)]
    prepared = [kernel.prepare(layers[0]), kernel.prepare(b=layers[1])]
    assert {each.prepared_bytes for each in prepared} == {64 * 128 * 4}

    def wrong(number: int) -> float:
        a = np.random.default_rng(number).random((32, 64), np.float32)
        first, second = np.zeros((32, 128), np.float32), np.zeros((32, 128), np.float32)
        prepared[number % 2](c=first, a=a)
        prepared[number % 2](second, a)
        expected = a @ layers[number % 2]
        return float(max(np.abs(first - expected).max(), np.abs(second - expected).max()))

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(wrong, range(16))) < 1e-4

    whole = np.zeros((32, 128), np.float32)
    a = random.random((32, 64), np.float32)
    kernel(c=whole, a=a, b=layers[0])
    np.testing.assert_allclose(whole, a @ layers[0], rtol=1e-4)
    with pytest.raises(ArgumentError, match="prepared already"):
        prepared[0](c=whole, a=a, b=layers[0])
    with pytest.raises(ArgumentError, match="missing a"):
        prepared[0](c=whole)
    with pytest.raises(ArgumentError, match="other arguments") as caught:
        kernel.prepare(a=a)
    assert "pass b" in (caught.value.remedy or "")
    with pytest.raises(ArgumentError, match="shape"):
        kernel.prepare(a)


@pytest.mark.native
def test_a_kernel_without_constants_prepares_none(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="made without constants") as caught:
        loaded(product(tmp_path), tmp_path).prepare(np.zeros((64, 128), np.float32))
    assert "constant=" in (caught.value.remedy or "")


class _Told:
    """An executor that runs nothing: what it measures has the status that it is told."""

    name = "told"

    def __init__(self, status: Status) -> None:
        self.status = status
        self.policies: list[TimingPolicy] = []

    def build(self, kernels: Sequence[KernelSource], toolchain: Toolchain, directory: Path) -> tuple[Built, ...]:
        return tuple(Built(each, directory, None, "", "", toolchain, 0.0) for each in kernels)

    def measure(
        self, candidates: Sequence[Built], reference: Built, scop: Scop, *, policy: TimingPolicy, **_: object
    ) -> tuple[Measurement, ...]:
        self.policies.append(policy)
        told = (Measurement(each.kernel.id, self.status, message="as told") for each in candidates)
        return Measurement(reference.kernel.id, "ok"), *told


@pytest.mark.parametrize("status", ["ok", "timeout", "unsupported", "wrong"])
def test_a_function_that_prepares_itself_is_emitted_only_if_it_passes(tmp_path: Path, status: Status) -> None:
    scop = product(tmp_path, "b")
    result = polydl.optimize(scop, machine=MACHINE, variants=(PACKED,), run=False, calibrate=False)
    kernel = pipeline.kernel(packed(scop), MACHINE.vector_bytes)
    tried = Tried(1, result.ranking.entries[0], kernel, Measurement(kernel.id, "ok", seconds_median=1e-3))
    toolchain = Toolchain(Path("cc"), "gcc", "13.2.0", ())
    result = replace(result, tried=(tried,), toolchain=toolchain)
    assert result.winner is tried

    told, policy = _Told(status), timing_policy(90.0, cold=True, limited=True)
    result = with_unprepared(result, cast(Executor, told), policy, 3)
    assert [(each.timeout_seconds, each.cold) for each in told.policies] == [(90.0, True)]
    if status == "ok":
        assert result.winner is tried
        assert result.unprepared is not None
    else:
        assert result.winner is None
        assert result.tried[0].measurement.status == status
        assert result.tried[0].measurement.message == "the function that prepares its constants itself: as told"


@pytest.mark.native
@pytest.mark.slow
def test_both_ways_are_verified_timed_and_reported(tmp_path: Path) -> None:
    machine = polydl.Machine.detect(threads=1)
    scop, out = parse(tmp_path, PRODUCT), tmp_path / "out"
    result = polydl.optimize(scop, machine=machine, constant=["b"], variants=(PACKED,), records=False, out=out)
    assert [each.measurement.status for each in result.tried] == ["ok"]
    assert result.unprepared is not None
    assert result.unprepared.status == "ok"
    assert result.exactness is None or result.exactness.verdict in ("agrees", "not applicable")
    assert result.prepare(np.zeros((64, 128), np.float32)).prepared_bytes == 64 * 128 * 4

    document = json.loads(json.dumps(optimization_document(result)))
    assert document["best"]["prepared"]["bytes"] == 64 * 128 * 4
    assert document["best"]["prepared"]["unprepared_seconds"] > 0
    assert "product_run, with 32KB prepared of b" in " ".join(answer_text(document, verbose=False).split())
    assert "product_prepare has prepared 32,768 bytes of b" in " ".join(result.source.replace("*", "").split())
    readme = " ".join((out / "README.txt").read_text(encoding="utf-8").split())
    assert "void product_prepare(const float b[64][128], void *prepared);" in readme
