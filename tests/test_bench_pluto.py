"""Pluto as a peer: what it is given, what is made of its answer, and which of its ways is taken."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from polybench_folder import polybench_folder

import polydl
from polydl.bench.peers import pluto
from polydl.bench.peers.compilers import COMPILERS
from polydl.bench.peers.kinds import MissingPeerError
from polydl.bench.peers.pluto import UntranslatedError, translations
from polydl.bench.polybench import program
from polydl.bench.results import read
from polydl.cli import main
from polydl.machine import Machine
from polydl.optimization.optimized import Optimization

ROOT = Path(__file__).parents[1]
# Answers with the region as it is, behind what the real one writes at the top of the file.
ECHO = """\
#!/bin/sh
[ "$1" = --version ] && { echo 'PLUTO version 0.12.0 - a parallelizer'; exit 1; }
given=$1; shift
options="$*"; output=${options##*-o }
%s
{ printf '#include <math.h>\\n#define min(x,y) 0\\n'; sed -e '/#pragma [a-z]*scop/d' "$given"; } > "$output"
"""
SHIFTED = """\
#include <math.h>
#define EXTENT 40
#define FIRST(array) array[0]
#define max 3
void shifted(double t1[EXTENT], double lb[EXTENT])
{
  int i;
  for (i = 0; i < EXTENT - 1; i++)
    t1[i] = lb[i + 1] + max * FIRST(lb);
}
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A polycc that answers with what it is given."""
    path = tmp_path / "own-polycc"
    write(path, "")
    monkeypatch.setenv(pluto.VARIABLE, str(path))
    return path


def write(path: Path, lines: str) -> None:
    """A ``polycc`` that runs these lines of the shell first, which may change the file that is ``given``."""
    path.write_text(ECHO % lines)
    path.chmod(0o755)


def optimization(path: Path, threads: int = 1) -> Optimization:
    return polydl.optimize(path, machine=Machine.detect(threads=threads), max_variants=1, run=False, records=False)


@pytest.fixture
def shifted(tmp_path: Path) -> Optimization:
    path = tmp_path / "shifted.c"
    path.write_text(SHIFTED)
    return optimization(path)


def test_without_pluto_the_peer_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(pluto.VARIABLE, raising=False)
    with pytest.raises(MissingPeerError, match="there is no polycc") as raised:
        COMPILERS["pluto"].toolchain()
    words = raised.value.remedy.split()
    assert [word for word in words if (ROOT / word).is_file()] == ["experiments/pluto/build.sh"]
    assert pluto.VARIABLE in words
    monkeypatch.setenv(pluto.VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(MissingPeerError, match="which is no program"):
        COMPILERS["pluto"].toolchain()


@pytest.mark.native
def test_pluto_is_found_in_the_search_path_or_where_it_is_named(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pluto.polycc() == driver
    monkeypatch.delenv(pluto.VARIABLE)
    inside = driver.with_name("polycc")
    shutil.copy(driver, inside)
    monkeypatch.setenv("PATH", str(driver.parent), prepend=":")
    assert pluto.polycc() == inside
    assert COMPILERS["pluto"].toolchain().kind in {"gcc", "clang"}


@pytest.mark.native
def test_pluto_is_given_loops_without_macros_and_names_of_its_own(
    driver: Path, shifted: Optimization, tmp_path: Path
) -> None:
    kept = tmp_path / "given.c"
    write(driver, f'cp "$given" {kept}')
    (answer,) = translations(shifted)
    given = kept.read_text()
    assert "#pragma scop" in given
    assert "i < 40 - 1" in given
    assert not {"EXTENT", "FIRST", "t1", "lb"} & set(given.replace("[", " ").split())
    assert "polydl_user_t1" in given
    # The user's own text is around the answer, which has the user's names again.
    source = answer.kernel.c
    assert source.startswith("#include <math.h>\n#define EXTENT 40\n")
    assert "t1[i] = lb[i + 1] + 3 * lb[0]" in source
    assert answer.way == "polycc 0.12.0 --tile --unrolljam --smartfuse --noparallel"
    assert "-ffast-math" in answer.kernel.compile_flags


@pytest.mark.native
def test_variables_of_pluto_are_none_of_the_users_and_loops_are_marked_for_gcc(
    driver: Path, shifted: Optimization
) -> None:
    lines = "#pragma ivdep\n#pragma vector always\nfor (t1 = 0; t1 <= 38; t1++) polydl_user_t1[t1] = max(1, t1);"
    head, tail = "sed -n '1,/#pragma scop/p' \"$given\"", "sed -n '/#pragma endscop/,$p' \"$given\""
    write(driver, f'{{ {head}; cat <<X\n{lines}\nX\n{tail}; }} > all; mv all "$given"')
    (answer,) = translations(shifted)
    assert (
        "#pragma GCC ivdep\nfor (pluto_t1 = 0; pluto_t1 <= 38; pluto_t1++) t1[pluto_t1] = max(1, pluto_t1);"
        in answer.kernel.c
    )
    assert "vector always" not in answer.kernel.c
    # A macro of the source is what it was behind the region.
    assert answer.kernel.c.count('#pragma push_macro("max")') == answer.kernel.c.count('#pragma pop_macro("max")') == 1


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_each_way_with_another_text_is_tried(driver: Path, tmp_path: Path, threads: int) -> None:
    path = tmp_path / "shifted.c"
    path.write_text(SHIFTED)
    write(driver, 'sed -i "s/^#pragma endscop/(void)sizeof \\"${options% -o*}\\";/" "$given"')
    ways = [each.way for each in translations(optimization(path, threads))]
    assert len(ways) == len(set(ways))
    assert {way.split()[-1] for way in ways} == ({"--noparallel"} if threads == 1 else {"--noparallel", "--parallel"})
    words = {word for way in ways for word in way.split()}
    assert words >= {"--tile", "--notile", "--nofuse", "--maxfuse", "--smartfuse", "--unrolljam", "--noprevector"}
    assert "--pet" not in words


@pytest.mark.native
def test_no_call_begins_when_the_time_is_over(
    driver: Path, shifted: Optimization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pluto, "_ALL_SECONDS", 0.0)
    write(driver, 'sed -i "s/^#pragma endscop/(void)sizeof \\"${options% -o*}\\";/" "$given"')
    assert len(translations(shifted)) == 1


@pytest.mark.native
@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang")
def test_pet_reads_what_clan_does_not(driver: Path, shifted: Optimization, tmp_path: Path) -> None:
    kept, calls = tmp_path / "given.c", tmp_path / "calls"
    write(driver, f'case "$options" in --pet*) cp "$given" {kept};; *) echo x >> {calls}; exit 8;; esac')
    (answer,) = translations(shifted)
    assert answer.way.startswith("polycc 0.12.0 --pet ")
    assert "void shifted(double t1[40], double lb[40])" in kept.read_text()
    # Once for each kind of fusion: the others would take as long to fail.
    assert calls.read_text().split() == ["x"] * 3


@pytest.mark.native
def test_what_pluto_says_is_the_reason(driver: Path, shifted: Optimization, monkeypatch: pytest.MonkeyPatch) -> None:
    write(driver, "echo '[Clan] Error: syntax error at line 3'; echo later; exit 8")
    with pytest.raises(UntranslatedError, match=r"--noparallel: \[Clan\] Error: syntax error at line 3"):
        translations(shifted)
    write(driver, 'rm -f "$given"; echo nothing > "$given"')
    with pytest.raises(UntranslatedError, match="it failed and says nothing"):
        translations(shifted)
    write(driver, "echo 'pluto.c:1: Assertion failed.'; echo 'line 54: 7 Aborted'; exit 1")
    with pytest.raises(UntranslatedError, match=r"pluto.c:1: Assertion failed\.$"):
        translations(shifted)
    write(driver, "kill -SEGV $$")
    with pytest.raises(UntranslatedError, match="it failed and says nothing"):
        translations(shifted)
    write(driver, "sleep 60")
    monkeypatch.setattr(pluto, "_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(pluto, "_given", lambda *_: "text")
    with pytest.raises(UntranslatedError, match="takes more than"):
        translations(shifted)


def bench(folder: Path, out: Path) -> str:
    few = ["--max-variants", "4", "--top-k", "1", "--rounds", "2", "--budget", "1", "--timeout", "20"]
    kept = ["--out", str(out), "--records", str(out.with_name("kept"))]
    command = ["bench", "--polybench", str(folder), "polybench_added_product", "--dataset", "MINI", "--peers", "pluto"]
    done = CliRunner().invoke(main, [*command, *few, *kept])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.native
@pytest.mark.slow
def test_the_fastest_of_the_ways_with_right_results_is_measured(driver: Path, tmp_path: Path) -> None:
    """Of three, the one that computes nothing would be the fastest, and the one that adds many zeros is slower."""
    nothing = "sed -i '/for/d; /c\\[i\\]/d' \"$given\""
    slow = "sed -i 's/c.i..j. +=/for (int more = 0; more < 300; more++) & (more == 7) */' \"$given\""
    write(driver, f'case "$options" in *--notile*) {nothing};; *--nofuse*) {slow};; esac')
    bench(polybench_folder(tmp_path), tmp_path / "results.json")
    timing = read(tmp_path / "results.json")["results"]["polybench_added_product"]["peers"]["pluto"]
    assert timing["status"] == "ok", timing
    assert (
        "; polycc 0.12.0 --tile --unrolljam --smartfuse --noparallel, the fastest of 3, 1 of which failed"
        in timing["note"]
    )


@pytest.mark.native
@pytest.mark.slow
def test_a_nest_that_pluto_refuses_has_a_result_that_says_why(driver: Path, tmp_path: Path) -> None:
    write(driver, "echo 'Error extracting polyhedra'; exit 8")
    bench(polybench_folder(tmp_path), tmp_path / "results.json")
    timing = read(tmp_path / "results.json")["results"]["polybench_added_product"]["peers"]["pluto"]
    assert timing["status"] == "unsupported"
    assert timing["note"].endswith("Error extracting polyhedra")


@pytest.mark.native
@pytest.mark.slow
def test_pluto_itself_tiles_a_product(tmp_path: Path) -> None:
    try:
        pluto.polycc()
    except polydl.PolydlError:
        pytest.skip("Pluto is not built")
    wanted = program("polybench_added_product", polybench_folder(tmp_path), "SMALL")
    nest = polydl.parse(wanted.path, defines=wanted.defines, include_directories=wanted.include_directories)
    result = polydl.optimize(nest, machine=Machine.detect(threads=1), max_variants=1, run=False, records=False)
    texts = [each.kernel.c for each in translations(result)]
    assert len(texts) > 3
    assert any("min(39," in text for text in texts)
    bench(tmp_path / "polybench", tmp_path / "results.json")
    timing = read(tmp_path / "results.json")["results"]["polybench_added_product"]["peers"]["pluto"]
    assert timing["status"] == "ok", timing


def test_the_script_that_builds_pluto_is_a_script() -> None:
    script = ROOT / "experiments" / "pluto" / "build.sh"
    assert subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False).stderr == ""
    refused = subprocess.run([str(script), "--form", "x"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.startswith("usage: ")
