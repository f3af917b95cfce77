"""The command ``polydl`` on real input: what it prints, what it writes and how it ends."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import MATMUL, STENCIL, matmul, polydl
from marks import parametrized
from scripted_times import scripted

from polydl import registry
from polydl.cli import main
from polydl.emitted_names import FILE_KINDS, OPTIONAL_FILES

pytestmark = pytest.mark.usefixtures("second_level")

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "docs" / "optimize.schema.json").read_text(encoding="utf-8"))
PROCESSORS = len(os.sched_getaffinity(0))

__all__ = ["matmul", "polydl"]

QUICK = ("--max-variants", "12", "--top-k", "2")


@pytest.mark.native
@parametrized(
    "threads", [1, pytest.param(2, marks=pytest.mark.skipif(PROCESSORS < 2, reason="needs two cores"))], quick=1
)
@parametrized(("name", "text", "kernel"), [("matmul", MATMUL, True), ("stencil", STENCIL, False)], quick=1)
def test_optimize_ends_with_a_checked_winner(
    polydl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, kernel: bool, threads: int
) -> None:
    met: list[str] = []

    def seconds(identity: str) -> float:
        """The first variant is the fastest, and any of them faster than the plain nest."""
        met.extend([identity] * (identity not in met))
        return 1e-6 * (1 + 0.1 * met.index(identity)) if re.fullmatch(r"[0-9a-f]{12}", identity) else 1e-3

    scripted(monkeypatch, seconds)
    (tmp_path / f"{name}.c").write_text(text)
    ended = polydl("optimize", f"{name}.c", "--threads", str(threads), *QUICK, "--json", "-")
    assert (ended.status, ended.err) == (0, "")
    found = ended.document
    jsonschema.validate(found, SCHEMA)
    count = len(found["candidates"])
    assert count >= 2, "forms of the picks on one thread, and what isl schedules, join them"
    assert {each["status"] for each in found["candidates"]} == {"ok"}
    counts = found["counts"]
    assert counts["legal"] <= counts["generated"]
    # What of the picks has threads is ranked on one thread, too.
    assert counts["legal"] <= counts["ranked"] <= counts["legal"] + count
    assert (found["counts"]["measured"], found["counts"]["failed"]) == (count, 0)
    assert found["machine"]["threads"] == threads
    best = found["best"]
    least = min(each["seconds_median"] for each in found["candidates"])
    assert (best["plain"], best["preferred_to"], best["seconds"]) == (False, None, least)
    assert (best["microkernel"] is not None) == kernel
    winner = next(each for each in found["candidates"] if each["id"] == best["id"])
    assert best["speedup"] == winner["speedup"] > 100
    files = {kind: Path(path) for kind, path in found["files"].items() if path is not None}
    assert {*FILE_KINDS, "report"} - OPTIONAL_FILES <= files.keys()
    assert files["c"] == Path("polydl-out", name, f"{name}_polydl.c")
    assert all(path.is_file() for path in files.values())
    assert hasattr(ctypes.CDLL(str(files["library"].resolve())), name)
    assert json.loads(files["report"].read_text()) == found
    assert re.search(r"Measured [\d.]+ [un]s, [\d.]+ GFLOPS", files["c"].read_text()), "as the screen has it"
    assert not list(Path("polydl-out", name).glob(".*")), "no temporary file is left"


@pytest.mark.slow
@pytest.mark.native
def test_optimize_says_what_it_found_and_did(polydl: Any, matmul: str) -> None:
    ended = polydl("optimize", matmul, "-v", "--threads", "1", "--cache-sizes", "32K,1M", *QUICK, "--out", "kernels")
    assert ended.status == 0
    for words in (
        "caches given: L1 32K, L2 1M",
        "function matmul",
        "for i in 0..95  (96)",
        "float C[96][64]",
        "983,040 floating-point operations",
        "microkernel",
        "lda ",
        "legal variants",
        "GFLOPS",
        "speed-up",
        "Winner  ",
        "Files  kernels",
        "matmul_polydl.c",
        "report.json",
    ):
        assert words in ended.out, words
    assert max(map(len, ended.out.splitlines())) <= 120


def test_a_macro_changes_the_nest(polydl: Any, matmul: str) -> None:
    found = polydl("parse", matmul, "-D", "N=24", "--json", "-").document
    assert found["input"]["defines"] == {"N": "24"}
    assert found["input"]["flops"] == 2 * 96 * 24 * 80
    assert {each["name"]: each["extents"] for each in found["arrays"]} == {"A": [96, 80], "B": [80, 24], "C": [96, 24]}


@pytest.mark.native
def test_several_microkernels_are_tried(polydl: Any, matmul: str) -> None:
    document = polydl("variants", matmul, "--microkernel", "c,libxsmm", "--json", "-").document
    steps = [step for variant in document["variants"] for step in variant["steps"]]
    assert {step["name"] for step in steps if step["step"] == "use_microkernel"} == {"c", "libxsmm"}


def test_no_run_stops_after_ranking(polydl: Any, matmul: str) -> None:
    ended = polydl(
        "optimize", matmul, "--no-run", "--threads", "1", "--max-variants", "12", "--top-k", "3", "--json", "-"
    )
    assert ended.status == 0
    found = ended.document
    jsonschema.validate(found, SCHEMA)
    assert (found["baseline"], found["baselines"], found["best"]) == (None, [], None)
    ranks = [each["rank"] for each in found["candidates"]]
    assert (len(ranks), ranks[0]) == (3, 1)
    assert ranks == sorted(set(ranks)), "many of a kind wait for others"
    assert {each["status"] for each in found["candidates"]} == {None}
    assert {kind for kind, path in found["files"].items() if path is not None} == {"report"}
    assert found["seconds"]["run"] is None


@pytest.mark.slow
@pytest.mark.native
def test_all_runs_every_variant(polydl: Any, matmul: str) -> None:
    found = polydl("optimize", matmul, "--all", "--threads", "1", "--max-variants", "4", "--json", "-").document
    assert len(found["candidates"]) == found["counts"]["ranked"] == found["counts"]["measured"] == 4


@parametrized("command", ["optimize", "analyze"], quick=1)
def test_the_same_seed_gives_the_same_document(matmul: str, tmp_path: Path, command: str) -> None:
    documents = []
    for hash_seed in ("1", "2"):
        extra = ("--no-run",) if command == "optimize" else ()
        arguments = (command, matmul, "--seed", "5", "--max-variants", "25", "--threads", "1", *extra, "--json", "-")
        ended = subprocess.run(
            [sys.executable, "-c", "from polydl.cli import main; main()", *arguments],
            capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        lines = ended.stdout.splitlines()
        cut = next((number for number, line in enumerate(lines) if line.startswith('  "seconds"')), len(lines))
        documents.append(lines[:cut])
    assert len(documents[0]) > 20
    assert documents[0] == documents[1]


def test_another_seed_gives_another_sample(polydl: Any, matmul: str) -> None:
    first, second = (
        polydl("variants", matmul, "--seed", seed, "--max-variants", "12", "--json", "-").document for seed in "12"
    )
    assert first["counts"]["sampled"]
    assert [each["id"] for each in first["variants"]] != [each["id"] for each in second["variants"]]


IN_PLACE = """\
void smooth(float A[64][64]) {
  for (int i = 1; i < 63; ++i)
    for (int j = 1; j < 63; ++j)
      A[i][j] += 0.5f * A[i - 1][j];
}
"""


def written(directory: Path, *steps: dict[str, Any]) -> str:
    path = directory / "steps.json"
    path.write_text(json.dumps(steps), encoding="utf-8")
    return str(path)


@pytest.mark.slow
@pytest.mark.native
def test_a_variant_of_a_persons_own_is_shown_and_run(polydl: Any, matmul: str, tmp_path: Path) -> None:
    tiled = {"step": "tile", "nest": 0, "loop": "k", "sizes": [16]}
    ordered = {"step": "interchange", "nest": 0, "order": ["k_t1", "i", "j", "k"]}
    own = ("--threads", "1", "--variant", written(tmp_path, tiled, ordered))
    found = polydl("optimize", matmul, *own, "--json", "-").document
    [tried] = found["candidates"]
    assert (tried["steps"], tried["status"]) == ([tiled, ordered], "ok")
    shown = polydl("variants", matmul, "--threads", "1", "--show", own[-1]).out
    assert shown == polydl("variants", matmul, "--threads", "1", "--show", own[-1]).out
    assert "k_t1" in shown, shown
    assert "void matmul(" in shown


@pytest.mark.native
@pytest.mark.parametrize("command", [("optimize",), ("variants",)])
def test_an_illegal_variant_of_a_persons_own_says_what_it_breaks(
    polydl: Any, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "smooth.c").write_text(IN_PLACE)
    steps = written(tmp_path, {"step": "parallel", "nest": 0, "loop": "i"})
    named = ("--show", steps) if command == ("variants",) else ("--variant", steps)
    ended = polydl(*command, "smooth.c", "--threads", "2", *named)
    assert ended.status == 2
    assert "the RAW dependence on `A` within S0 (line 4)" in ended.err
    assert "running `i` in parallel" in ended.err
    assert "remedy: `polydl variants FILE --json -`" in ended.err


@pytest.mark.slow
@pytest.mark.native
def test_optimize_leaves_to_the_search_what_is_not_pinned(polydl: Any, matmul: str) -> None:
    found = polydl(
        "optimize", matmul, "--threads", "1", *QUICK, "--pin", "no packing", "--pin", "microkernel=c", "--json", "-"
    )
    steps = [step for each in found.document["candidates"] for step in each["steps"]]
    assert {step["name"] for step in steps if step["step"] == "use_microkernel"} == {"c"}
    assert not [step for step in steps if step["step"].startswith("pack")]


def test_pins_may_ask_for_what_is_not_tried_otherwise(polydl: Any, matmul: str) -> None:
    found = polydl(
        "variants",
        matmul,
        "--threads",
        "1",
        "--max-variants",
        "5",
        "--pin",
        "microkernel=none",
        "--pin",
        "tile i=7",
        "--json",
        "-",
    )
    steps = [[step for step in each["steps"] if step.get("loop") == "i"] for each in found.document["variants"]]
    assert steps
    assert [step["sizes"] for own in steps for step in own if step["step"] == "tile"] == [[7]] * len(steps)
    assert "use_microkernel" not in str(found.document["variants"])


def test_parse_shows_loops_and_accesses(polydl: Any, tmp_path: Path) -> None:
    (tmp_path / "stencil.c").write_text(STENCIL)
    ended = polydl("parse", "stencil.c")
    assert ended.status == 0
    assert "for j in 1..256  (256)" in ended.out
    assert "read  in[i - 1][j]" in ended.out
    assert "double out[130][258]" in ended.out


def test_parse_shows_steps_of_loops_and_how_often_they_run(polydl: Any, tmp_path: Path) -> None:
    (tmp_path / "steps.c").write_text(
        "void f(float a[225])\n{\n  for (int i = 0; i < 225; i += 3)\n    for (int j = i; j < 225; j += 8)\n"
        "      a[i] += 1;\n  for (int i = 0; i < 9; i++)\n    for (int j = 0; j <= i; j++)\n      a[j] = 0;\n}\n"
    )
    loops = [line.strip() for line in polydl("parse", "steps.c").out.split("\n") if line.strip().startswith("for ")]
    assert loops == [
        "for i in 0..222 by 3  (75)", "for j in 0..224 by 8  (up to 29)", "for i in 0..8  (9)",
        "for j in 0..8  (up to 9)",
    ]  # fmt: skip


def test_json_goes_to_a_file_beside_the_text(polydl: Any, matmul: str) -> None:
    ended = polydl("parse", matmul, "--json", "scop.json")
    assert "function matmul" in ended.out
    assert json.loads(Path("scop.json").read_text())["schema"] == "polydl.parse/1"


@pytest.mark.native
def test_doctor_reports_every_component(polydl: Any) -> None:
    ended = polydl("doctor", "--json", "doctor.json")
    found = json.loads(Path("doctor.json").read_text())
    assert found["ready"] == (ended.status == 0)
    assert {"pet", "islpy", "LIBXSMM", "C compiler"} <= {each["name"] for each in found["components"]}
    assert all(each["name"] in ended.out for each in found["components"])


@pytest.mark.native
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("optimize", "absent.c"), "absent.c"),
        (("optimize", "matmul.c", "--ranker", "tarot"), "cost-model"),
        (("optimize", "matmul.c", "--microkernel", "magic"), "libxsmm"),
        (("optimize", "matmul.c", "--microkernel", "c,auto"), "'auto' is not one"),
        (("optimize", "matmul.c", "--cache-sizes", "1M,32K"), "--cache-sizes 1M,32K"),
        (("optimize", "matmul.c", "--cache-sizes", "large"), "'large' is not a cache size"),
        (("optimize", "matmul.c", "--compiler", "no-such-cc"), "no-such-cc"),
        (("optimize", "matmul.c", "--threads", "100000"), "threads"),
        (("optimize", "matmul.c", "--function", "absent"), "absent"),
        (("optimize", "matmul.c", "-D", "9=1"), "-D 9=1"),
        (("optimize", "matmul.c", "--top-k", "0"), "--top-k"),
        (("optimize", "matmul.c", "--json", "matmul.c"), "over the source"),
        (("optimize", "matmul.c", "--out", "matmul.c/below"), "--out"),
        (("optimize", "matmul.c", "--json", "."), "--json ."),
        (("optimize", "matmul.c", "--json", "matmul.c/x.json"), "--json matmul.c/x.json"),
        (("optimize", "matmul.c", "--html", "matmul.c/x.html"), "--html matmul.c/x.html"),
        (("analyze", "matmul.c", "--variant", "zz"), "zz"),
        (("analyze", "matmul.c", "--ranker", "tarot"), "cost-model"),
        (("parse", "--workload", "gemm_8x8x8", "-D", "N=3"), "error: gemm_8x8x8.c: -D N=3"),
        (("optimize", "matmul.c", "--no-such-option"), "--no-such-option"),
        (("optimize", "matmul.c", "--no-run", "--budget", "5s"), "nothing is to be run"),
        (("tune",), "nothing to optimize"),
        (("tune", "matmul.c", "--out", "matmul.c"), "no file can be written in matmul.c"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_and_status_2(
    polydl: Any, matmul: str, arguments: tuple[str, ...], words: str
) -> None:
    ended = polydl(*arguments)
    assert ended.status == 2
    assert ended.err.startswith("polydl: error: ")
    assert words in ended.err
    assert "remedy: " in ended.err
    assert "Traceback" not in ended.err
    assert sorted(path.name for path in Path().iterdir()) == ["matmul.c"]
    assert Path("matmul.c").read_text() == MATMUL


@pytest.mark.slow
@pytest.mark.native
def test_emitted_c_is_not_overwritten_by_its_own_successor(polydl: Any, tmp_path: Path) -> None:
    emitted = tmp_path / "matmul_polydl.c"
    emitted.write_text(MATMUL)
    ended = polydl("optimize", "matmul_polydl.c", "--threads", "1", "--out", ".")
    assert ended.status == 2
    assert "over the source" in ended.err
    assert emitted.read_text() == MATMUL
    assert polydl("optimize", "matmul_polydl.c", "--threads", "1", *QUICK).status == 0


@pytest.mark.native
def test_source_errors_name_file_and_line(polydl: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("void f(float a[8]) {\n  for (int i = 0; i < 8; ++i)\n    a[i] = ;\n}\n")
    ended = polydl("optimize", "broken.c")
    assert ended.status == 2
    assert ended.err.startswith("polydl: error: ")
    assert "broken.c:3: " in ended.err


@pytest.mark.native
def test_candidates_that_do_not_compile_are_shown_and_kept(polydl: Any, matmul: str, tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(
        '#!/bin/sh\ncase "$*" in *original.*) ;; *.harness.c*)\n'
        'echo "this compiler is in a bad mood" >&2; exit 1 ;; esac\nexec gcc "$@"\n'
    )
    compiler.chmod(0o755)
    arguments = ("optimize", matmul, "--threads", "1", *QUICK, "--compiler", str(compiler))
    ended = polydl(*arguments, "--json", "-")
    assert ended.status == 1
    assert ended.err.count("this compiler is in a bad mood") == 2
    assert "no candidate passed" in ended.err
    found = ended.document
    jsonschema.validate(found, SCHEMA)
    assert found["best"] is None
    assert found["baseline"]["seconds"] > 0
    assert [each["status"] for each in found["candidates"]] == ["compile", "compile"]
    assert found["files"]["c"] is None
    for each in found["candidates"]:
        assert "matmul" in Path("polydl-out", "matmul", "failed", f"{each['id']}.c").read_text()
    assert "compile" in polydl(*arguments).out


@pytest.mark.slow
@pytest.mark.native
def test_a_nest_that_takes_too_long_is_a_failure(polydl: Any, tmp_path: Path) -> None:
    (tmp_path / "slow.c").write_text(MATMUL.replace("96", "800").replace("80;", "800;").replace("80]", "800]"))
    ended = polydl("optimize", "slow.c", "-D", "N=800", "--threads", "1", *QUICK, "--timeout", "0.002")
    assert ended.status == 1
    assert "timeout" in ended.err
    assert not list(Path("polydl-out", "matmul").glob("*.so"))


@pytest.mark.native
def test_control_c_leaves_nothing_behind(matmul: str, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # A shell without job control starts what runs in its background with interrupts ignored.
    command = [sys.executable, "-c", "from polydl.cli import main; main()", "optimize", matmul]
    command += ["--all", "--max-variants", "60", "--out", "out"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=os.environ | {"TMPDIR": str(temporary)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    # Folders vanish while others are looked through, which os.walk passes over.
    while not any(name.endswith(".so") for _, _, names in os.walk(temporary) for name in names):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "polydl: interrupted"
    assert not (tmp_path / "out").exists()
    assert list(temporary.iterdir()) == []


def test_a_closed_pipe_ends_without_a_traceback(matmul: str) -> None:
    command = f"{sys.executable} -c 'from polydl.cli import main; main()' parse {matmul} | true"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert ended.stderr == ""


def test_a_full_device_is_an_error(matmul: str) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", "from polydl.cli import main; main()", "parse", matmul]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 1
    assert "No space left" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_fault_of_polydl_asks_for_a_report(polydl: Any, matmul: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.GROUPS["frontends"], "pet", "json:dumps")
    ended = polydl("parse", matmul)
    assert ended.status == 1
    assert len(ended.err.splitlines()) == 2
    assert "--debug" in ended.err
    with pytest.raises(TypeError):
        main.main(["parse", matmul, "--debug"], standalone_mode=False)


def test_memory_that_ran_out_is_no_fault(polydl: Any, matmul: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("polydl.frontend.pet.parse", parse)
    ended = polydl("parse", matmul)
    assert ended.status == 1
    assert "memory ran out" in ended.err
    assert "use smaller sizes, fewer variants or fewer threads" in ended.err
    assert "--debug" not in ended.err


def test_a_command_that_does_not_exist_is_likened_to_those_that_do(polydl: Any) -> None:
    ended = polydl("optimise", "nest.c")
    assert ended.status == 2
    assert "No such command 'optimise'. Did you mean optimize?" in ended.err
    assert "mean" not in polydl("zzzz").err


def test_version(polydl: Any) -> None:
    from importlib.metadata import version

    assert polydl("--version").out == f"polydl, version {version('polydl')}\n"


def test_what_the_system_refuses_is_told_without_a_number(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/some/file")

    monkeypatch.setattr("polydl.doctor.examine", refused)
    assert main(["doctor"], standalone_mode=False) == 1
    assert "polydl: error: /some/file: the system refuses: Permission denied\n  remedy: " in capfd.readouterr().err
