"""Random nests: what is drawn, that a planted fault is found, made smaller and replayed, and how runs add up."""

from __future__ import annotations

import ctypes
import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from marks import parametrized
from new_process import in_new_process

from polydl.cli import main
from polydl.codegen import translation_unit
from polydl.errors import OptionError
from polydl.execute.rings import INTEGERS
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing import examine as examining
from polydl.fuzzing import over_rings as comparing
from polydl.fuzzing import running
from polydl.fuzzing.examine import Failure, FuzzingSettings, examine, step_kinds
from polydl.fuzzing.far_counters import with_far_counter
from polydl.fuzzing.findings import Finding, read, write
from polydl.fuzzing.generator import generated
from polydl.fuzzing.program import (
    Assign,
    Binary,
    Element,
    If,
    Index,
    Loop,
    Number,
    Program,
    Sum,
    Variable,
    fitted,
    flattened,
)
from polydl.fuzzing.program_text import c_text
from polydl.fuzzing.reduction import reduced, smaller_programs
from polydl.fuzzing.session import SessionBudget, SessionResult, fuzz
from polydl.fuzzing.totals import Totals, added
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Exactness
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Parallel, Unroll, Variant
from polydl.machine.system import find


def test_a_number_gives_the_same_nest_and_every_kind_comes() -> None:
    cases = [generated(3, number) for number in range(80)]
    assert cases == [generated(3, number) for number in range(80)]
    assert cases != [generated(4, number) for number in range(80)]
    kinds = Counter(case.kind for _, case in cases)
    assert kinds.keys() == {"general", "product", "convolution", "windows", "triangle", "stencil", "operators"}
    texts = "\n".join(case.text for _, case in cases)
    for construct in ("double", "bfloat16", "unsigned char", "+= 2", "--)", "if (", "else", "fmaxf", "/ 2", "-="):
        assert construct in texts, construct


def test_a_counter_may_run_beyond_an_int() -> None:
    i, j = Sum(((1, "i"),)), Sum(((1, "j"),))
    inner = Loop("j", i, Sum((), 9), 1, (Assign(Element("A", (i,)), "+=", Element("B", (i, j))),))
    program = fitted(
        Program((Variable("A", "float"), Variable("B", "float")), (Loop("i", Sum(), Sum((), 7), 1, (inner,)),))
    )
    texts = {c_text(with_far_counter(program, Random(seed))) for seed in range(40)}
    assert len(texts) > 5
    [far] = [text for text in texts if "long i = 3000000000; i < 3000000008" in text]
    assert "for (int j = i - 3000000000; j < 10; j++)" in far
    assert "A[i - 3000000000] += B[i - 3000000000][j];" in far
    used = Assign(Element("A", (i,)), "=", Index(i))
    valued = replace(program, body=(Loop("i", Sum(), Sum((), 7), 1, (used,)),))
    assert with_far_counter(valued, Random(0)) is valued


def test_kinds_of_steps_are_told_apart_where_code_differs() -> None:
    steps = (Attach("S1", "S0", "first"), Unroll(0, "r"), Unroll(0, "s"), Unroll(1, "k"), Parallel(0, "n"))
    assert step_kinds(Variant(steps)) == {"attach", "attach first", "unroll", "unroll several loops", "parallel"}


def test_arrays_hold_what_is_accessed() -> None:
    i, j = Sum(((1, "i"),)), Sum(((2, "i"), (-1, "j")), -1)
    body = (Loop("i", Sum((), 1), Sum((), 4), 1, (Loop("j", Sum(), i, 1, (
        Assign(Element("A", (j,)), "=", Element("B", (Sum(((1, "j"),), 3, 2),))),)),)),)  # fmt: skip
    text = c_text(fitted(Program((Variable("A", "int"), Variable("B", "int"), Variable("C", "int")), body)))
    # 2 i - j - 1 is from -3 to 7 in the box, (j + 3) / 2 from 1 to 3.
    assert "void nest(int A[11], const int B[4])" in text
    assert "for (int j = 0; j < i + 1; j++)" in text
    assert "A[2 * i - j + 2] = B[(j + 3) / 2];" in text


def test_an_array_of_several_dimensions_as_one_of_one() -> None:
    i, j = Sum(((1, "i"),), 1), Sum(((2, "j"),))
    body = (Loop("i", Sum(), Sum((), 3), 1, (Loop("j", Sum(), Sum((), 2), 1, (
        Assign(Element("A", (i, j)), "=", Number("1")),)),), "long"),)  # fmt: skip
    text = c_text(flattened(fitted(Program((Variable("A", "int"),), body)), "A"))
    assert "int A[25]" in text
    assert "for (long i = 0; i < 4; i++)" in text
    assert "A[5 * i + 2 * j + 5] = 1;" in text


def test_a_condition_bounds_what_is_accessed() -> None:
    row = Sum(((1, "y"), (1, "r")), -1)
    inside = If(((row, ">="), (Sum(row.terms, -8), "<=")), (Assign(Element("A", (row,)), "+=", Number("1")),))
    body = (Loop("y", Sum(), Sum((), 7), 1, (Loop("r", Sum(), Sum((), 2), 1, (inside,)),)),)
    program = fitted(Program((Variable("A", "int"),), body))
    assert program.variables == (Variable("A", "int", (8,)),)


def test_smaller_programs_lose_something() -> None:
    for number in range(20):
        program, _ = generated(5, number)
        smaller = list(smaller_programs(program))
        assert smaller
        assert program not in smaller


def test_totals_add_up_and_go_through_json() -> None:
    one = Totals(1, Counter(product=1), Counter(ok=8, wrong=1), Counter(a=2), Counter(tile=3), Counter(w=1), jobs=2)
    other = Totals(2, Counter(general=2), Counter(ok=5), seconds=1.5, processor_seconds=2.5, jobs=1)
    whole = added([one, other])
    assert (whole.nests, whole.run, whole.variants["ok"], whole.jobs, whole.seconds) == (3, 14, 13, 2, 1.5)
    assert whole.processor_seconds == 2.5
    assert Totals.from_json(json.loads(json.dumps(whole.to_json()))) == whole
    with pytest.raises(OptionError, match="no totals"):
        Totals.from_json({"nests": 1})


def test_files_of_runs_are_merged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for seed in (1, 2):
        fields: dict[str, Any] = {"kind": "polydl fuzz", "version": 1, "seeds": [seed], "findings": []}
        paths.append(tmp_path / f"{seed}.json")
        paths[-1].write_text(json.dumps(fields | Totals(seed, variants=Counter(ok=10 * seed)).to_json()))
    merged = tmp_path / "merged.json"
    arguments = ["fuzz", "--merge", *map(str, paths), "--json", str(merged)]
    assert main(arguments, standalone_mode=False) == 0
    document = json.loads(merged.read_text())
    assert (document["nests"], document["variants"], document["seeds"]) == (3, {"ok": 30}, [1, 2])
    assert "30: ok 30" in capsys.readouterr().out
    assert main(["fuzz", "--merge", str(paths[0]), str(paths[0])], standalone_mode=False) == 2
    assert "count twice" in capsys.readouterr().err


def test_a_run_without_a_variant_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    fields: dict[str, Any] = {"kind": "polydl fuzz", "version": 1, "seeds": [1], "findings": []}
    path.write_text(json.dumps(fields | Totals(5).to_json()))
    assert main(["fuzz", "--merge", str(path)], standalone_mode=False) == 1
    said = capsys.readouterr().out
    assert "no variant ran" in said
    assert "no failure" not in said


def test_a_place_where_nothing_can_be_run_is_said_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = os.statvfs(tmp_path)
    fields = [*status[:8], status.f_flag | os.ST_NOEXEC, status.f_namemax]
    monkeypatch.setattr("os.statvfs", lambda _: os.statvfs_result(fields))
    assert main(["fuzz", "--budget", "1nests", "--out", str(tmp_path / "out")], standalone_mode=False) == 1
    assert "mounted noexec" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("budget", ["0", "9x", "-3", "nests"])
def test_a_budget_that_is_none_is_refused(budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--budget", budget], standalone_mode=False) == 2
    assert "is no budget" in capsys.readouterr().err


def test_a_replay_writes_no_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fuzz", "--replay", str(tmp_path / "finding.json"), "--json", str(tmp_path / "replay.json")]
    assert main(arguments, standalone_mode=False) == 2
    assert "leave out --json" in capsys.readouterr().err


# ----------------------------------------------------------------------------------
# With a compiler


@pytest.fixture(scope="module")
def settings() -> FuzzingSettings:
    return FuzzingSettings(Toolchain.find(), find(), 5)


@pytest.mark.native
@parametrized(("seed", "nests"), [(9300, 4), (9300, 20)], quick=1)
def test_no_variant_of_a_random_nest_fails(seed: int, nests: int, settings: FuzzingSettings, tmp_path: Path) -> None:
    run = fuzz(seed, SessionBudget(nests=nests), settings, tmp_path, jobs=1)
    assert run.totals.failures == Counter(), run.findings
    assert run.totals.variants["ok"] > 2 * nests


def _product() -> Program:
    i, j, k = (Sum(((1, name),)) for name in "ijk")
    value = Binary("*", Element("A", (i, k)), Element("B", (k, j)))
    loops: tuple[Any, ...] = (Assign(Element("C", (i, j)), "+=", Binary("+", value, Element("D", (j,)))),)
    for name, extent in (("k", 24), ("j", 12), ("i", 9)):
        loops = (Loop(name, Sum(), Sum((), extent - 1), 1, loops),)
    other = (Loop("x", Sum(), Sum((), 30), 1, (Assign(Element("E", (Sum(((1, "x"),)),)), "=", Number("2.0f")),)),)
    return fitted(Program(tuple(Variable(name, "float") for name in "ABCDE"), (*other, *loops)))


def _fault_in_a_printer(settings: FuzzingSettings, folder: Path) -> None:
    """A fault is found, made smaller and kept, and is gone once it is mended."""
    genuine = translation_unit.generate

    def faulty(*arguments: Any, **options: Any) -> KernelSource:
        kernel = genuine(*arguments, **options)
        # What copies are made of has none of these, whichever steps are drawn.
        return replace(kernel, c=kernel.c.replace("] += ", "] -= "))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polydl.codegen.translation_unit.generate", faulty)
        program, case = _product(), generated(0, 0)[1].having(_product())
        case = replace(case, conditions=replace(case.conditions, threads=1, microkernel="none"))
        outcome = examine(case, settings)
        # One variant is also compared over a ring.
        assert {"wrong"} <= {failure.kind for failure in outcome.failures} <= {"wrong", "differs"}

        seen = next(failure for failure in outcome.failures if failure.kind == "wrong")
        smaller, failure = reduced(program, case, seen, settings, until=math.inf)
        assert len(smaller.text) < len(case.text)
        assert "for (" not in smaller.text
        assert failure.variant is not None
        path = write(Finding(smaller, failure, True), folder, {})
        again, given, document = read(path)
        assert (again, given) == (smaller, (failure.variant,))
        assert document["kind"] == "wrong"
        assert main(["fuzz", "--replay", str(path)], standalone_mode=False) == 1
    assert main(["fuzz", "--replay", str(path)], standalone_mode=False) == 0


@pytest.mark.native
@pytest.mark.slow
def test_a_fault_in_a_printer_is_found_made_smaller_and_replayed(tmp_path: Path, settings: FuzzingSettings) -> None:
    in_new_process(_fault_in_a_printer, settings, tmp_path)


# What random nests found: a sum that the first small whole numbers leave as it is, so that they say nothing of
# rounding, a transform for four lanes whose name was that of another statement's, a statement the elements of which isl
# counted for minutes, and calls that gcc 12 leaves out, of what is emitted and of the original over a ring.
@pytest.mark.native
@parametrized(
    "name",
    ["call-left-out", "sum-near-zero", "names-of-transforms", "linear-subscripts", "original-left-out"],
    quick=1,
)
def test_what_was_found_fails_no_more(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Path(__file__).parent / "data" / "fuzzing" / name / "finding.json"
    assert main(["fuzz", "--replay", str(kept)], standalone_mode=False) == 0
    assert "now it does not fail" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.native
def test_nests_are_examined_where_threads_have_run(settings: FuzzingSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process waited for threads of the team that its parent has."""
    monkeypatch.setattr(running, "_SECONDS", 20.0)
    nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    ctypes.CDLL("libgomp.so.1").GOMP_parallel(nothing, None, 2, 0)
    case = generated(0, 0)[1].having(_product())
    case = replace(case, conditions=replace(case.conditions, threads=2, microkernel="none"))
    answer = examine(case, settings)
    assert answer.failures == ()
    assert answer.variants["ok"]


def _statuses_without_legality(settings: FuzzingSettings) -> Counter[str]:
    """Of the variants of a few nests, the last with one that computes something else."""
    statuses: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polydl.plan.apply.violations", lambda *arguments, **options: ())
        # Variants of the first and of the 35th are wrong on one thread, whatever else the machine does.
        for number in range(1, 40):
            statuses += examine(generated(11, number)[1], settings).variants
            if statuses["wrong"]:
                break
    return statuses


@pytest.mark.slow
@pytest.mark.native
def test_legality_that_is_not_asked_is_found(settings: FuzzingSettings) -> None:
    assert in_new_process(_statuses_without_legality, settings)["wrong"]


@pytest.mark.slow
@pytest.mark.native
def test_all_variants_of_a_nest_are_compared_over_a_ring_where_that_is_quick(
    settings: FuzzingSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = generated(0, 0)[1].having(_product())
    case = replace(case, conditions=replace(case.conditions, threads=1, microkernel="none"))
    few = replace(settings, variants=3)
    # Nothing in the product needs the field, so that the compiler of C alone is started.
    assert examine(case, few).exact == Counter(agrees=3)

    compared: list[tuple[int, int]] = []

    def recorded(scop: Scop, numbered: Sequence[tuple[int, KernelSource]], *arguments: Any) -> list[Any]:
        compared.append((len(numbered), arguments[-1]))
        return [(number, Exactness("agrees", INTEGERS, "")) for number, _ in numbered]

    def those_compared(seconds: float) -> list[tuple[int, int]]:
        compared.clear()
        monkeypatch.setattr(comparing, "estimated_seconds", lambda _, *kernels: seconds * len(kernels))
        for number in range(8):
            assert examine(replace(case, name=f"ring:{number}"), few).failures == ()
        return [*compared]

    monkeypatch.setattr(examining, "over_rings", recorded)
    quick, some, slow = map(those_compared, (0.5, 0.99, 2.0))
    assert [count for count, _ in quick] == [3] * 8
    assert [count for count, _ in some] == [2] * 8
    # Now and then, and then on the same data.
    assert 0 < sum(count for count, _ in slow) < 4
    assert [seed for _, seed in slow] == [seed for _, seed in some] == [seed for _, seed in quick]


def _variants_with_one_that_leaves_an_array(settings: FuzzingSettings) -> Counter[str]:
    genuine = translation_unit.generate
    broken: list[str] = []

    def faulty(*arguments: Any, **options: Any) -> KernelSource:
        kernel = genuine(*arguments, **options)
        # C fills the first 432 bytes of a page, and a page that can't be touched follows.
        other = kernel.c.replace("C[i]", "C[i + 100]")
        if broken or other == kernel.c:
            return kernel
        broken.append(kernel.id)
        return replace(kernel, c=other)

    case = generated(0, 0)[1].having(_product())
    case = replace(case, conditions=replace(case.conditions, threads=1, microkernel="none"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polydl.codegen.translation_unit.generate", faulty)
        return examine(case, settings).variants


def _variants_with_one_that_does_not_end(settings: FuzzingSettings) -> Counter[str]:
    genuine = translation_unit.generate
    seen: list[str] = []

    def faulty(*arguments: Any, **options: Any) -> KernelSource:
        kernel = genuine(*arguments, **options)
        seen.append(kernel.id)
        endless = kernel.harness.replace("{\n", "{\n  for (;;)\n    ;\n", 1)
        return replace(kernel, harness=endless) if len(seen) == 2 else kernel

    case = generated(0, 0)[1].having(_product())
    case = replace(case, conditions=replace(case.conditions, threads=1, microkernel="none"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polydl.codegen.translation_unit.generate", faulty)
        patch.setattr("polydl.fuzzing.running._PROCESSOR_SECONDS", 1)
        return examine(case, settings).variants


@pytest.mark.slow
@pytest.mark.native
def test_a_variant_that_does_not_end_is_ended_after_its_processor_time(settings: FuzzingSettings) -> None:
    statuses = in_new_process(_variants_with_one_that_does_not_end, settings)
    assert statuses["timeout"] == 1
    assert statuses["ok"] >= 2


def test_a_level_in_place_of_the_drawn_one_leaves_the_nest() -> None:
    program, case = generated(3, 5)
    level: Numerics = "strict" if case.conditions.numerics != "strict" else "fast"
    again, other = generated(3, 5, level)
    assert (again, other.text) == (program, case.text)
    assert other.conditions == replace(case.conditions, numerics=level)


@pytest.mark.slow
@pytest.mark.native
def test_an_array_that_is_left_ends_its_variant_alone(settings: FuzzingSettings) -> None:
    statuses = in_new_process(_variants_with_one_that_leaves_an_array, settings)
    assert statuses["crash"] == 1
    assert statuses["ok"] >= 2


@pytest.mark.slow
@pytest.mark.native
def test_a_run_is_kept_goes_on_and_ends_with_its_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["fuzz", "--seed", "1", "--jobs", "2", "--variants", "3", "--out", str(out)]
    document = tmp_path / "run.json"
    assert main([*arguments, "--budget", "2nests"], standalone_mode=False) == 0
    assert main([*arguments, "--budget", "4nests", "--json", str(document)], standalone_mode=False) == 0
    assert "2 of the nests were examined by earlier runs" in capsys.readouterr().out
    assert json.loads(document.read_text())["nests"] == 4
    # A head, four nests, and the time that each run took.
    assert len((out / "nests.jsonl").read_text().splitlines()) == 7
    assert main([*arguments, "--budget", "4nests", "--variants", "4"], standalone_mode=False) == 2
    assert "of a run with another seed" in capsys.readouterr().err


@pytest.mark.native
@pytest.mark.parametrize("failures", [Counter(), Counter(wrong=1)])
def test_an_interrupted_run_shows_what_it_has_and_ends_with_status_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failures: Counter[str]
) -> None:
    result = SessionResult(7, Totals(nests=3, failures=failures), (), interrupted=True, earlier=0)
    monkeypatch.setattr("polydl.fuzzing.session.fuzz", lambda *_, **__: result)
    document = tmp_path / "run.json"
    assert main(["fuzz", "--seed", "7", "--json", str(document)], standalone_mode=False) == 130
    assert json.loads(document.read_text())["nests"] == 3
    assert "7, interrupted" in capsys.readouterr().out


def test_findings_of_one_nest_have_folders_of_their_own(tmp_path: Path) -> None:
    case = generated(0, 0)[1]
    failures = [Failure("wrong", "a result differs", f"wrong with {step}") for step in ("tile", "interchange")]
    paths = [write(Finding(case, failure, False), tmp_path, {}) for failure in failures]
    assert [read(path)[2]["signature"] for path in paths] == ["wrong with tile", "wrong with interchange"]


def test_reasons_have_no_names_of_the_nest() -> None:
    from polydl.errors import IllegalVariantError

    error = IllegalVariantError(
        "variant 0123456789ab is illegal: the RAW dependence on `A` within S0 (line 12) is broken"
    )
    assert "0123456789ab" not in examining.reason("variant", error)
    assert "S0" not in examining.reason("variant", error)
