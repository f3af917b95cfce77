"""Physical constants: each a field of the machine's core, with its source; none is left beside a formula."""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from computed import check_kernels, parse
from machines import machine_with
from neon_microkernel import MACHINE, NEON

from polydl import pipeline, registry
from polydl.contracts import GemmShape
from polydl.contracts import microkernel as contract
from polydl.errors import MachineError
from polydl.machine import Core, Machine, processors, value
from polydl.machine.core import CONSTANTS, CoreConstant
from polydl.machine.processors import FAMILIES, WIDE_CORE, family_of, generic, published
from polydl.model.times import nest_times

ROOT = Path(__file__).parents[1]
PRODUCT = """\
void matmul(float C[96][80], float A[96][70], float B[70][80]) {
#pragma scop
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 80; ++j)
      for (int k = 0; k < 70; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


# --- sources ----------------------------------------------------------------------------


def test_every_constant_is_documented_where_it_stands_with_how_it_is_known() -> None:
    source = (ROOT / "polydl" / "machine" / "core.py").read_text(encoding="utf-8")
    lines = source[source.index("class Core:") : source.index("sources: tuple")].splitlines()
    bare = [
        name
        for name in CONSTANTS
        if not lines[next(n for n, line in enumerate(lines) if line.startswith(f"    {name}:")) - 1].startswith(
            "    #: "
        )
    ]
    assert bare == []


def test_what_no_probe_measures_is_what_experiments_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    source = (ROOT / "polydl" / "machine" / "core.py").read_text(encoding="utf-8")
    comments: dict[str, str] = {}
    lines: list[str] = []
    for line in source[source.index("class Core:") : source.index("sources: tuple")].splitlines():
        if line.startswith("    #: "):
            lines.append(line.removeprefix("    #: "))
        elif declared := re.match(r"    (\w+): ", line):
            comments[declared[1]], lines = " ".join(lines), []
    said = {
        kind: {name for name, text in comments.items() if re.search(rf"Chosen by\b[^.]*\b{kind}\b", text)}
        for kind in ("orders", "times")
    }
    assert said["orders"] == set(import_module("experiments.model_constants").VALUES)
    distances = set(import_module("experiments.prefetch_distances").PLACES)
    assert said["times"] == set(import_module("experiments.code_constants").TRIALS) | distances
    others = set(CONSTANTS) - said["orders"] - said["times"]
    known = re.compile(r"calibrate|says so|Measured|measured with|taken to stay in registers|at most: a part of")
    assert [name for name in sorted(others) if not known.search(comments[name])] == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_what_was_published_of_a_family_takes_the_place_of_the_usual_values(family: processors.Family) -> None:
    cpu_id = f"{family.vendor}-{family.family}-{min(family.models)}-1-32K"
    isa = ("asimd",) if family.vendor == "0x41" else ("avx2",)
    core = published(cpu_id, isa, 32, 64)
    assert family_of(cpu_id) == family
    assert family.published
    known = {**family.constants, **family.fitted}
    assert {name: getattr(core, name) for name in known} == known
    assert {core.source(name) for name in family.constants} == {"published"}
    assert {core.source(name) for name in family.fitted} <= {"fitted"}
    assert core.source("line_bytes") == "detected"
    usual = generic(isa, 32, 64)
    others = set(CONSTANTS) - known.keys()
    assert all(getattr(core, name) == getattr(usual, name) for name in others)
    assert {core.source(name) for name in others - {"line_bytes", "vector_registers"}} == {"generic"}


@pytest.mark.parametrize("cpu_id", ["", "example", "AuthenticAMD-22-0-1-32K", "GenuineIntel-6-1-1"])
def test_a_processor_that_nobody_described_has_the_usual_constants(cpu_id: str) -> None:
    assert family_of(cpu_id) is None
    assert published(cpu_id, ("avx2",), 32, 64) == dataclasses.replace(
        generic(("avx2",), 32, 64), sources=(("line_bytes", "detected"), ("vector_registers", "detected"))
    )


def test_vector_registers_are_those_of_the_instruction_set() -> None:
    found = {
        (isa, size): generic((isa,), size, 64).vector_registers
        for isa, size in (("avx2", 32), ("avx512f", 64), ("asimd", 16), ("sve", 32))
    }
    assert found == {("avx2", 32): 16, ("avx512f", 64): 32, ("asimd", 16): 32, ("sve", 32): 32}


def test_constants_that_were_measured_go_first_and_are_saved(tmp_path: Path) -> None:
    machine = dataclasses.replace(
        machine_with(2, 32),
        constants=(
            CoreConstant("thread_start_seconds", 2e-6, "measured"),
            CoreConstant("same_set_bytes", (4096, 131072)),
        ),
    )
    assert machine.core.thread_start_seconds == 2e-6
    assert machine.core.source("thread_start_seconds") == "measured"
    assert machine.core.source("same_set_bytes") == "given"
    machine.save(tmp_path / "machine.toml")
    assert Machine.load(tmp_path / "machine.toml") == machine
    # Files of earlier versions have none.
    table = tomllib.loads((tmp_path / "machine.toml").read_text())
    del table["constants"]
    (tmp_path / "machine.toml").write_text(tomli_w.dumps(table))
    assert Machine.load(tmp_path / "machine.toml").core == machine_with(2, 32).core


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "colour", "value": 1}, "colour is no constant"),
        ({"name": "page_bytes", "value": 4096.0}, "is not of type int"),
        ({"name": "page_bytes", "value": True}, "is not of type int"),
        ({"name": "fma_per_cycle", "value": "two"}, "is not of type float"),
        ({"name": "same_set_bytes", "value": [1, 2, 3]}, "is not of type tuple"),
        ({"name": "page_bytes", "value": 4096, "source": "guessed"}, "no source"),
        ({"name": "page_bytes", "value": 0}, "positive and finite"),
    ],
)
def test_a_wrong_constant_is_told(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=message):
        machine_with(1, 32).core.having([CoreConstant(**fields)])


def test_the_start_of_threads_that_was_measured_is_what_rankers_count(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    slow = dataclasses.replace(machine_with(2, 32), constants=(CoreConstant("thread_start_seconds", 1.0),))
    variants = [
        variant
        for variant in pipeline.generate_variants(scop, machine=slow, max_variants=30)
        if "parallel" in str(variant.to_json())
    ]
    assert variants
    [candidate] = pipeline.candidates(scop, variants[:1], machine=slow)
    assert sum(time.starting for time in nest_times(candidate, slow)) == sum(candidate.starts) > 0


# --- another architecture ---------------------------------------------------------------


class Forbidden(Mapping[str, Any]):
    """Stands in for the constants of a core that nobody may ask for."""

    def __getitem__(self, name: str) -> Any:
        raise AssertionError(f"{name} of another processor was consulted")

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("the constants of another processor were consulted")

    def __len__(self) -> int:
        return 1

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} of another processor was consulted")


class Noted(Core):
    """A core that notes which of its constants were asked for."""

    asked: set[str]

    def __getattribute__(self, name: str) -> Any:
        if name in CONSTANTS:
            object.__getattribute__(self, "__dict__").setdefault("asked", set()).add(name)
        return super().__getattribute__(name)


@pytest.fixture
def only_neon(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with NEON and its microkernel beside ``c``; all that is known of x86-64 is out of reach."""
    monkeypatch.setattr(processors, "_generic_x86", Forbidden())
    monkeypatch.setattr(processors, "_X86", Forbidden())
    monkeypatch.setattr(processors, "FAMILIES", tuple(f for f in FAMILIES if f.vendor == "0x41"))
    monkeypatch.setattr(contract, "WIDE_CORE", Forbidden())
    monkeypatch.setattr("polydl.plan.apply.WIDE_CORE", Forbidden())
    for name in ("libxsmm", "c", "c-int8", "libxsmm-bf16", "libxsmm-int8"):
        monkeypatch.setitem(registry.load("microkernels", name).__dict__, "core", Forbidden())
    kernels = {name: registry.GROUPS["microkernels"][name] for name in ("c",)}
    monkeypatch.setitem(registry.GROUPS, "microkernels", {"neon": "neon_microkernel:NEON", **kernels})
    return dataclasses.replace(MACHINE)


def test_a_machine_of_another_architecture_is_ranked_for_by_its_own_constants(
    only_neon: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Noted(**{field.name: getattr(only_neon.core, field.name) for field in dataclasses.fields(Core)})
    monkeypatch.setattr(value, "published", lambda *_: own)
    # The machine of one thread that features are made for is another value: it has to have the same core.
    monkeypatch.setattr(Core, "having", lambda core, constants: core)
    machine = dataclasses.replace(only_neon)
    scop = parse(tmp_path, PRODUCT)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60)
    for ranker in ("cost-model", "dnn"):
        ranking = pipeline.rank(scop, variants, machine=machine, ranker=ranker)
        assert len(ranking.entries) == len(variants) > 20
        assert all(entry.score is not None and entry.score > 0 for entry in ranking.entries)
    assert any("neon" in variant.microkernels.values() for variant in variants)
    consulted = {
        "vector_registers", "fma_per_cycle", "fma_latency_cycles", "loads_per_cycle", "line_bytes", "page_bytes",
        "first_tlb_entries", "same_set_bytes", "prefetch_streams", "prefetch_ahead_bytes",
    }  # fmt: skip
    assert consulted <= own.asked


def test_what_was_fitted_on_x86_is_no_constant_of_another_architecture(only_neon: Machine) -> None:
    with pytest.raises(AssertionError, match="another processor"):
        dict(processors._X86)
    core = dataclasses.replace(only_neon, cpu_id="").core
    assert {core.source(name) for name in CONSTANTS} <= {"detected", "measured", "generic"}
    assert set(processors._NEUTRAL) | set(processors._NEON) >= set(CONSTANTS) - {
        "vector_registers", "column_bytes", "accumulator_bytes", "line_bytes", "block_kept_vectors"
    }  # fmt: skip


def test_its_own_constants_decide(only_neon: Machine, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    variants = pipeline.generate_variants(scop, machine=only_neon, max_variants=30)

    def predicted(name: str, value: Any) -> float:
        machine = dataclasses.replace(only_neon, constants=(CoreConstant(name, value),))
        candidates = pipeline.candidates(scop, variants, machine=machine)
        return sum(sum(time.total for time in nest_times(each, machine)) for each in candidates)

    usual = predicted("vector_registers", only_neon.core.vector_registers)
    assert predicted("vector_registers", 12) > usual, "fewer registers make smaller blocks of `c`"
    assert predicted("fma_latency_cycles", 12.0) > usual
    assert predicted("loads_per_cycle", 0.25) > usual


@pytest.mark.native
def test_its_code_computes_the_product_here(only_neon: Machine, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    variants = [
        variant
        for variant in pipeline.generate_variants(scop, machine=only_neon, max_variants=60)
        if any(getattr(step, "name", "") == "neon" for step in variant.nest_steps)
    ]
    assert len(variants) > 3
    chosen = [pipeline.apply(scop, variant, machine=only_neon) for variant in variants[:: len(variants) // 3]]
    kernels = [pipeline.kernel(applied, only_neon.vector_bytes) for applied in chosen]
    assert all("vector_size(16)" in kernel.c and "vector_size(32)" not in kernel.c for kernel in kernels)
    check_kernels(tmp_path, scop, kernels, threads=1)


def test_the_microkernel_keeps_its_sums_in_the_registers_that_there_are() -> None:
    rows, columns = NEON.register_block(GemmShape("float", "float", 64, 48, 64, 1, 64, 64, 64, 1), 4)
    assert rows // 4 * columns + rows // 4 + 1 <= MACHINE.core.vector_registers
    assert MACHINE.core.source("first_tlb_entries") == "published"


# --- none is left beside a formula ------------------------------------------------------

# Bytes of pages, caches, sets and lines as numbers, and names under which such numbers stood.
PHYSICAL = {2048, 4096, 1 << 15, 1 << 16, 512 << 10}
NAMES = (
    "HEADROOM", "WAYS", "LINE", "PAGE", "TLB", "REGISTERS", "FORK", "START_SECONDS", "FMA", "LOADS_PER_CYCLE",
    "AHEAD", "PREFETCH", "FOLLOWED",
)  # fmt: skip
UNITS = ("CYCLES", "BYTES", "SECONDS", "OVERHEAD", "LATENCY", "BANDWIDTH", "GFLOPS", "CACHE")
# Numbers of bytes of about the size of a cache, whatever they are called.
CACHE_SIZED = range(1 << 13, 1 << 31)
# What is no property of the processor that code is made for.
KNOWN = {
    ("microkernels/amx.py", "_LONGEST_SUM"),  # steps of k of a call
    ("microkernels/amx_operands.py", "_LINE_BYTES"),  # of every processor with tile registers
    ("microkernels/amx_operands.py", "_LINE"),  # columns are padded to so many elements
    ("microkernels/libxsmm_declarations.py", "LONGEST_BATCH"),  # numbers in the emitted C
    ("microkernels/libxsmm_declarations.py", "GROUPED_A"),  # a flag
    ("polydl/codegen/conditions.py", "_MASKED_BYTES"),  # of AVX-512, which gcc uses with masks
    ("polydl/codegen/context.py", "_ROUNDING_BYTES"),  # of an instruction set's vectors
    ("polydl/codegen/facts.py", "_MOST_IN_INT"),  # of C's type
    ("polydl/codegen/kept_memory.py", "_LARGE_PAGE"),  # Linux's, asked for and not relied on
    ("polydl/plan/tile.py", "MOST_VECTOR_BYTES"),  # of any instruction set
    ("polydl/codegen/support.py", "STREAMED_BYTES"),  # what a function of emitted C writes at a time
    ("polydl/models/layout.py", "_MOST_LOCAL_BYTES"),  # on any thread's stack
    ("polydl/plan/tile.py", "PLANS_KEPT"),  # how much is remembered
    ("polydl/plan/rewriting.py", "_KEPT"),
    ("polydl/plan/contraction.py", "_KEPT"),
    ("polydl/reuse/isl/regions.py", "_MOST_KEPT"),
    ("polydl/reuse/isl/footprints.py", "_MOST_KEPT"),
    ("polydl/reuse/isl/footprints.py", "_MOST_BITS"),
    ("polydl/reuse/isl/footprints.py", "_FEW_POINTS"),  # how much is enumerated
    ("polydl/reuse/isl/enumerated.py", "MOST_POINTS"),
    ("polydl/reuse/isl/enumerated.py", "MOST_ELEMENTS"),
    ("polydl/reuse/isl/pairs.py", "_MOST_KEPT"),
    ("polydl/reuse/batch/images.py", "_MOST_WAITING"),
    ("polydl/reuse/batch/unions.py", "_BLOCK"),  # how much is analysed at once, or at all
    ("ranking/tournament.py", "_BLOCK"),  # variants that are compared at once
    ("ranking/training.py", ""),  # samples of a step
    ("polydl/reuse/boxes.py", "_WIDEST_SCATTERED"),
    ("polydl/reuse/lines.py", "MOST_LINES"),
    ("polydl/poly/counting.py", "_ROWS"),
    ("polydl/poly/scheduling.py", "_SECONDS"),
    ("polydl/libraries/measuring.py", "_BUDGET_SECONDS"),  # how long is measured
    ("polydl/libraries/measuring.py", "_SHARED_BUDGET_SECONDS"),
    ("polydl/libraries/measuring.py", "_SAMPLE_SECONDS"),
    ("polydl/libraries/symbolic.py", "MOST_ITERATIONS"),
    ("polydl/libraries/blocking.py", ""),  # rows and columns of a large product
    ("polydl/libraries/configurations.py", ""),
    ("polydl/libraries/blocking.py", "OTHER_REGISTERS"),  # of the code's own
    ("polydl/libraries/usual_blockings.py", ""),  # columns of a large product
    ("polydl/plan/contraction.py", "STACK_BYTES"),  # what is put on the stack
    ("polydl/codegen/transforms.py", "_STRIP_BYTES"),
    ("polydl/libraries/kernel_code.py", "_STACK_BYTES"),
    ("polydl/plan/transposing_copies.py", "SQUARE_BYTES"),  # what emitted copies do on any machine
    ("polydl/plan/transposing_copies.py", "VECTOR_BYTES"),
    ("polydl/poly/reductions.py", "_COMBINED_BYTES"),
    ("microkernels/int16.py", "_MOST"),
    ("microkernels/rest_rows.py", "_LONGEST"),
    ("variants/nest_rules.py", "CACHE_TILED_LOOPS"),  # how many
    ("variants/rewrites/schedule_tiles.py", "CACHE_SHARE"),  # a ratio of the caches' sizes
    ("variants/rewrites/schedule_tiles.py", ""),  # iterations of a tile
    ("variants/rewrites/transform_domain.py", "_SAME_SET"),  # part of what the step means on any machine
}


def constants_in(path: Path) -> Iterator[tuple[str, object]]:
    """Names of a module with the number that each is set to, and numbers that stand alone."""
    named: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = (
                zip(target.elts, value.elts, strict=False)
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                else [(target, value)]
            )
            for one, number in pairs:
                if isinstance(one, ast.Name) and (found := number_of(number)) is not None:
                    named |= {id(each) for each in ast.walk(number)}
                    yield one.id, found
        if isinstance(node, ast.keyword) and node.arg == "maxsize":
            # How much is remembered has nothing to do with caches of processors.
            named |= {id(each) for each in ast.walk(node.value)}
        if isinstance(node, ast.expr) and id(node) not in named and (found := number_of(node)) is not None:
            yield "", found


def number_of(node: ast.expr) -> float | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift | ast.Mult):
        left, right = number_of(node.left), number_of(node.right)
        if left is not None and right is not None:
            return left * right if isinstance(node.op, ast.Mult) else int(left) << int(right)
    return None


def is_physical(name: str, number: object) -> bool:
    """Whether a number may be a property of a processor: by its name, by its unit, or since caches have such sizes."""
    words = name.upper().strip("_").split("_")
    looks = any(word in words or word == name.strip("_") for word in NAMES)
    looks = looks or (name.isupper() and any(word in words for word in UNITS))
    sized = name.isupper() and isinstance(number, int) and number in CACHE_SIZED and number % 4096 == 0
    return looks or sized or number in PHYSICAL


# Rooms of the package in which numbers are explained where they stand.
_EXPLAINED = ("model", "plan", "reuse", "codegen", "libraries")


def files_of(*inner: str) -> list[Path]:
    """The modules of rooms of the package, and of those that stand at the root."""
    rooms = [ROOT / "polydl" / room for room in inner]
    rooms += [ROOT / part for part in ("ranking", "microkernels", "variants", "fusion")]
    return [path for room in rooms for path in sorted(room.rglob("*.py"))]


def is_numeric(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(is_numeric, node.elts))
    if isinstance(node, ast.BinOp):
        return is_numeric(node.left) and is_numeric(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def without_words(text: str) -> list[str]:
    """Names that a module sets to numbers without a comment above (or above names right before), beside or below."""
    lines, body = text.splitlines(), ast.parse(text).body
    bare = []
    explained = -1  # the line up to which a comment holds
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.Assign) or not all(isinstance(each, ast.Name) for each in node.targets):
            continue
        above = lines[node.lineno - 2].startswith("#") if node.lineno > 1 else False
        below = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        beside = "  #" in lines[node.end_lineno - 1] if node.end_lineno else False
        if above or beside or explained == node.lineno - 1:
            explained = node.end_lineno or node.lineno
        elif is_numeric(node.value) and not below:
            bare.append(ast.unparse(node.targets[0]))
    return bare


def test_every_number_of_a_module_has_a_word_on_it() -> None:
    bare = {str(path.relative_to(ROOT)): without_words(path.read_text()) for path in files_of(*_EXPLAINED)}
    assert len(bare) > 100
    assert {path: names for path, names in bare.items() if names} == {}
    assert without_words("A = 3\n\n# Why.\nB = (1, 2)\nC = 4 << 10\n\nD = 5  # why\nE = 6\n\nF = 7\n") == ["A", "F"]


def test_no_physical_constant_stands_beside_a_formula() -> None:
    stray = []
    files = files_of("model", "plan", "reuse", "codegen", "libraries", "match", "models", "poly", "torch")
    for path in files:
        place = str(path.relative_to(ROOT))
        for name, number in constants_in(path):
            if is_physical(name, number) and (place, name) not in KNOWN:
                stray.append((place, name, number))
    assert len(files) > 60
    assert stray == []
    assert is_physical("_OVERHEAD", 300.0)
    assert is_physical("_COLUMNS_AHEAD", 4)
    assert is_physical("_APART", 2048)
    assert is_physical("_MOST", 3 << 19)
    assert not is_physical("_ROUNDS", 300)
    assert dict(constants_in(ROOT / "polydl" / "codegen" / "passes" / "streaming_stores.py")), "the walk sees numbers"


def test_the_core_that_microkernels_are_written_for_is_a_usual_one() -> None:
    assert generic(("avx512f",), 64, 64) == WIDE_CORE
