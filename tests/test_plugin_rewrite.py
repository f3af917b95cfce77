"""The example of docs/guide/adding-a-rewrite.md, taken from the page, installed as a plug-in and checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from computed import check_kernels, parse
from documents import install, write_files
from machines import detected

from polydl import pipeline, registry
from polydl.errors import IllegalVariantError, OptionError
from polydl.ir.variant import Interchange, Tile, Variant
from polydl.plan.apply import apply
from polydl.plan.rewrite_steps import description, families, is_fused
from polydl.rewrite_contract import Rewrite
from polydl.step_schema import step_schema
from polydl.variant_json import variant_from_json

PAGE = "docs/guide/adding-a-rewrite.md"
# A Gauss-Seidel stencil: time steps over a grid that is updated in place.
SEIDEL = """
void seidel(float A[40][44]) {
#pragma scop
  for (int t = 0; t < 12; t++)
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 43; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                   + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0f;
#pragma endscop
}
"""
STEPS = [
    {"step": "skew", "statement": "S0", "loop": "i", "outer": "t", "factor": 1},
    {"step": "skew", "statement": "S0", "loop": "j", "outer": "t", "factor": 1},
    {"step": "skew", "statement": "S0", "loop": "j", "outer": "i", "factor": 1},
]
TILED = (
    Tile(0, "t", (4,)),
    Tile(0, "i", (8,)),
    Tile(0, "j", (16,)),
    Interchange(0, ("t_t1", "i_t1", "j_t1", "t", "i", "j")),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("plugin")
    write_files(PAGE, directory)
    install(directory)
    return directory


@pytest.fixture
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(project)
    yield project
    sys.modules.pop("polydl_skew", None)


def test_it_is_one_file_and_one_entry_point(project: Path) -> None:
    assert sorted(path.name for path in project.glob("*.*") if path.is_file()) == ["polydl_skew.py", "pyproject.toml"]


def test_the_registry_finds_it_after_the_built_in_ones(installed: Path) -> None:
    assert registry.names("rewrites") == (*registry.GROUPS["rewrites"], "skew")


@pytest.mark.parametrize("name", registry.GROUPS["rewrites"])
def test_built_in_rewrites_have_the_name_of_their_step_and_every_member(name: str) -> None:
    rewrite = registry.load("rewrites", name)
    assert rewrite.step.json_name == name
    members = [member for member in vars(Rewrite) if not member.startswith("_")]
    assert len(members) >= 6
    assert [member for member in members if not hasattr(rewrite, member)] == []


def test_it_has_every_member_of_the_contract(installed: Path) -> None:
    rewrite = registry.load("rewrites", "skew")
    assert [name for name in vars(Rewrite) if not name.startswith("_") and not hasattr(rewrite, name)] == []


def test_steps_go_to_json_and_back_and_follow_the_schema(installed: Path) -> None:
    variant = variant_from_json(STEPS)
    assert variant.to_json() == STEPS
    assert families(variant.rewrites) == {"skewing"}
    schema = step_schema()
    for step in STEPS:
        jsonschema.validate(step, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**step, "factor": 0}, schema)
    with pytest.raises(OptionError, match="wrong fields"):
        variant_from_json([{"step": "skew", "by": 1}])


def test_without_the_distribution_the_step_is_unknown() -> None:
    with pytest.raises(OptionError, match="unknown step 'skew'"):
        variant_from_json(STEPS)


@pytest.mark.native
def test_a_skewed_stencil_can_be_tiled_and_computes_the_same(installed: Path, tmp_path: Path) -> None:
    scop = parse(tmp_path, SEIDEL)
    with pytest.raises(IllegalVariantError, match="dependence on `A`"):
        apply(scop, Variant(TILED), ())
    skewed = apply(scop, Variant((*variant_from_json(STEPS).steps, *TILED)), ())
    statement = skewed.scop.statement("S0")
    assert statement.box is None
    assert statement.instances == 12 * 38 * 42
    assert apply(scop, skewed.variant, (), numerics="strict").violations == ()
    check_kernels(tmp_path, scop, [pipeline.kernel(skewed, 32)])


@pytest.mark.slow
@pytest.mark.native
def test_it_is_proposed_and_described(installed: Path, tmp_path: Path) -> None:
    scop = parse(tmp_path, SEIDEL)
    machine = detected(threads=2)
    space = pipeline.space_on(scop, machine)
    ours = [each for each in space.alternatives if "skewing" in families(each.rewrites)]
    assert [[step.json_name for step in each.rewrites] for each in ours] == [["skew"] * 3]
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=40)
    skewed = [variant for variant in variants if "skewing" in families(variant.rewrites)]
    assert skewed
    assert {variant_from_json(variant.to_json()) for variant in skewed} == set(skewed)
    assert any(isinstance(step, Tile) for variant in skewed for step in variant.steps)
    assert not any(is_fused(scop, variant) for variant in skewed)
    text = description(scop, skewed[0].rewrites[0])
    assert text == "i of S0 shifted by 1 for each iteration of t"
    check_kernels(tmp_path, scop, [pipeline.kernel(space.apply(each), machine.vector_bytes) for each in skewed[:6]])


@pytest.mark.parametrize(
    ("loops", "reason"), [(("t", "i"), "inside of"), (("x", "t"), "inside of"), (("i", "i"), "inside of")]
)
def test_a_step_that_does_not_fit_is_refused(
    loops: tuple[str, str], reason: str, installed: Path, tmp_path: Path
) -> None:
    scop = parse(tmp_path, SEIDEL)
    step = {**STEPS[0], "loop": loops[0], "outer": loops[1]}
    with pytest.raises(IllegalVariantError, match=reason):
        apply(scop, variant_from_json([step]), ())


@pytest.mark.slow
@pytest.mark.native
def test_it_carries_a_whole_job(project: Path, quick_command: Path, tmp_path: Path) -> None:
    source = tmp_path / "seidel.c"
    source.write_text(SEIDEL)
    command = [
        str(quick_command),
        *("optimize", str(source), "--threads", "1", "--top-k", "3", "--max-variants", "20"),
        *("--out", str(tmp_path / "out"), "--json", "-"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(project)})
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert {each["status"] for each in document["candidates"]} == {"ok"}
    assert any(step["step"] == "skew" for each in document["candidates"] for step in each["steps"])
