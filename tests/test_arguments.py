"""What callers pass from Python: wrong types and values are told where they enter, NumPy's integers are taken."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sized_matmul import write_matmul

import polydl
from polydl import pipeline
from polydl.arguments import MOST_SEED, listed, seconds_of, whole
from polydl.cli import main
from polydl.durations import seconds_in
from polydl.errors import OptionError, RecordsWarning
from polydl.execute.contract import TimingPolicy
from polydl.machine import Machine
from polydl.optimization.budget import Budget
from polydl.records.store import read


@pytest.fixture
def matmul(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_matmul(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("seed", -1, "seed is -1"),
        ("seed", 0.5, "no integer"),
        ("seed", None, "no integer"),
        ("max_variants", True, "no integer"),
        ("max_variants", 0, "max_variants is 0"),
        ("top_k", "2", "no integer"),
        ("top_k", -1, "top_k is -1"),
        ("threads", True, "no integer"),
        ("threads", 2.0, "no integer"),
        ("workload", 5, "workload is 5"),
        ("timeout_seconds", float("nan"), "timeout_seconds is nan"),
        ("timeout_seconds", float("inf"), "timeout_seconds is inf"),
        ("timeout_seconds", "60", "timeout_seconds is '60'"),
        ("pins", "tile i=8", r"pins=\['tile i=8'\]"),
        ("constant", "AB", r"constant=\['AB'\]"),
        ("include_directories", "/usr", r"include_directories=\['/usr'\]"),
        ("include_directories", Path("/usr"), "put it into one"),
        ("variants", "3f3e3d9342f3", "with a Variant in each place"),
        ("budget", 30, "budget is 30"),
        ("shard", (1, 2), "shard is"),
        ("strategy", "foo", "strategies"),
        ("strategy", "random", "without a budget"),
        ("machine", "zen4", "machine is 'zen4'"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(name: str, value: Any, words: str, matmul: Path) -> None:
    with pytest.raises(OptionError, match=words) as raised:
        polydl.optimize(matmul, **{"max_variants": 4, "top_k": 1, name: value})
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": ""}, "'' is no path"),
        ({"path": None}, "None is no path"),
        ({"path": "a\0b.c"}, "is no path"),
        ({"function": 3}, "function is 3"),
        ({"defines": {"M": None}}, "defines has None for M"),
        ({"defines": {"M": True}}, "defines has True for M"),
        ({"defines": {3: 4}}, "3 is no C identifier"),
    ],
)
def test_wrong_arguments_of_parse(arguments: dict[str, Any], words: str, matmul: Path) -> None:
    with pytest.raises(OptionError, match=words) as raised:
        polydl.parse(**{"path": matmul, **arguments})
    assert raised.value.remedy


@pytest.mark.parametrize("option", [{"function": "matmul"}, {"defines": {"M": 64}}, {"include_directories": ["."]}])
def test_options_of_reading_are_not_dropped_beside_a_nest_that_is_read(option: dict[str, Any], matmul: Path) -> None:
    nest = polydl.parse(matmul)
    for work in (polydl.optimize, polydl.fuse):
        with pytest.raises(OptionError, match=f"{next(iter(option))} beside a nest that is read already"):
            work(nest, **option)


def test_seeds_and_counts_of_generated_variants(matmul: Path) -> None:
    nest, machine = polydl.parse(matmul), Machine.detect(threads=1)
    few = polydl.generate_variants(nest, machine=machine, max_variants=4, seed=3)
    same = polydl.generate_variants(nest, machine=machine, max_variants=np.int64(4), seed=np.uint8(3))  # type: ignore[arg-type]
    assert same == few
    assert polydl.rank(nest, (each for each in few), machine=machine).entries  # type: ignore[arg-type]
    space = pipeline.space_on(nest, machine)
    for wrong in (-1, "a", None, 0.5):
        with pytest.raises(OptionError, match="seed is"):
            polydl.generate_variants(nest, machine=machine, max_variants=4, seed=wrong)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="seed is"):
            pipeline.estimated_size(space, seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="not a list"):
        polydl.rank(nest, few[0], machine=machine)  # type: ignore[arg-type]


def test_threads_of_a_machine_are_an_integer_of_python() -> None:
    here = Machine.detect(threads=np.int64(1))  # type: ignore[arg-type]
    assert type(here.threads) is int
    for wrong in (2.0, True, "1"):
        with pytest.raises(OptionError, match="threads is"):
            Machine.detect(threads=wrong)  # type: ignore[arg-type]


@pytest.mark.native
@pytest.mark.parametrize(("records", "words"), [("matmul.c", "which is a file"), (None, "records is None")])
def test_records_are_a_directory_or_a_truth_value(records: Any, words: str, matmul: Path) -> None:
    with pytest.raises(OptionError, match=words) as raised:
        polydl.optimize(matmul, max_variants=4, top_k=1, records=records)
    assert raised.value.remedy


@pytest.mark.native
@pytest.mark.usefixtures("second_level")
def test_integers_of_numpy_give_records_that_are_read_back(matmul: Path, tmp_path: Path) -> None:
    result = polydl.optimize(
        matmul,
        threads=np.int64(1),  # type: ignore[arg-type]
        max_variants=np.int32(4),  # type: ignore[arg-type]
        top_k=np.uint8(1),  # type: ignore[arg-type]
        seed=np.int64(3),  # type: ignore[arg-type]
        timeout_seconds=np.float32(1e7),  # type: ignore[arg-type]
        cold=np.bool_(False),  # type: ignore[arg-type]
        records="kept",
    )
    assert result.tried
    damaged: list[Any] = []
    assert [record.setting.threads for record in read(tmp_path / "kept", damaged=damaged.append)]
    assert damaged == []


@pytest.mark.native
@pytest.mark.usefixtures("second_level")
def test_records_that_can_not_be_written_are_a_warning(matmul: Path) -> None:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        # Not even root can make a folder there.
        result = polydl.optimize(matmul, threads=1, max_variants=4, top_k=1, records="/proc/records")
    said = [str(each.message) for each in given if each.category is RecordsWarning]
    assert len(said) == 1
    assert said[0].startswith(f"{result.store.lost} measurements not stored")


def test_other_numbers_than_records_hold_are_no_seeds_of_any_command(
    matmul: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = ("optimize", "variants", "rank", "analyze", "fuse", "library", "bench", "fuzz", "collect", "tune")
    for command in (*commands, "train --ranker dnn", "evaluate"):
        for seed in ("-1", str(1 << 63)):
            assert main.main([*command.split(), "--seed", seed], standalone_mode=False) == 2, command
            assert f"'--seed': {seed} is not in the range 0<=x<={MOST_SEED}" in capsys.readouterr().err, command


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"ranges": "M=1..64"}, "put it into one"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1 << 63}, "seed is 9223372036854775808"),
        ({"shapes": 1.5}, "shapes is 1.5"),
        ({"timeout_seconds": float("inf")}, "timeout_seconds is inf"),
    ],
)
def test_wrong_arguments_of_a_library(option: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        polydl.library("nest.c", **{"ranges": ["M=1..64"], **option})


def test_a_strategy_needs_a_budget(matmul: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("optimize", "tune"):
        words = [command, "matmul.c", "--strategy", "random"]
        assert main.main(words, standalone_mode=False) == 2
        error = capsys.readouterr().err
        assert "the strategy 'random' without a budget" in error
        assert "--budget 30s" in error


def test_lengths_of_time_are_the_same_everywhere() -> None:
    lengths = {"90": 90.0, "90s": 90.0, "1.5m": 90.0, "2 min": 120.0, " 1h ": 3600.0}
    assert {text: seconds_in(text) for text in lengths} == lengths
    assert [seconds_in(text) for text in ("", "h", "1d", "-1s", "1e3s", "nan", "²s")] == [None] * 7
    assert Budget.parse("1h") == Budget(seconds=3600.0)
    for text in ("30", "0s", "0h", "1d", "runs"):
        with pytest.raises(OptionError, match="is no budget"):
            Budget.parse(text)


def test_integers_lists_and_times() -> None:
    assert (whole("x", np.int64(3), 3), whole("x", -4)) == (3, -4)
    assert listed("x", None, str) == ()
    assert listed("x", iter(["a", Path("b")]), str, Path) == ("a", Path("b"))
    assert seconds_of("x", np.float32(0.5)) == 0.5
    for wrong in (b"ab", 3, {"a": 1}.values()):
        with pytest.raises(OptionError):
            listed("x", wrong, str)
    for limit in (float("inf"), float("nan"), "60", None):
        with pytest.raises(OptionError, match="timeout_seconds"):
            TimingPolicy(timeout_seconds=limit)  # type: ignore[arg-type]


def test_numbers_of_things_are_words() -> None:
    assert repr(polydl.Ranking("guess", ())) == "<Ranking of 0 variants by guess>"
    assert repr(polydl.Variant(())) == "<Variant 4f53cda18c2b: 0 steps>"
