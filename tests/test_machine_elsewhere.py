"""Machines that polydl doesn't run on: their description, and code for them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import polydl
from polydl.cli import main
from polydl.emission.target import TargetProcessors, spelled_out
from polydl.errors import MachineError
from polydl.machine import Machine
from polydl.machine.elsewhere import machine_elsewhere, names
from polydl.machine.processors import family_of
from polydl.machine.profile import Surroundings, read, write
from polydl.machine.system import find
from polydl.pipeline import microkernels
from polydl.reuse.caches import threads_sharing

STORED = Path(__file__).parent / "data" / "calibration.toml"
SURROUNDINGS = Surroundings(1 << 34, 4096, (64, 64, 64), (1, 1, 2))
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


@pytest.fixture
def product(tmp_path: Path) -> Path:
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    return path


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """What `polydl calibrate` would write on a node of 28 cores with tile registers."""
    profile = read(STORED)
    identity = dataclasses.replace(profile.identity, cores=28)
    path = tmp_path / "node.toml"
    write(dataclasses.replace(profile, identity=identity, surroundings=SURROUNDINGS), path)
    return path


def another(name: str) -> str:
    """A processor of a profile that isn't like the one at hand: that one, or else another."""
    here = find().identity.cpu_id
    return name if Machine.load(_file(name)).cpu_id != here else next(each for each in names() if each != name)


def _file(name: str) -> Path:
    return Path(polydl.__file__).parent / "machine" / "profiles" / f"{name}.toml"


def test_a_calibration_describes_the_machine_that_it_was_taken_on(node: Path) -> None:
    machine = machine_elsewhere(str(node))
    assert (machine.cores, machine.threads, machine.vector_bytes) == (28, 28, 64)
    assert machine.memory_bytes == 1 << 34
    assert [level.shared_by for level in machine.caches] == [1, 1, 2]
    assert machine.throughputs == read(STORED).throughputs
    assert not machine.at_hand


def test_fewer_threads_than_cores_and_no_more(node: Path) -> None:
    assert machine_elsewhere(str(node), threads=4).threads == 4
    with pytest.raises(MachineError, match="29 threads") as caught:
        machine_elsewhere(str(node), threads=29)
    assert "1 to 28" in (caught.value.remedy or "")


def test_an_earlier_calibration_says_too_little() -> None:
    with pytest.raises(MachineError, match="earlier polydl") as caught:
        machine_elsewhere(str(STORED))
    assert caught.value.file == str(STORED)


@pytest.mark.parametrize("text", [None, "cores = ", "cores = 2\n", "[identity]\nname = 'x'\n"])
def test_files_that_describe_no_machine(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "machine.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(MachineError) as caught:
        machine_elsewhere(str(path))
    assert caught.value.file == str(path)
    assert caught.value.remedy


def test_a_saved_description_is_taken_as_well(tmp_path: Path) -> None:
    machine = Machine.load(_file("zen5"))
    machine.save(tmp_path / "saved.toml")
    assert "at_hand" not in (tmp_path / "saved.toml").read_text()
    assert dataclasses.replace(machine_elsewhere(str(tmp_path / "saved.toml")), at_hand=True) == machine


def test_every_profile_says_where_its_numbers_are_from() -> None:
    assert names() == ("xeon-amx", "zen3", "zen4", "zen5")
    for name in names():
        text = _file(name).read_text()
        comment = " ".join(line.removeprefix("# ") for line in text.splitlines() if line.startswith("#"))
        assert "measured by" in comment
        assert "as the system told there" in comment
        Machine.load(_file(name))
    assert all(family_of(Machine.load(_file(name)).cpu_id) for name in ("zen3", "zen4", "zen5"))


def test_a_processor_of_a_name_has_as_many_cores_as_threads_are_asked_for() -> None:
    machine = machine_elsewhere("xeon-amx", threads=28)
    assert (machine.cores, machine.threads, machine.total_bandwidths) == (28, 28, ())
    # One last cache, not one for each two cores of the virtual machine that was measured; on Zen one for each eight.
    assert threads_sharing(machine.caches, 28, machine.cores) == (1, 1, 28)
    zen = machine_elsewhere("zen4", threads=28)
    assert threads_sharing(zen.caches, 28, zen.cores) == (1, 1, 8)
    assert threads_sharing(zen.caches, 2, 2) == (1, 1, 2)
    assert machine_elsewhere("xeon-amx").total_bandwidths != ()


def test_a_machine_like_the_one_at_hand_is_the_one_at_hand(tmp_path: Path) -> None:
    here = Machine.detect()
    here.save(tmp_path / "here.toml")
    assert machine_elsewhere(str(tmp_path / "here.toml")) == here
    dataclasses.replace(here, cores=1024).save(tmp_path / "larger.toml")
    assert not machine_elsewhere(str(tmp_path / "larger.toml"), threads=1024).at_hand


@pytest.mark.parametrize(
    ("isa", "march", "options"),
    [
        ((), "x86-64", ()),
        (("sse4_2", "avx", "avx2", "fma", "f16c"), "x86-64-v3", ()),
        (("sse4_2", "avx"), "x86-64-v2", ("-mavx",)),
        (("asimd", "asimdhp", "asimddp", "sve"), "armv8.2-a+fp16+dotprod+sve", ()),
    ],
)
def test_instruction_sets_are_spelled_out(isa: tuple[str, ...], march: str, options: tuple[str, ...]) -> None:
    assert spelled_out(isa) == (march, options)


def test_those_of_a_profile_are_spelled_out() -> None:
    march, options = spelled_out(Machine.load(_file("xeon-amx")).isa)
    assert march == "x86-64-v4"
    assert {"-mamx-tile", "-mamx-bf16", "-mavx512bf16", "-mavx512fp16", "-mavxvnni"} <= set(options)


def test_microkernels_are_those_of_the_other_machine() -> None:
    tiles, none = machine_elsewhere("xeon-amx", threads=28), machine_elsewhere("zen4", threads=1024)
    assert not tiles.at_hand
    assert [kernel.unavailable() for kernel in microkernels("c-amx", machine=tiles)] == [None]
    assert "no AMX" in str(microkernels("c-amx", machine=none)[0].unavailable())
    assert "the processor that it runs on" in str(microkernels("libxsmm", machine=tiles)[0].unavailable())
    assert microkernels("c", machine=none)[0].unavailable() is None


@pytest.mark.parametrize("command", ["rank", "variants", "analyze"])
def test_commands_take_another_machine(
    command: str, product: Path, node: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [command, str(product), "--machine", str(node), "--threads", "28", "--max-variants", "5", "--json", "-"]
    assert main(line, standalone_mode=False) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["machine"]["threads"] == 28


@pytest.mark.native
def test_the_first_of_the_ranking_is_emitted_with_flags_that_are_spelled_out(
    product: Path, node: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    line = ["optimize", str(product), "--machine", str(node), "--max-variants", "5", "--out", str(out)]
    assert main(line, standalone_mode=False) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not run the code is for Intel(R) Xeon(R) Processor, and this is another machine" in said
    document = json.loads((out / "report.json").read_text())
    assert not document["machine"]["at_hand"]
    assert (document["best"], document["machine"]["threads"]) == (None, 28)
    text = (out / "README.txt").read_text()
    assert "-march=x86-64-v4" in text
    assert "native" not in text
    assert "Neither run nor checked" in (out / "product_polydl.c").read_text()


@pytest.mark.native
def test_what_is_made_for_a_known_processor_says_which_and_why_it_was_not_run(
    product: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    line = ["optimize", str(product), "--machine", "zen3", "--threads", "4096", "--max-variants", "3"]
    assert main([*line, "--out", str(out)], standalone_mode=False) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not run the code is for AMD EPYC, Zen 3, and this is another machine" in said
    lacking = json.loads((out / "report.json").read_text())["machine"].get("lacking")
    text = (out / "product_polydl.c").read_text()
    assert ("the processor on which it was made lacks" in text) == bool(lacking)
    assert ("it is for another machine than the one on which it was made" in text) == (not lacking)


def test_every_processor_has_a_name_of_its_own_until_it_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({Machine.load(_file(name)).name for name in names()}) == len(names())
    monkeypatch.setattr("polydl.machine.elsewhere.is_here", lambda _: True)
    assert {machine_elsewhere(name).name for name in names()} == {find().identity.name}


@pytest.mark.native
@pytest.mark.parametrize("more", [[], ["--no-run"]])
def test_the_processors_at_hand_are_not_those_of_another_machine(
    more: list[str], product: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["optimize", str(product), "--machine", another("zen5"), "--march", "native", "--out", str(tmp_path / "out")]
    assert main([*line, *more], standalone_mode=False) == 2
    said = capsys.readouterr().err
    assert "native processors are those of this machine, and the code is for another one" in said
    assert "such as znver4" in said


@pytest.mark.native
def test_what_is_not_run_has_no_parts(product: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["optimize", str(product), "--machine", another("zen5"), "--records", str(tmp_path / "records")]
    assert main([*line, "--shard", "1/2", "--out", str(tmp_path / "out")], standalone_mode=False) == 2
    assert "a part of the measurements, and this machine can't run such code" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.native
def test_flags_that_the_compiler_does_not_know_are_left_out() -> None:
    machine = dataclasses.replace(Machine.load(_file("zen4")), at_hand=False)
    strange = dataclasses.replace(machine, isa=(*machine.isa, "avx512_of_later_years"))
    toolchain = TargetProcessors.of(strange).toolchain
    assert toolchain.flags == TargetProcessors.of(machine).toolchain.flags
    assert toolchain.instructions
    assert not any("later" in flag for flag in toolchain.flags)


@pytest.mark.native
def test_with_no_run_nothing_is_written(product: Path, tmp_path: Path) -> None:
    line = ["optimize", str(product), "--machine", another("zen5"), "--no-run", "--out", str(tmp_path / "out"), "-q"]
    assert main(line, standalone_mode=False) == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.json"]


@pytest.mark.native
def test_fused_code_for_another_machine_is_emitted_as_well(tmp_path: Path, node: Path) -> None:
    example = Path(__file__).parents[1] / "examples" / "bnorm_relu.c"
    line = ["fuse", str(example), "--machine", str(node), "--max-variants", "5", "--out", str(tmp_path / "out"), "-q"]
    assert main(line, standalone_mode=False) == 0
    assert (tmp_path / "out" / "bnorm_relu_polydl.c").exists()
