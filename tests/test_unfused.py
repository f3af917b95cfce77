"""Code without fusion: each operator of a file stays a nest of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from marks import parametrized

import polydl
from polydl.cli import main
from polydl.ir.variant import Attach
from polydl.machine import Machine
from polydl.plan.rewrite_steps import is_fused
from polydl.variants.rewrites.fuse import Fuse

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("second_level")]

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZES = {"nImg": 2, "nChannels": 32, "height": 6, "width": 7}
CONVOLUTION = """
void f(float out[2][1][8][8][16], const float in[2][1][10][10][16], const float flt[1][1][3][3][16][16]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 8; x++)
        for (int k = 0; k < 16; k++)
          out[n][0][y][x][k] = 0.0f;
  for (int n = 0; n < 2; n++)
    for (int y = 0; y < 8; y++)
      for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++)
          for (int x = 0; x < 8; x++)
            for (int k = 0; k < 16; k++)
              for (int c = 0; c < 16; c++)
                out[n][0][y][x][k] += flt[0][0][ky][kx][c][k] * in[n][0][y + ky][x + kx][c];
  for (int n = 0; n < 2; n++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 8; x++)
        for (int k = 0; k < 16; k++)
          out[n][0][y][x][k] = out[n][0][y][x][k] > 0.0f ? out[n][0][y][x][k] : 0.0f;
#pragma endscop
}
"""


@parametrized(("example", "nests", "run"), [("bnorm_relu.c", 2, False), ("bnorm_train.c", 6, True)], quick=1)
def test_no_variant_without_fusion_fuses_operators(example: str, nests: int, run: bool) -> None:
    machine = Machine.detect(threads=1)
    options: dict[str, Any] = {"machine": machine, "max_variants": 40, "top_k": 2, "records": False}
    found = polydl.optimize(EXAMPLES / example, defines=SIZES, fuse=False, run=run, **options)
    variants = [entry.variant for entry in found.ranking.entries]
    assert variants
    assert not any(isinstance(step, Fuse | Attach) for variant in variants for step in variant.scop_steps)
    assert len(found.space.nests) == nests, "as many as there are in the source"
    if run:
        assert found.winner is not None
        assert {each.measurement.status for each in found.tried} == {"ok"}
    fused = polydl.optimize(EXAMPLES / example, defines=SIZES, run=False, **options)
    assert any(is_fused(fused.scop, entry.variant) for entry in fused.ranking.entries)


@pytest.mark.slow
def test_a_convolution_without_fusion_still_overwrites_zeros(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(CONVOLUTION)
    found = polydl.optimize(
        path, machine=Machine.detect(threads=1), max_variants=60, top_k=3, fuse=False, records=False
    )
    variants = [entry.variant for entry in found.ranking.entries]
    fusions = [step for variant in variants for step in variant.scop_steps if isinstance(step, Fuse | Attach)]
    assert all(isinstance(step, Attach) and step.place == "first" for step in fusions)
    assert any(isinstance(step, Attach) and step.statement == "S0" for step in fusions)
    left = [found.applied(variant).executed[0] for variant in variants]
    assert any(len(scop.statements) == 2 for scop in left), "the first call on a tile writes it"
    assert {each.measurement.status for each in found.tried} == {"ok"}


@pytest.mark.slow
def test_with_and_without_fusion_are_two_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["optimize", str(EXAMPLES / "bnorm_relu.c"), *(f"-D{name}={value}" for name, value in SIZES.items())]
    words += ["--max-variants", "8", "--top-k", "1", "--threads", "1", "--records", "kept", "--json", "-"]

    def run(*more: str) -> dict[str, Any]:
        assert main.main([*words, *more], standalone_mode=False) == 0
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return document

    def fuses(document: dict[str, Any]) -> bool:
        return any(step["step"] == "fuse" for each in document["candidates"] for step in each["steps"])

    assert fuses(run())
    apart = run("--no-fusion")
    assert not apart["records"]["answered"]
    assert not fuses(apart)
    again = run("--no-fusion")
    assert again["records"]["answered"]
    assert again["best"] == apart["best"]
    assert again["seconds"] == apart["seconds"], "for the page: where the time went"
    assert run()["records"]["answered"]
