"""The JSON documents, from results whose measurements are given."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from machines import machine_with
from marks import parametrized

import polydl
from polydl import pipeline, registry
from polydl.emitted_names import FILE_KINDS
from polydl.execute.toolchain import Toolchain
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource, MicrokernelUse
from polydl.ir.measurement import Measurement, Sample, Status
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Interchange, Parallel, Variant
from polydl.ir.working_sets import WorkingSets
from polydl.optimization.optimized import Optimization
from polydl.outcome.baselines import Baseline, PlainBuild
from polydl.outcome.tried import Tried
from polydl.page.reading import read_run
from polydl.page.views import lede, tiles
from polydl.poly.boxes import loop_ranges
from polydl.presentation.answer import answer_text
from polydl.report import documents
from polydl.report.results import level_sizes
from polydl.step_schema import with_steps
from polydl.variant_json import CORE_STEPS, variant_from_json

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "optimize.schema.json").read_text(encoding="utf-8"))

# Two nests: the second has a matrix product, the first no microkernel.
SOURCE = """\
void scaled(float C[32][24], float A[32][40], float B[40][24], float D[32][40]) {
#pragma scop
  for (int i = 0; i < 32; ++i)
    for (int k = 0; k < 40; ++k)
      A[i][k] = 2.0f * D[i][k];
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 24; ++j)
      for (int k = 0; k < 40; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def baseline(identity: str, seconds: float) -> Baseline:
    kernel = KernelSource(identity, "scaled", "", Interface("scaled"), "")
    toolchain = Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ("-O3",))
    measurement = Measurement(identity, "ok", seconds_minimum=seconds - 1e-6, seconds_median=seconds, error=0.0)
    return Baseline(PlainBuild(f"gcc -O3 ({identity})", kernel, toolchain), measurement)


BASELINES = (baseline("original", 1.8e-5), baseline("plain", 9e-6))
FLOPS = 32 * 40 + 2 * 32 * 24 * 40


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Optimization:
    path = tmp_path_factory.mktemp("report") / "scaled.c"
    path.write_text(SOURCE)
    machine = polydl.Machine.detect(cache_sizes="4K,64K", threads=1)
    return polydl.optimize(path, machine=machine, max_variants=10, run=False)


def tried(result: Optimization, rank: int, measurement: Measurement) -> Tried:
    entry = result.ranking.entries[rank - 1]
    source = pipeline.kernel(result.space.apply(entry.variant), result.machine.vector_bytes)
    return Tried(rank, entry, source, replace(measurement, id=source.id))


@pytest.fixture(scope="module")
def measured(ranked: Optimization) -> Optimization:
    """Three candidates: one slower than the other, one that crashed."""
    runs = (
        Measurement("", "ok", seconds_minimum=4e-6, seconds_median=5e-6, error=1e-7),
        Measurement("", "crash", message="killed\nin /tmp/place/x.c", source="/tmp/place/x.c", error=math.nan),
        Measurement("", "ok", seconds_minimum=2e-6, seconds_median=3e-6, error=2e-7),
    )
    return replace(
        ranked,
        baselines=BASELINES,
        tried=tuple(tried(ranked, rank, run) for rank, run in enumerate(runs, 1)),
        seconds={**ranked.seconds, "compile": 1.0, "run": 2.0},
        peak_gflops=100.0,
    )


def test_notebooks_show_the_first_of_a_ranking() -> None:
    working_sets = WorkingSets((), (), 0, "isl")
    variants = [Variant((Interchange(0, (str(number),)),)) for number in range(12)]
    ranking = Ranking("a<b", tuple(RankedVariant(each, working_sets, 1.5, "i < j") for each in variants))
    html = ranking._repr_html_()
    assert html.count("<tr>") == 11
    assert "i &lt; j" in html
    assert "a&lt;b" in html
    assert "and 2 more" in html


@pytest.mark.native
def test_results_show_themselves_in_a_line(ranked: Optimization, measured: Optimization) -> None:
    values = (ranked, measured, ranked.scop, ranked.space, ranked.generation, ranked.ranking)
    assert all(len(repr(value)) < 200 and "\n" not in repr(value) for value in values)
    assert "none run" in repr(ranked)
    winner, baseline = measured.winner, measured.baseline
    assert winner is not None
    assert baseline is not None
    values_inside = (
        *(winner, winner.kernel, winner.measurement, winner.ranked, winner.ranked.variant),
        *(baseline, baseline.build, measured.machine),
    )
    assert all(len(repr(value)) < 200 and "\n" not in repr(value) for value in values_inside)
    assert "3 us, 3. in the ranking" in repr(winner)
    assert repr(measured.tried[1]).startswith(f"<Tried {measured.tried[1].kernel.id}: crash, ")
    assert winner.kernel.id in repr(winner.ranked.variant)
    assert measured.machine.name in repr(measured.machine)
    assert measured.winner is not None
    assert f"{measured.winner.rank}. in the ranking" in repr(measured)


@pytest.mark.native
def test_notebooks_show_the_winner_and_the_candidates(
    ranked: Optimization, measured: Optimization, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jinja2")
    winner, html = measured.winner, measured._repr_html_()
    assert winner is not None
    assert html is not None
    assert winner.kernel.id in html
    assert measured.scop.function.name in html
    assert "<script" not in html
    assert ranked._repr_html_() not in (None, html)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert measured._repr_html_() is None, "text is shown without Jinja2"


@pytest.mark.native
def test_the_document_follows_its_schema(ranked: Optimization, measured: Optimization) -> None:
    for result in (ranked, measured):
        document = documents.optimization_document(result)
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        jsonschema.validate(document, SCHEMA)
        assert json.loads(documents.to_text(document)) == document


def test_the_schema_knows_every_step() -> None:
    built_in = [registry.load("rewrites", name).step for name in registry.GROUPS["rewrites"]]
    expected = with_steps(SCHEMA, [*built_in, *CORE_STEPS])
    assert len(expected["$defs"]["step"]["oneOf"]) == len(built_in) + len(CORE_STEPS)
    assert expected == SCHEMA, "`make schema` writes it anew"


@pytest.mark.native
def test_the_schema_refuses_what_is_not_a_report(measured: Optimization) -> None:
    document = documents.optimization_document(measured)
    for broken in (
        {**document, "extra": 1},
        {key: value for key, value in document.items() if key != "counts"},
        {**document, "schema": "polydl.optimize/2"},
        {**document, "candidates": [{**document["candidates"][0], "status": "fine"}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


@pytest.mark.native
def test_rates_and_shares_follow_from_the_medians(measured: Optimization) -> None:
    document = documents.optimization_document(measured)
    assert document["input"]["flops"] == FLOPS
    baseline = document["baseline"]
    assert (baseline["seconds"], baseline["gflops"]) == (9e-6, pytest.approx(FLOPS / 9e-6 / 1e9))
    assert (baseline["name"], baseline["message"]) == ("gcc -O3 (plain)", "")
    assert [each["seconds"] for each in document["baselines"]] == [1.8e-5, 9e-6]
    best = document["best"]
    assert best["id"] == measured.ranking.entries[2].variant.id
    assert best["gflops"] == pytest.approx(FLOPS / 3e-6 / 1e9)
    assert best["peak_fraction"] == pytest.approx(best["gflops"] / 100.0)
    assert (best["speedup"], best["speedup_over_original"]) == (pytest.approx(3.0), pytest.approx(6.0))
    assert measured.speedup == pytest.approx(3.0)
    assert measured.baseline == BASELINES[1]
    assert [each["speedup"] for each in document["candidates"]] == [pytest.approx(1.8), None, pytest.approx(3.0)]
    assert best["error"] == 2e-7
    assert best["exactness"] is None


@pytest.mark.native
@pytest.mark.parametrize("shown", [True, False])
def test_a_speed_up_that_the_medians_do_not_show_has_its_own_times(measured: Optimization, shown: bool) -> None:
    def sampled(measurement: Measurement, *seconds: float) -> Measurement:
        samples = tuple(Sample(each, (100.0, 100.0), disturbed=False) for each in seconds)
        return replace(measurement, seconds_median=sorted(seconds)[len(seconds) // 2], samples=samples)

    [first, *_] = measured.tried
    fast = sampled(first.measurement, *((1e-6, 4e-6, 1e-6) if shown else (2e-6, 2e-6, 2e-6)) * 3)
    plain = sampled(BASELINES[1].measurement, 8e-6, 8e-6, 8e-6)
    result = replace(
        measured,
        tried=(replace(first, measurement=fast),),
        baselines=(replace(BASELINES[1], measurement=plain),),
    )
    document = documents.optimization_document(result)
    jsonschema.validate(document, SCHEMA)
    assert document["best"]["speedup"] == pytest.approx(4.0)
    expected = {"count": 3, "seconds": 2e-6, "baseline_seconds": 8e-6}
    assert document["best"]["equal_samples"] == (expected if shown else None)
    said = "the speed-up is over 3 samples of each: 2 us and 8 us"
    assert (said in " ".join(answer_text(document, verbose=False).split())) == shown


@pytest.mark.native
def test_an_interruption_leaves_the_plain_nest_if_it_leads_so_far(measured: Optimization) -> None:
    def sampled(measurement: Measurement, seconds: float) -> Measurement:
        return replace(measurement, seconds_median=seconds, samples=(Sample(seconds, (100.0, 100.0), disturbed=False),))

    def ended(seconds: float, *, compared: bool = True) -> Optimization:
        [first, *_] = measured.tried
        plain = BASELINES[1].measurement
        return replace(
            measured,
            interrupted=True,
            tried=(replace(first, measurement=sampled(first.measurement, seconds)),),
            baselines=(replace(BASELINES[1], measurement=sampled(plain, 9e-6) if compared else plain),),
        )

    slower = ended(2e-5)
    assert slower.plain == slower.baseline
    assert slower.speedup == 1.0
    assert "no variant is as fast so far" in answer_text(documents.optimization_document(slower), verbose=False)
    assert ended(5e-6).plain is None
    assert ended(2e-5, compared=False).plain is None, "its time is that of a check"


def without_passing(result: Optimization, *statuses: Status) -> Optimization:
    pairs = zip(result.tried, statuses, strict=True)
    failed = [replace(each, measurement=Measurement(each.kernel.id, status)) for each, status in pairs]
    return replace(result, tried=tuple(failed))


@pytest.mark.native
@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (("inaccurate",) * 3, "no variant is accurate enough for numerics bounded"),
        (("inaccurate", "crash", "wrong"), "no variant passed"),
        (("timeout", "timeout", "compile"), "no variant passed"),
        (("crash", "compile", "wrong"), None),
    ],
)
def test_the_plain_nest_wins_where_no_variant_is_a_match(
    measured: Optimization, statuses: tuple[Status, ...], said: str | None
) -> None:
    result = without_passing(measured, *statuses)
    assert result.winner is None
    document = documents.optimization_document(result)
    jsonschema.validate(document, SCHEMA)
    if said is None:
        assert result.plain is None
        assert document["best"] is None
        return
    assert result.plain is result.baseline is not None
    assert document["best"]["plain"]
    shown = " ".join(answer_text(document, verbose=False).split())
    assert shown.startswith(f"Winner the plain nest, 9 us on 1 thread: {said}")
    assert "No variant passed; what is left is the plain nest, " in lede(read_run(document, "x.c"))
    assert replace(result, interrupted=True).plain is None
    assert replace(result, asked=True).plain is None


@pytest.mark.native
def test_threads_and_peak_are_those_that_the_winner_runs_on(measured: Optimization) -> None:
    two = replace(measured, machine=replace(measured.machine, cores=2, threads=2))
    one_share = documents.optimization_document(measured)["best"]["peak_fraction"]
    document = documents.optimization_document(two)
    jsonschema.validate(document, SCHEMA)
    assert not any(each.ranked.variant.threaded for each in two.tried)
    assert (document["best"]["threads"], document["best"]["peak_fraction"]) == (1, pytest.approx(one_share))
    assert {each["threads"] for each in document["candidates"]} == {1}
    shown = answer_text(document, verbose=True)
    assert "3 us on 1 thread, " in shown
    assert "of the FMA peak of 1 thread (100 GFLOPS)" in " ".join(shown.split())
    last = two.tried[-1]
    variant = Variant((*last.ranked.variant.steps, Parallel(0, "i")))
    threaded = replace(last, ranked=replace(last.ranked, variant=variant))
    document = documents.optimization_document(replace(two, tried=(*two.tried[:-1], threaded)))
    assert (document["best"]["threads"], document["best"]["peak_fraction"]) == (2, pytest.approx(one_share / 2))
    assert [each["threads"] for each in document["candidates"]] == [1, 1, 2]
    [number] = [tile for tile in tiles(read_run(document, "x.c")) if tile.label == "of the FMA peak"]
    assert number.note == "2 threads"


@pytest.mark.native
def test_counts_tell_failures_from_successes(measured: Optimization) -> None:
    counts = documents.optimization_document(measured)["counts"]
    assert (counts["measured"], counts["failed"]) == (2, 1)
    assert counts["ranked"] == counts["legal"] == len(measured.generation.variants)


@pytest.mark.native
def test_a_failure_has_no_time_and_no_temporary_path(measured: Optimization) -> None:
    failed = documents.optimization_document(measured)["candidates"][1]
    assert failed["status"] == "crash"
    assert (failed["seconds_min"], failed["gflops"], failed["error"]) == (None, None, None)
    assert failed["message"] == "killed\nin x.c"


@pytest.mark.native
def test_working_sets_are_named_after_the_levels(measured: Optimization) -> None:
    document = documents.optimization_document(measured)
    first = measured.ranking.entries[0].working_sets
    assert document["candidates"][0]["working_sets"] == {
        "L1": first.levels[0], "L2": first.levels[1], "memory": first.memory
    }  # fmt: skip
    assert document["machine"]["cache_bytes"] == [4096, 65536]


@pytest.mark.native
def test_the_microkernel_shown_is_that_of_the_heaviest_nest(measured: Optimization) -> None:
    winner = measured.tried[2]
    heavy = documents.optimization_document(measured)["best"]["microkernel"]
    assert heavy is not None
    use = winner.kernel.microkernels[0]
    assert use.nest == 1
    light = MicrokernelUse(0, "light", "S0", 1, 1, 1, 1, 1, 1, 1, ("i", "j", "k"), (), ("C", "A", "B"))
    kernel: KernelSource = replace(winner.kernel, microkernels=(light, use))
    both = replace(measured, tried=(*measured.tried[:2], replace(winner, kernel=kernel)))
    assert documents.optimization_document(both)["best"]["microkernel"] == heavy
    assert heavy == {"name": use.name, "m": use.m, "n": use.n, "k": use.k, "batch": use.batch, "rows": 1}


@pytest.mark.native
def test_without_a_run_the_picks_are_listed(ranked: Optimization) -> None:
    document = documents.optimization_document(ranked)
    places = [each["rank"] for each in document["candidates"]]
    assert places == [place for place, _ in ranked.picks]
    assert places[0] == 1
    entries = ranked.ranking.entries
    assert [each["id"] for each in document["candidates"]] == [entries[place - 1].variant.id for place in places]
    assert (document["best"], document["seconds"]["compile"]) == (None, None)


@pytest.mark.native
def test_the_report_keeps_the_c_of_what_failed(measured: Optimization, tmp_path: Path) -> None:
    written = documents.write_report(measured, tmp_path)
    assert written.files["report"] == tmp_path / "report.json"
    document = json.loads((tmp_path / "report.json").read_text())
    files = document["files"]
    assert files.pop("report") == str(tmp_path / "report.json")
    assert files == dict.fromkeys(FILE_KINDS)
    [kept] = (tmp_path / "failed").iterdir()
    assert kept.name == f"{measured.tried[1].kernel.id}.c"
    assert kept.read_text() == measured.tried[1].kernel.c


@pytest.mark.native
@parametrized("pictures", [["one.svg"], ["one.svg", "same.svg"]], ids=["once", "twice"], quick=1)
def test_a_report_can_be_plotted(pictures: list[str], measured: Optimization, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    documents.write_report(measured, tmp_path)
    script = Path(__file__).parents[1] / "experiments" / "plot_variants.py"
    for name in pictures:
        command = [sys.executable, str(script), str(tmp_path / "report.json"), str(tmp_path / name)]
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
    (text,) = {(tmp_path / name).read_text(encoding="utf-8") for name in pictures}
    assert text.startswith("<?xml")


@pytest.mark.native
def test_the_other_documents_are_json(ranked: Optimization) -> None:
    scop, machine = ranked.scop, ranked.machine
    sets = ranked.ranking.entries[0].working_sets
    variant = ranked.ranking.entries[0].variant
    shown = [
        documents.parse_document(scop),
        documents.variants_document(ranked.space, ranked.generation, machine),
        documents.ranking_document(scop, ranked.ranking, machine),
        documents.analysis_document(ranked.applied(variant), sets, machine),
    ]
    for document, schema in zip(shown, ("parse/1", "variants/2", "rank/1", "analyze/1"), strict=True):
        assert document["schema"] == f"polydl.{schema}"
        assert document["input"]["digest"] == scop.digest
        assert json.loads(documents.to_text(document)) == document
    assert shown[0]["statements"][1]["loops"][2] == {"name": "k", "first": 0, "last": 39}
    assert shown[1]["nests"][0]["microkernel"] is None
    assert shown[1]["nests"][0]["reason"]
    assert shown[1]["nests"][1]["microkernel"]
    assert variant_from_json(shown[2]["entries"][0]["steps"]) == variant


@pytest.mark.native
def test_levels_hold_what_fits(ranked: Optimization) -> None:
    machine = ranked.machine
    assert [documents.innermost_level(size, machine) for size in (0, 4096, 4097, 65536, 65537)] == [
        "L1", "L1", "L2", "L2", "memory"
    ]  # fmt: skip
    sets = WorkingSets((), (1, 2), 3, "isl")
    assert level_sizes(sets, machine) == {"L1": 1, "L2": 2, "memory": 3}


def test_loops_whose_bounds_depend_on_others_show_their_widest_range(tmp_path: Path) -> None:
    path = tmp_path / "triangle.c"
    path.write_text(
        "void triangle(float a[9][9]) {\n  for (int i = 0; i < 9; ++i)\n    for (int j = i; j < 9; ++j)\n"
        "      a[i][j] = 1;\n}\n"
    )
    statement = polydl.parse(path).statements[0]
    assert statement.box is None
    assert loop_ranges(statement) == ((0, 8), (0, 8))


def test_code_is_shown_as_the_source_has_it_with_other_loops() -> None:
    nest = polydl.parse(Path(__file__).parents[1] / "examples" / "matmul.c", defines={"M": 32, "N": 32, "K": 32})
    machine = machine_with(1, 32)
    (variant,) = polydl.generate_variants(nest, machine=machine, max_variants=1)
    kernel = pipeline.kernel(pipeline.apply(nest, variant, machine=machine), machine.vector_bytes)
    first, body, _ = nest.definition
    assert kernel.excerpt.startswith(nest.source[first:body])
    assert kernel.excerpt.endswith("}")
    assert "#pragma scop" not in kernel.excerpt
    calls = [line for line in kernel.excerpt.splitlines() if "polydl_gemm" in line]
    assert calls
    assert all(line in kernel.c for line in calls)
