"""Files that are none, odd names, long sums, many statements, full disks, closed streams: one clear answer each."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import parametrized

import polydl
from polydl import errors, pipeline
from polydl.execute.build import build
from polydl.execute.toolchain import Toolchain
from polydl.frontend import child
from polydl.frontend.counters import LIMITS, Header
from polydl.frontend.pet import parse
from polydl.poly import counting
from polydl.poly.dependences import dependences

GOOD = "void f(float a[8])\n{\n  for (int i = 0; i < 8; ++i)\n    a[i] = a[i] * 2;\n}\n"
COMMAND = (sys.executable, "-c", "from polydl.cli import main; main()")


def command(*arguments: str | bytes, cwd: Path, shell: str = '"$@"') -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a shell line runs it."""
    return subprocess.run(
        ["sh", "-c", shell, "sh", *COMMAND, *arguments],
        cwd=cwd, capture_output=True, text=True, errors="surrogateescape", timeout=120,
    )  # fmt: skip


# ---- what isn't a file


@pytest.mark.parametrize(("name", "kind"), [("/dev/zero", "a device"), ("pipe.c", "a pipe"), ("link.c", "a device")])
def test_only_files_are_read(name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.c")
    Path("link.c").symlink_to("/dev/zero")
    with pytest.raises(errors.SourceError, match=f"this is {kind}, not a file") as raised:
        parse(name)
    assert raised.value.remedy


def test_a_file_of_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    source = tmp_path / "long.c"
    with source.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(errors.SourceError, match=r"1048576\.0 MiB, and polydl reads at most 4"):
        parse(source)


def test_pipes_and_devices_are_not_included(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.h")
    (tmp_path / "between.h").write_text('int x;\n#include "endless.h"\n')
    source = tmp_path / "nest.c"
    for name, file, line in (
        ("/dev/zero", source, 2),
        ("endless.h", source, 2),
        ("between.h", tmp_path / "between.h", 2),
    ):
        source.write_text(f'// a comment\n#include "{name}"\n{GOOD}')
        with pytest.raises(errors.SourceError, match="this includes a") as raised:
            parse(source)
        assert (raised.value.file, raised.value.line) == (str(file), line)


# ---- names


@parametrized(
    "name", ["-nest.c", "a nest.c", "\"quoted'.c", "two\nlines.c", "$(touch run).c", "nêst.c", "*.c"], quick=1
)
def test_names_with_odd_characters_work(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(GOOD)
    ended = command("parse", "--json", "-", "--", name, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_control_characters_of_a_name_do_not_reach_the_terminal(tmp_path: Path) -> None:
    source = tmp_path / "red\x1b[31m\n.c"
    source.write_text("void f(void) {}\n")
    with pytest.raises(errors.NoScopError) as raised:
        parse(source)
    assert raised.value.file == str(source)
    assert r"red\x1b[31m\n.c: " in str(raised.value)
    assert "\x1b" not in str(raised.value)


@pytest.mark.slow
def test_a_name_that_is_not_utf8_is_refused_with_a_remedy_that_works(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"f\xfclder")
    folder.mkdir()
    source = folder / os.fsdecode(b"n\xebst.c")
    source.write_text(GOOD)
    for name, cwd in ((b"n\xebst.c", folder), (b"f\xfclder/n\xebst.c", tmp_path)):
        ended = command("parse", name, cwd=cwd)
        assert ended.returncode == 2
        assert "the path is not UTF-8 text" in ended.stderr
        assert r"n\xebst.c" in ended.stderr
        assert "Traceback" not in ended.stderr
    (tmp_path / "nest.c").symlink_to(source)
    assert command("parse", "nest.c", cwd=tmp_path).returncode == 0


@parametrized("name", ["optimize", "tune", "fuse", "library", "model", "fuzz"], quick=2)
def test_a_folder_for_results_that_is_not_utf8_is_refused_at_the_start(name: str, tmp_path: Path) -> None:
    files = () if name == "fuzz" else ("nest.c",)
    ended = command(name, *files, "--out", b"o\xebut", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "polydl: error: the path is not UTF-8 text\n  in: --out o\\xebut\n  remedy: name another directory\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_temporary_files_that_is_not_utf8_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(GOOD)
    (tmp_path / os.fsdecode(b"d\xebr")).mkdir()
    ended = command("parse", "nest.c", cwd=tmp_path, shell="TMPDIR=$PWD/$(printf 'd\\353r') exec \"$@\"")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"polydl: error: {tmp_path}/d\\xebr: the path is not UTF-8 text\n  remedy: name another place in TMPDIR\n"
    )


def test_documents_name_records_whose_path_is_not_utf8(tmp_path: Path) -> None:
    ended = command("records", "list", "--json", "-", "--records", b"r\xebcords", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["directory"] == "r\\xebcords"


# ---- expressions and statements


def sum_of(terms: int) -> str:
    return GOOD.replace("a[i] * 2", " + ".join(["a[i]"] * terms))


@pytest.mark.slow
@pytest.mark.native
def test_a_sum_of_500_terms_goes_all_the_way(tmp_path: Path, quick_command: Path) -> None:
    (tmp_path / "long.c").write_text(sum_of(500))
    words = [str(quick_command), "optimize", "long.c", "--threads", "1", "--top-k", "1", "--max-variants", "3"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "Winner  " in ended.stdout


@pytest.mark.slow
def test_a_sum_that_is_too_long_is_refused_and_half_as_many_terms_are_not(tmp_path: Path) -> None:
    source = tmp_path / "long.c"
    source.write_text(sum_of(20_000))
    with pytest.raises(errors.UnsupportedConstructError, match="operations of an expression") as raised:
        parse(source)
    assert raised.value.line == 4
    advised = int("".join(filter(str.isdigit, raised.value.remedy or "")))
    source.write_text(sum_of(advised))
    assert len(polydl.parse(source).statements) == 1


@pytest.mark.slow
def test_a_long_sum_that_was_split_as_advised_is_read(tmp_path: Path) -> None:
    source = tmp_path / "split.c"
    terms = " + ".join(f"b[i + {k}]" for k in range(1000))
    split = f"{{ {f'a[i] += {terms};' * 8} }}"
    source.write_text(GOOD.replace("a[8]", "a[8], float b[1008]").replace("a[i] = a[i] * 2;", split))
    ended = command("parse", "split.c", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "  S7 (line 4): 8 instances" in ended.stdout


def statements(count: int) -> str:
    return GOOD.replace("a[i] = a[i] * 2;", "{" + " ".join(f"a[i] += {k}.5f;" for k in range(count)) + "}")


def test_very_many_statements_are_refused_at_once_and_joined_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "many.c"
    source.write_text(statements(200))
    scop = polydl.parse(source)
    with pytest.raises(errors.AnalysisError, match=r"200 statements .* 120,000 pairs of accesses") as raised:
        dependences(scop)
    assert (raised.value.file, raised.value.line) == (str(source), 3)
    assert "join statements" in (raised.value.remedy or "")
    source.write_text(GOOD.replace("a[i] * 2", " + ".join(["a[i]", *(f"{k}.5f" for k in range(99))])))
    assert dependences(polydl.parse(source)) == ()
    source.write_text(statements(30))
    monkeypatch.setattr(counting, "_NEST_OPERATIONS", 10_000)
    with pytest.raises(errors.AnalysisError, match="isl gave up") as raised:
        dependences(polydl.parse(source))
    assert "fewer statements" in (raised.value.remedy or "")


# ---- counters


@pytest.mark.parametrize("element", ["signed char", "unsigned char"])
def test_overflow_of_a_counter_is_that_of_its_type(element: str) -> None:
    low, high = LIMITS[element]
    wrapping = (high - low) + 1
    holds = {
        "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "!=": int.__ne__,
    }  # fmt: skip
    checked = 0
    for comparison, step in (("<", 1), ("<", 3), ("<=", 5), (">", -1), (">=", -1), (">=", -7), ("!=", 1)):
        for start in (low, low + 1, 0, 5, high - 1, high):
            for bound in (low - 1, low, low + 2, 0, 100, high - 2, high, high + 1):
                if not holds[comparison](start, bound):
                    continue
                value, seen = start, set()
                while holds[comparison](value, bound) and value not in seen:
                    seen.add(value)
                    value = (value + step - low) % wrapping + low
                wraps = holds[comparison](value, bound) or len(seen) > abs(value - start) // abs(step)
                if comparison == "!=" and (bound - start) * step < 0:
                    continue
                said = Header("i", element, start, comparison, bound, step).overflow()
                assert (said is not None) == wraps, (comparison, step, start, bound)
                checked += 1
    assert checked > 100


def test_the_remedies_for_counters_are_true(tmp_path: Path) -> None:
    source = tmp_path / "nest.c"
    for counter, bound in (("int", "127"), ("long", "4000000000")):
        source.write_text(
            GOOD.replace("int i = 0; i < 8; ++i", f"{counter} i = 0; i < {bound}; i += 2").replace("[i]", "[0]")
        )
        assert parse(source).statements[0].instances == (int(bound) + 1) // 2
    for loop in ("signed char i = 0; i < 126; i += 2", "int i = 2147483640; i < 2147483647; i++"):
        source.write_text(GOOD.replace("int i = 0; i < 8; ++i", loop).replace("[i]", "[0]"))
        parse(source)


FAR = """\
void f(float A[64][40], float B[40][64], float x[64])
{
  for (long i = 3000000000; i < 3000000064; i++)
    for (int k = 0; k < 40; k++)
      x[i - 3000000000] += A[i - 3000000000][k] * B[k][i - 3000000000];
  for (int i = 2147483583; i < 2147483647; i++)
    for (long j = -3000000000; j <= i - 5147483583; j++)
      A[i - 2147483583][1] += B[0][j + 3000000000];
}
"""


@pytest.mark.slow
@pytest.mark.native
def test_counters_beyond_an_int_give_right_answers(tmp_path: Path) -> None:
    source = tmp_path / "nest.c"
    source.write_text(FAR)
    result = polydl.optimize(source, threads=2, max_variants=6, top_k=6, out=tmp_path, calibrate=False)
    assert len(result.tried) >= 5
    assert [each.measurement.status for each in result.tried] == ["ok"] * len(result.tried)


MIXED = """\
void f(const unsigned hash[64], const unsigned step, float bucket[64], int far[64], long gap[64])
{
  for (int i = 0; i < 64; i++) {
    far[i] = 2000000000 - i;
    bucket[i] = (hash[i] + i) % 1009;
    bucket[i] += (hash[i] - 30000000 * i) / 7 + (hash[i] < 30000000 * (i - 30));
    gap[i] = i - step;
  }
}
"""


@pytest.mark.native
def test_numbers_of_counters_beside_unsigned_ones_are_ints_whatever_other_statements_compute(tmp_path: Path) -> None:
    """Counters are longs since one statement comes near an int's end; a long beside an unsigned would not wrap."""
    source = tmp_path / "nest.c"
    source.write_text(MIXED)
    nest, machine = parse(source), polydl.Machine.detect(threads=1)
    variants = polydl.generate_variants(nest, machine=machine, max_variants=3, numerics="strict")
    kernels = [pipeline.kernel(pipeline.apply(nest, each, machine=machine), 32) for each in variants]
    i, numbers = np.arange(64), np.array([(1 << 32) - 1 - place // 2 for place in range(64)], np.uint32)
    wrapped = (numbers.astype(np.int64) - 30000000 * i) % (1 << 32)
    less = numbers < (30000000 * (i - 30)) % (1 << 32)
    expected = ((numbers + i) % (1 << 32) % 1009).astype(np.float32) + (wrapped // 7 + less).astype(np.float32)
    for built in build(kernels, Toolchain.find("gcc"), tmp_path):
        assert built.library is not None, built.message
        bucket, far, gap = np.zeros(64, np.float32), np.zeros(64, np.int32), np.zeros(64, np.int64)
        function = getattr(ctypes.CDLL(str(built.library)), built.kernel.function)
        function(*(ctypes.c_void_p(each.ctypes.data) for each in (numbers,)), ctypes.c_uint(100),
                 *(ctypes.c_void_p(each.ctypes.data) for each in (bucket, far, gap)))  # fmt: skip
        assert bucket.tolist() == expected.tolist()
        assert far.tolist() == (2000000000 - i).tolist()
        assert gap.tolist() == ((i - 100) % (1 << 32)).tolist()


# ---- names of generated code


def test_an_array_that_is_called_like_a_tile_loop_stays_in_sight(tmp_path: Path) -> None:
    source = tmp_path / "nest.c"
    source.write_text(
        "void f(float i_t1[64][64], float j_t1[64][64]) {\n  for (int i = 0; i < 64; ++i)\n"
        "    for (int j = 0; j < 64; ++j)\n      i_t1[i][j] = j_t1[j][i];\n}\n"
    )
    scop = polydl.parse(source)
    assert scop.statements[0].iterators == ("i_", "j_")
    assert [access.array for access in scop.statements[0].accesses] == ["i_t1", "j_t1"]
    space = pipeline.space_on(scop, polydl.Machine.detect(threads=1))
    loops = {
        loop
        for variant in pipeline.generate(space, max_variants=20, seed=0).variants
        for loop in map(str, variant.steps)
    }
    assert loops


# ---- disks


@pytest.mark.native
def test_a_file_system_without_execution_is_said_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = os.statvfs(tmp_path)
    fields = [*status[:8], status.f_flag | os.ST_NOEXEC, status.f_namemax]
    monkeypatch.setattr("os.statvfs", lambda _: os.statvfs_result(fields))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(errors.ResourceError, match="mounted noexec") as raised:
        build((), Toolchain.find(), tmp_path / "below")
    assert "TMPDIR" in (raised.value.remedy or "")


@parametrized("place", ["missing", "nest.c", "/proc"], quick=1)
def test_the_passes_take_the_place_that_is_there_if_none_can_be_made_in_tmpdir(place: str, tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(GOOD)
    ended = command("parse", "nest.c", cwd=tmp_path, shell=f'TMPDIR={place} exec "$@"')
    assert ended.returncode == 0, ended.stderr
    assert "function f" in ended.stdout


def test_a_full_disk_while_pet_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nest.c").write_text(GOOD)
    printed = "error: unable to make temporary file: No space left on device\n"

    def run(module: str, request: Mapping[str, Any], folder: Path, timeout_seconds: float) -> child.ChildOutcome:
        if module.endswith("pet_worker"):
            # Where the folder that is removed with all in it is.
            assert Path(request["temporary"]) == folder
            return child.ChildOutcome({"scops": []}, "", printed)
        return child.run_child(module, request, folder, timeout_seconds)

    monkeypatch.setattr("polydl.frontend.passes.run_child", run)
    with pytest.raises(errors.ResourceError, match="can't be run: No space left on device") as raised:
        parse(tmp_path / "nest.c")
    assert "TMPDIR" in (raised.value.remedy or "")


def test_a_full_disk_while_the_passes_write(tmp_path: Path) -> None:
    request = tmp_path / "request"
    request.write_text('{"libraries": ["none.so"]}')
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "polydl.frontend.pet_worker", str(request), "/dev/full"],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == os.EX_IOERR
    assert ended.stderr.split()[-1] == "28"
    assert "Traceback" not in ended.stderr


# ---- streams


@pytest.mark.slow
def test_closed_streams(tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(GOOD)
    closed = command("parse", "nest.c", cwd=tmp_path, shell='"$@" >&-')
    assert closed.returncode == 1
    assert closed.stderr.startswith("polydl: error: standard output is closed\n  remedy: ")
    for shell in ('"$@" <&-', '"$@" 2>&-', '"$@" <&- 2>&-'):
        ended = command("parse", "nest.c", cwd=tmp_path, shell=shell)
        assert ended.returncode == 0
        assert "function f" in ended.stdout
    assert command("parse", "none.c", cwd=tmp_path, shell='"$@" 2>&-').returncode == 2
    first = command("parse", "nest.c", cwd=tmp_path, shell='"$@" | head -1')
    assert (first.stdout.count("\n"), first.stderr) == (1, "")
    full = command("parse", "nest.c", cwd=tmp_path, shell='"$@" > /dev/full')
    assert full.returncode == 1
    assert full.stderr.startswith(
        "polydl: error: standard output can't be written: No space left on device\n  remedy: "
    )
