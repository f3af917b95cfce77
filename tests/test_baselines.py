"""The builds of the plain nest that speed-ups are over, and where its loops get OpenMP's directive."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import jsonschema
import numpy as np
import pytest
from computed import parse as parsed
from machines import detected
from marks import parametrized

import polydl
import polydl.outcome.baselines
from polydl.codegen.parallel_source import asking, own_threads, with_parallel_loops
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.interface import Interface, Prototype
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Status
from polydl.optimization.plain_builds import fast_flags, plain_builds
from polydl.outcome.baselines import Baseline, PlainBuild, fastest, speedup
from polydl.page.reading import read_run
from polydl.page.render import run_page
from polydl.poly.dependences import dependences
from polydl.presentation.answer import answer_text
from polydl.report.documents import optimization_document

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "optimize.schema.json").read_text(encoding="utf-8"))
GCC = Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ("-O3", "-fopenmp"))
DOT = """\
void rows(float out[16], const float a[16][24], const float x[24]) {
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 24; ++j)
      out[i] += a[i][j] * x[j];
#pragma endscop
}
"""
COUNTERS_OUTSIDE = """\
void rows(float out[16], const float a[16][24], const float x[24]) {
  int i, j;
  float sum, last;
#pragma scop
  for (i = 0; i < 16; i++) {
    sum = 0;
    for (j = 0; j < 24; j++)
      sum += a[i][j] * x[j];
    last = sum * 2; /* for (i = 0; */
    out[i] = last;
  }
#pragma endscop
}
"""
STEPS = """\
void steps(float a[6][16], float sum[1]) {
#pragma scop
  for (int t = 1; t < 6; ++t) {
    for (int i = 0; i < 16; ++i)
      a[t][i] = a[t - 1][i] * 0.5f;
    for (int i = 0; i < 16; ++i)
      sum[0] += a[t][i];
  }
  for (int one = 0; one < 1; ++one)
    for (int i = 0; i < 16; ++i)
      a[one][i] += 1;
#pragma endscop
}
"""
# An inner variable has the name of an outer one: the text doesn't say which of them is assigned.
SHADOWED = COUNTERS_OUTSIDE.replace("last = sum * 2;", "last = 0; { float last = sum; out[i] = last; }").replace(
    "out[i] = last;\n  }\n#", "out[i] += last;\n  }\n#"
)
ONE_IMAGE = """\
void rows(float out[1][16], const float a[16][24], const float x[24]) {
#pragma scop
#pragma omp parallel for
  for (int n = 0; n < 1; ++n)
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 24; ++j)
        out[n][i] += a[i][j] * x[j];
#pragma endscop
}
"""
# What a function that the region might call does.
TEAM = """\
static void team(float x[24]) {
#pragma omp parallel for
  for (int i = 0; i < 24; ++i)
    x[i] = 0;
}
"""
DIRECTED = DOT.replace("  for (int i", "#pragma omp parallel for\n  for (int i")


def directives(tmp_path: Path, text: str, threads: int = 4) -> list[str]:
    """The loop behind each directive, with its clauses."""
    scop = parsed(tmp_path, text)
    directed = with_parallel_loops(scop, dependences(scop), threads)
    if directed is None:
        return []
    source = directed.text()
    assert directed.text("q()") == source.replace("parallel for", "parallel for if (parallel: q())")
    added = re.findall(r"#pragma omp parallel for(.*)\n\s*(for \([^;]*)", source)
    assert re.sub(r"#pragma omp parallel for.*\n\s*(?=for)", "", source) == text
    return [f"{loop}{clauses}" for clauses, loop in added]


def test_the_outermost_loops_that_are_proved_parallel_get_a_directive(tmp_path: Path) -> None:
    assert directives(tmp_path, DOT) == ["for (int i = 0"]
    assert directives(tmp_path, STEPS) == ["for (int i = 0", "for (int i = 0"]


@pytest.mark.parametrize(
    ("directive", "asks"),
    [
        ("#pragma omp parallel for simd schedule(static)", "#pragma omp parallel for simd IF schedule(static)"),
        ("#pragma omp parallel \\\n  for collapse(2)", "#pragma omp parallel \\\n  for IF collapse(2)"),
        ("#pragma omp parallel", "#pragma omp parallel IF"),
        ("#pragma omp parallel master", "#pragma omp parallel master IF"),
        ("#pragma omp parallel for num_threads(2)", ""),
        ("#pragma omp parallel for if (n > 4)", ""),
        ("#pragma omp simd", ""),
        # The name in the next line is a variable's.
        ("#pragma omp\nparallel += 1;", ""),
    ],
)
def test_directives_that_make_threads_ask_behind_their_names(directive: str, asks: str) -> None:
    text = f"  x = 1;\n{directive}\n  for (int i = 0; i < n; ++i)\n    a[i] = x;\n"
    wanted = text.replace(directive, asks.replace("IF", "if (parallel: q())")) if asks else text
    assert asking(text, "q()") == wanted


FEW_IN_FEW = """\
void rows(float out[2][16], const float a[16][24], const float x[24]) {
#pragma scop
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 24; ++j)
        out[n][i] += a[i][j] * x[j];
#pragma endscop
}
"""


def test_without_loops_of_enough_iterations_those_with_most_get_a_directive(tmp_path: Path) -> None:
    assert directives(tmp_path, DOT, threads=17) == ["for (int i = 0"]
    assert directives(tmp_path, FEW_IN_FEW, threads=2) == ["for (int n = 0"]
    assert directives(tmp_path, FEW_IN_FEW, threads=16) == ["for (int i = 0"]
    assert directives(tmp_path, FEW_IN_FEW, threads=17) == ["for (int i = 0"]
    assert directives(tmp_path, STEPS, threads=64) == ["for (int i = 0", "for (int i = 0"]
    once = DOT.replace("16", "1")
    assert directives(tmp_path, once, threads=2) == []


def test_what_a_loop_assigns_is_kept_by_each_thread(tmp_path: Path) -> None:
    assert directives(tmp_path, COUNTERS_OUTSIDE) == ["for (i = 0 lastprivate(sum, j, last)"]


@pytest.mark.parametrize(
    "text",
    [
        SHADOWED,
        DIRECTED,
        DOT.replace("int j = 0;", "int j = 0; /* \\\n*/")
        .replace("for", "FOR")
        .replace("void", "#define FOR for\nvoid"),
    ],
)
def test_there_is_no_directive_where_the_text_leaves_a_doubt(tmp_path: Path, text: str) -> None:
    assert directives(tmp_path, text) == []


@pytest.mark.parametrize(
    ("level", "flags"),
    [
        ("strict", ()),
        ("reassociated", ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")),
        ("bounded", ("-ffast-math",)),
        ("fast", ("-ffast-math",)),
    ],
)
def test_flags_reorder_only_what_the_level_admits(level: polydl.Numerics, flags: tuple[str, ...]) -> None:
    assert fast_flags(level) == flags


def test_builds_differ_in_flags_threads_and_directive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: ())
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    scop = parsed(tmp_path, DOT)
    named = {each.kernel.id: each for each in plain_builds(scop, GCC, 2, "bounded")}
    assert {name: each.name for name, each in named.items()} == {
        "original": "gcc -O3 -fopenmp",
        "original-threads": "gcc -O3 -fopenmp, omp parallel for",
        "original-dealt": "gcc -O3 -fopenmp -ftree-parallelize-loops=2",
        "plain": "gcc -O3 -fopenmp -ffast-math -mno-recip",
        "plain-threads": "gcc -O3 -fopenmp -ffast-math -mno-recip, omp parallel for",
        "plain-dealt": "gcc -O3 -fopenmp -ffast-math -mno-recip -ftree-parallelize-loops=2",
    }
    assert "#pragma omp parallel for" in named["plain-threads"].kernel.c
    assert named["plain"].kernel.c == named["original"].kernel.c
    assert [each.kernel.id for each in plain_builds(scop, GCC, 1, "bounded")] == ["original", "plain"]
    assert [each.kernel.id for each in plain_builds(scop, GCC, 1, "strict")] == ["original"]
    integers = parsed(tmp_path, DOT.replace("float", "int"))
    assert [each.kernel.id for each in plain_builds(integers, GCC, 1, "bounded")] == ["original"]
    directed = parsed(tmp_path, DIRECTED)
    both = plain_builds(directed, GCC, 2, "bounded")
    assert {each.kernel.id: each.threads for each in both} == {
        "original": 2,
        "original-one-thread": 1,
        "original-dealt": 2,
        "plain": 2,
        "plain-one-thread": 1,
        "plain-dealt": 2,
    }
    assert "#pragma omp" not in both[2].kernel.c
    assert both[1].name == "gcc -O3 -fopenmp, without its own directives"
    assert "#pragma omp" not in both[1].kernel.c
    assert "#pragma omp" not in both[1].region
    assert [each.threads for each in plain_builds(directed, GCC, 1, "bounded")] == [1, 1]


@pytest.mark.parametrize(
    ("kind", "level", "machine", "flags"),
    [
        ("gcc", "bounded", "x86_64", "-ffast-math -mno-recip"),
        ("gcc", "fast", "x86_64", "-ffast-math"),
        ("gcc", "bounded", "aarch64", "-ffast-math"),
        ("clang", "bounded", "x86_64", "-ffast-math -mrecip=none"),
        ("clang", "bounded", "aarch64", "-ffast-math -mrecip=none"),
        ("clang", "bounded", "riscv64", "-ffast-math"),
    ],
)
def test_reciprocals_are_estimated_at_fast_alone(
    kind: Literal["gcc", "clang"],
    level: polydl.Numerics,
    machine: str,
    flags: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: ())
    monkeypatch.setattr("platform.machine", lambda: machine)
    _, plain = plain_builds(parsed(tmp_path, DOT), replace(GCC, kind=kind), 1, level)
    assert plain.name == f"{kind} -O3 -fopenmp {flags}"


def test_every_build_may_be_what_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = Toolchain(Path("/usr/bin/clang"), "clang", "14.0.6", GCC.flags)
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: (clang,))
    builds = [each.kernel.id for each in plain_builds(parsed(tmp_path, DOT), GCC, 2, "bounded")]
    assert [name for name in builds if "clang" in name]
    pattern = SCHEMA["properties"]["best"]["properties"]["id"]["pattern"]
    assert [name for name in builds if not re.fullmatch(pattern, name)] == []


def test_directives_before_too_few_iterations_are_no_reason_to_compare_with_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: ())
    builds = {each.kernel.id: each for each in plain_builds(parsed(tmp_path, ONE_IMAGE), GCC, 2, "bounded")}
    assert {name: each.threads for name, each in builds.items()} == {
        "original": 1,
        "original-threads": 2,
        "original-dealt": 2,
        "plain": 1,
        "plain-threads": 2,
        "plain-dealt": 2,
    }
    assert builds["plain-threads"].name.endswith(", omp parallel for in place of its own")
    added = re.findall(r"#pragma omp.*\n *for.*", builds["plain-threads"].kernel.c)
    assert added == ["#pragma omp parallel for\n    for (int i = 0; i < 16; ++i)"]
    assert "#pragma omp" not in builds["plain-dealt"].kernel.c
    assert "#pragma omp parallel for" in builds["original"].kernel.c


@pytest.mark.parametrize(
    ("directive", "threads"),
    [
        ("#pragma omp parallel for", 1),
        ("#pragma omp parallel for \\\n    collapse(2)", 4),
        ("#pragma omp simd", 1),
        ("/*\n#pragma omp parallel for\n*/", 1),
        ("#pragma omp target", 4),
    ],
)
def test_threads_of_the_source_as_it_is_are_counted(tmp_path: Path, directive: str, threads: int) -> None:
    text = ONE_IMAGE.replace("#pragma omp parallel for", directive)
    assert own_threads(parsed(tmp_path, text), 4) == threads


def test_threads_around_the_region_stay_the_only_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: ())
    around = ONE_IMAGE.replace("#pragma scop", "#pragma omp parallel\n#pragma omp single\n{\n#pragma scop")
    around = around.replace("#pragma omp parallel for\n", "").replace("#pragma endscop", "#pragma endscop\n}")
    builds = plain_builds(parsed(tmp_path, around), GCC, 2, "bounded")
    assert [(each.kernel.id, each.threads) for each in builds] == [("original", 2), ("plain", 2)]


def test_a_function_that_is_left_out_of_the_source_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: ())
    alone = plain_builds(parsed(tmp_path, ONE_IMAGE), GCC, 2, "bounded")
    behind = plain_builds(parsed(tmp_path, f"{TEAM}{ONE_IMAGE}"), GCC, 2, "bounded")
    assert [(each.name, each.threads, each.region) for each in behind] == [
        (each.name, each.threads, each.region) for each in alone
    ]
    assert "original-threads" in {each.kernel.id for each in behind}


def test_the_other_compiler_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = Toolchain(Path("/usr/bin/clang"), "clang", "14.0.6", ("-O3", "-fopenmp"))
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: (clang,))
    exact = [
        ("original", "gcc"),
        ("original-threads", "gcc"),
        ("original-dealt", "gcc"),
        ("original-clang-14.0.6", "clang"),
        ("original-clang-14.0.6-threads", "clang"),
    ]
    builds = plain_builds(parsed(tmp_path, DOT), GCC, 2, "strict")
    assert [(each.kernel.id, each.toolchain.kind) for each in builds] == exact
    builds = plain_builds(parsed(tmp_path, DOT), GCC, 2, "bounded")
    everyone = {(each.kernel.id, each.toolchain.kind) for each in builds}
    assert everyone == {*exact, *((name.replace("original", "plain"), kind) for name, kind in exact)}
    assert all(("-ffast-math" in each.name) == each.kernel.id.startswith("plain") for each in builds)


def timed(identity: str, seconds: float, status: Status = "ok") -> Baseline:
    kernel = KernelSource(identity, "f", "", Interface("f", Prototype("void f(void)")), "")
    time = seconds if status == "ok" else None
    return Baseline(PlainBuild(identity, kernel, GCC), Measurement(identity, status, seconds_median=time))


def test_a_speedup_is_over_the_fastest_correct_build() -> None:
    baselines = [timed("original", 4.0), timed("plain", 2.0), timed("plain-threads", 1.0, "wrong")]
    assert fastest(baselines) == baselines[1]
    assert speedup(Measurement("x", "ok", seconds_median=0.5), baselines) == pytest.approx(4.0)
    assert speedup(Measurement("x", "crash"), baselines) is None
    assert fastest([]) is None


@pytest.mark.native
@parametrized("text", [ONE_IMAGE, DOT, COUNTERS_OUTSIDE, STEPS], quick=1)
def test_every_build_is_verified(tmp_path: Path, text: str) -> None:
    scop = parsed(tmp_path, text)
    toolchain = Toolchain.find("gcc")
    builds = plain_builds(scop, toolchain, 2, "reassociated")
    assert {each.kernel.id for each in builds} >= {"original", "plain", "plain-threads", "plain-dealt"}
    assert any(each.toolchain.kind == "clang" for each in builds) or shutil.which("clang") is None
    built = [EXECUTOR.build([each.kernel], each.toolchain, tmp_path)[0] for each in builds]
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=policy)
    assert {each.status for each in measured} == {"ok"}


@pytest.mark.slow
@pytest.mark.native
def test_results_name_what_the_speedup_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scop = parsed(tmp_path, DOT)
    machine = polydl.Machine.detect(cache_sizes="32K,1M", threads=1)
    monkeypatch.setattr("polydl.outcome.baselines.times_as_fast", lambda measurement, other: 2.0)
    result = polydl.optimize(scop, machine=machine, max_variants=4, top_k=1, records=tmp_path / "records")
    assert [each.build.kernel.id for each in result.baselines][:2] == ["original", "plain"]
    assert result.baseline in result.baselines
    assert result.winner is not None
    assert result.plain is None
    again = polydl.optimize(scop, machine=machine, max_variants=4, top_k=1, records=tmp_path / "records")
    assert all(each.record is not None for each in again.baselines)
    assert [each.name for each in again.baselines] == [each.name for each in result.baselines]
    assert [each.seconds for each in again.baselines] == pytest.approx([each.seconds for each in result.baselines])


@pytest.mark.slow
@pytest.mark.native
def test_the_plain_nest_is_emitted_where_no_variant_is_as_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.outcome.baselines.times_as_fast", lambda measurement, other: 0.5)
    monkeypatch.setattr(
        "polydl.outcome.baselines.fastest",
        lambda baselines: next((each for each in baselines if each.build.kernel.id == "plain-threads"), None),
    )
    monkeypatch.setattr("polydl.outcome.outcome.fastest", polydl.outcome.baselines.fastest)
    scop = parsed(tmp_path, COUNTERS_OUTSIDE)
    machine = detected("32K,1M", threads=2)
    result = polydl.optimize(scop, machine=machine, max_variants=4, top_k=1, records=False, out=tmp_path / "out")
    assert result.plain is result.baseline is not None
    assert result.speedup == 1.0
    text = result.source
    assert "no variant that was measured is as fast" in text
    assert "#pragma omp parallel for if (parallel: polydl_between()) lastprivate(sum, j, last)" in text
    assert "-ffast-math" in text
    lines = (tmp_path / "out" / "README.txt").read_text().splitlines()
    linked = [line.split("&&")[-1] for line in lines if "-shared" in line]
    assert linked
    assert all("-ffast-math" not in line for line in linked)
    told = re.search(r"compiled with ([^.]*)\.", " ".join(" ".join(lines).split()))
    assert told is not None
    assert "-ffast-math" in told[1]
    document = optimization_document(result)
    jsonschema.validate(document, SCHEMA)
    assert document["best"]["plain"]
    assert answer_text(document, verbose=False).startswith("Winner  the plain nest, ")
    assert "No variant is as fast as the plain nest" in run_page(read_run(document, "x.c"))
    a, x = np.random.rand(16, 24).astype(np.float32), np.random.rand(24).astype(np.float32)
    out = np.zeros(16, np.float32)
    result.best(out=out, a=a, x=x)
    np.testing.assert_allclose(out, 2 * a @ x, rtol=1e-5)
    assert linked_fast_math(result.files["library"]) is False


def linked_fast_math(library: Path) -> bool:
    """Whether loading the library makes its process take subnormal numbers as zeros."""
    program = (
        "import ctypes, sys\nctypes.CDLL(sys.argv[1])\nimport numpy as np\n"
        "print((np.array([2e-308]) / np.array([16.0]))[0] == 0)"
    )
    said = subprocess.run([sys.executable, "-c", program, str(library)], capture_output=True, text=True, check=True)
    return said.stdout.strip() == "True"
