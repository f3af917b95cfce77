"""Code for other processors than the one at hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import polydl
from polydl.emission.emit import Winner, write_kernel
from polydl.emission.target import TargetProcessors
from polydl.errors import MissingComponentError, OptionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.measurement import Measurement
from polydl.machine import Machine
from polydl.pipeline import kernel, microkernels

pytestmark = pytest.mark.native

PRODUCT = """\
void product(float c[16][32], const float a[16][8], const float b[8][32])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 32; ++j)
      for (int k = 0; k < 8; ++k)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""
# Its FMA4 and XOP were given up after it.
ONLY_OLD = "bdver4"


def optimized(folder: Path, march: str, **options: object) -> polydl.Optimization:
    path = folder / "product.c"
    path.write_text(PRODUCT)
    quick = {"top_k": 1, "max_variants": 3, "records": False}
    return polydl.optimize(path, out=folder, march=march, **{**quick, **options})  # type: ignore[arg-type]


@pytest.mark.slow
def test_code_for_lesser_processors_has_their_vectors(tmp_path: Path) -> None:
    result = optimized(tmp_path, "x86-64-v2")
    assert result.winner is not None
    assert result.machine.vector_bytes == 16
    assert not {"avx", "avx2", "fma", "avx512f"} & set(result.machine.isa)
    assert {use.name for use in result.winner.kernel.microkernels} <= {"c"}
    text = result.files["readme"].read_text()
    assert "gcc -O3 -march=x86-64-v2" in text or "clang -O3 -march=x86-64-v2" in text
    sets = re.search(r"That uses ([^.]*\.[^.]*)", " ".join(text.split()))
    assert sets is not None
    assert "SSE4" in sets[1]
    assert "AVX" not in sets[1]


def test_what_this_processor_lacks_is_written_and_not_run(tmp_path: Path) -> None:
    result = optimized(tmp_path, ONLY_OLD)
    assert result.winner is None
    assert not result.tried
    assert {"FMA4", "XOP"} <= set(result.lacking)
    assert "Neither run nor checked: the processor on which it was made lacks some of its instructions" in result.source
    assert "Rounding errors were not measured" in " ".join(result.files["header"].read_text().split())
    with pytest.raises(MissingComponentError, match="which this processor lacks"):
        _ = result.best


def test_what_was_checked_and_not_timed_says_so(tmp_path: Path) -> None:
    result = optimized(tmp_path, "", machine=replace(Machine.detect(), threads=1), run=False)
    variant, applied = result.ranking.entries[0].variant, result.applied(result.ranking.entries[0].variant)
    winner = Winner(
        result.scop,
        result.machine,
        kernel(applied, result.machine.vector_bytes),
        variant,
        Measurement(variant.id, "ok", complete=False),
        numerics=result.numerics,
        rounding=applied.rounding,
        baseline=None,
        rank=1,
        ranked=1,
        threads=1,
    )
    text = write_kernel(winner, Toolchain.find(), tmp_path / "out").paths["c"].read_text()
    assert "Checked, and not timed" in text
    assert "Neither run nor checked" not in text


def test_code_for_integers_says_nothing_of_rounding_errors(tmp_path: Path) -> None:
    path = tmp_path / "doubled.c"
    path.write_text("void doubled(int y[64], const int x[64]) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }\n")
    machine = replace(Machine.detect(), threads=2, cores=2)
    result = polydl.optimize(path, out=tmp_path, march=ONLY_OLD, machine=machine, max_variants=3)
    said = "bounded; integers alone, of which nothing is rounded."
    assert said in result.source
    assert said in " ".join(result.files["header"].read_text().split())
    assert "errors were not" not in result.source
    [variant] = [entry.variant for entry in result.ranking.entries[:1]]
    threads = "2 threads" if variant.threaded else "1 thread"
    assert f"\n * {threads}, on 20" in result.source


def test_the_machine_is_the_one_at_hand_but_for_its_instructions() -> None:
    machine = Machine.detect()
    target = TargetProcessors.find("x86-64-v2", machine)
    assert target.machine.caches == machine.caches
    assert target.machine.cycle_seconds == pytest.approx(machine.cycle_seconds, rel=0.5)
    assert not target.lacking
    assert {"sse4_2", "ssse3"} <= set(target.machine.isa)
    # Once more, it is the same.
    assert TargetProcessors.find("x86-64-v2", target.machine).machine == target.machine


@pytest.mark.parametrize(("asked", "given"), [("none", "none"), ("c", "c"), ("auto", "c,c-int16,c-int8")])
def test_microkernels_that_are_made_for_the_machine_at_hand_take_no_part(asked: str, given: str) -> None:
    assert TargetProcessors.find("x86-64-v2", Machine.detect()).microkernel(asked) == given


def test_a_microkernel_that_has_no_code_for_the_target_is_refused() -> None:
    target = TargetProcessors.find("x86-64-v2", Machine.detect())
    for name in ("libxsmm", "c-amx"):
        with pytest.raises(OptionError, match=f"{name} makes no code for x86-64-v2"):
            target.microkernel(name)


@pytest.mark.parametrize(
    ("march", "name", "lacked"),
    [
        ("cooperlake", "c-bf16", {"__AVX512BF16__"}),
        ("sapphirerapids", "c-amx", {"__AMX_TILE__", "__AMX_INT8__", "__AMX_BF16__"}),
        ("sapphirerapids", "c-amx", {"__AMXTILE__", "__AMXINT8__", "__AMXBF16__"}),
    ],
)
@pytest.mark.parametrize("lacking", [True, False])
def test_what_microkernels_need_is_asked_of_the_target(
    march: str, name: str, lacked: set[str], lacking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever this processor says; clang 14 writes the names of tile registers in its own way."""
    spelled = {each.replace("_", "") for each in lacked}

    def macros(toolchain: Toolchain) -> frozenset[str]:
        here = not any(march in flag for flag in toolchain.flags)
        others = {each for each in known(toolchain) if each.replace("_", "") not in spelled}
        return frozenset(others if here and lacking else others | lacked)

    known = Toolchain.macros
    monkeypatch.setattr(Toolchain, "macros", macros)
    monkeypatch.setattr("polydl.microkernels.bf16.cpu_flags", lambda: frozenset() if lacking else {"avx512_bf16"})
    monkeypatch.setattr("polydl.microkernels.amx._missing", lambda: "it lacks them" if lacking else None)
    target = TargetProcessors.find(march, Machine.detect())
    assert target.microkernel(name) == name
    assert target.machine.at_hand != (lacking or bool(target.lacking))
    assert [kernel.unavailable() for kernel in microkernels(name, machine=target.machine)] == [None]
    # Once more, it is the same.
    assert TargetProcessors.find(march, target.machine).machine == target.machine


def test_processors_that_the_compiler_does_not_know() -> None:
    with pytest.raises(OptionError, match="doesn't compile for nonsense") as caught:
        Toolchain.find(march="nonsense")
    assert caught.value.construct == "--march nonsense"
