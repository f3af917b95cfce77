"""Which variants are measured, how they are kept, and how orders of them are judged."""

from __future__ import annotations

import itertools
import json
import lzma
import statistics
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chance import pairs_by_lot, tops_by_lot
from measured import MACHINE, NESTS, SOURCE

from polydl import pipeline, workloads
from polydl.cli import main
from polydl.errors import OptionError, RecordsError
from polydl.ir.variant import Interchange, Tile, Variant
from polydl.learning import collection, evaluation
from polydl.learning.collection import Collected, CollectionOptions, analysed_anew, choose, layers_of
from polydl.learning.metrics import bootstrap, geomean, quality, random_quality
from polydl.learning.recorded_space import recorded_rows
from polydl.learning.samples import (
    candidate_of,
    describe,
    groups_of_workloads,
    machines_beside,
    measured_nests,
    nests_in,
    profile_path,
    read_records,
    usable,
    write_compressed,
)
from polydl.learning.selection import balanced, decisions, leading, spread_evenly
from polydl.presentation.learning import evaluation_text
from polydl.records.line import to_line
from polydl.records.store import Damage
from polydl.system.files import temporary_directory

MACHINES = machines_beside(SOURCE)


def variants() -> list[Variant]:
    """Every size of two tiles with every order of three loops, and far more of one of the orders."""
    orders = list(itertools.permutations("ijk"))
    made = [Variant((Tile(0, "i", (s,)), Interchange(0, order))) for s in (8, 16) for order in orders]
    return made + [Variant((Tile(0, "i", (s,)), Interchange(0, orders[0]))) for s in range(17, 200)]


def test_balanced_choices_take_every_decision_about_as_often() -> None:
    chosen = balanced(variants(), 12, seed=0)
    innermost = Counter(
        decision
        for each in chosen
        for decision in decisions(each)
        if isinstance(decision, tuple) and decision[0] == "innermost"
    )
    assert len(innermost) == 3
    assert min(innermost.values()) >= 2
    assert len({each.id for each in chosen}) == 12


def test_leading_places_are_the_first_and_some_further_apart() -> None:
    assert leading(1000, 24) == (*range(12), 16, 22, 30, 42, 57, 77, 106, 144, 197, 269, 366, 500)
    for total in (1, 2, 5, 24, 30, 47, 100, 1000):
        for count in range(1, 40):
            found = leading(total, count)
            assert list(found) == sorted(set(found)), (total, count)
            assert found[0] == 0
            assert found[-1] < total
            assert len(found) <= min(count, total)


def test_choices_follow_the_seed_and_begin_with_what_must_be_there() -> None:
    pool = variants()
    must = pool[40:43]
    assert balanced(pool, 10, seed=1, first=must)[:3] == must
    assert balanced(pool, 10, seed=1, first=must) == balanced(pool, 10, seed=1, first=must)
    assert balanced(pool, 10, seed=1) != balanced(pool, 10, seed=2)
    assert sorted(each.id for each in balanced(pool, 999, seed=0)) == sorted(each.id for each in pool)


def test_spread_goes_from_the_first_to_the_last() -> None:
    names = [str(number) for number in range(10)]
    assert spread_evenly(names, 4) == ("0", "3", "6", "9")
    assert spread_evenly(names, 20) == tuple(names)
    assert spread_evenly(names, 1) == ("5",)


def test_layers_of_suites_are_different_problems() -> None:
    names = layers_of(("networks", "gemm-paper"), 7)
    problems = [repr(workloads.workload(name).problem) for name in names]
    assert len(set(problems)) == len(problems) >= 70
    assert set(workloads.suite("gemm-paper")) - set(names) <= set(workloads.suite("gemm-paper"))
    with pytest.raises(OptionError, match="no suite"):
        layers_of(("unknown",), None)


def test_the_default_order_and_the_leaders_are_among_the_chosen(tmp_path: Path) -> None:
    scop = pipeline.parse(workloads.workload("mobilenet_11").write(tmp_path))
    options = CollectionOptions(variants=8, leaders=2, pool=40, microkernel="c,libxsmm")
    chosen, default = choose(scop, MACHINE, options)
    assert chosen[0].variant.id == default
    leaders = pipeline.rank(scop, [each.variant for each in chosen], machine=MACHINE).entries[:1]
    assert leaders[0].variant in [each.variant for each in chosen[:3]]
    assert len({each.variant for each in chosen}) == len(chosen) <= 8
    assert {use.name for each in chosen for use in each.microkernels} <= {"c", "libxsmm"}
    with pytest.raises(OptionError, match="c,other"):
        choose(scop, MACHINE, replace(options, microkernel="c,other"))


def test_what_a_ranker_saw_comes_back_from_a_record() -> None:
    records = list(read_records(SOURCE))[:50]
    assert any(record.features["microkernels"] for record in records)
    for record in records:
        candidate = candidate_of(record)
        default = bool(record.features["default"])
        described = json.loads(json.dumps(describe(candidate, default=default)))
        assert candidate_of(replace(record, features=described)) == candidate
        uses = zip(record.features["microkernels"], described["microkernels"], strict=True)
        # What uses have come to say since the record was made has the value that it had then for all.
        assert all(kept.items() <= told.items() for kept, told in uses)
        later = {name: described[name] for name in ("analysis", "starts", "microkernels")}
        assert described == {**record.features, **later}
    with pytest.raises(RecordsError, match="features of version"):
        candidate_of(replace(record, features={}))


def test_only_undisturbed_samples_of_one_run_are_compared() -> None:
    records = list(read_records(SOURCE))
    assert all(usable(record) for record in records)
    disturbed = replace(records[0], samples=tuple(replace(sample, disturbed=True) for sample in records[0].samples))
    assert not usable(disturbed)
    groups = groups_of_workloads()
    nest = next(nest for nest in NESTS if nest.name == records[0].workload)
    (same,) = (each for each in measured_nests([disturbed, *records[1:]], groups, MACHINES) if each.name == nest.name)
    assert len(same.candidates) == len(nest.candidates) - 1
    # A second run of fewer variants is not mixed with the first.
    other = [replace(record, run="other", seconds_median=1.0) for record in records[:20]]
    assert measured_nests([*records, *other], groups, MACHINES) == NESTS


def test_records_survive_compression(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl.xz"
    records = list(read_records(SOURCE))[:30]
    assert write_compressed(records, path) == 30
    assert list(read_records(path)) == records
    with pytest.raises(RecordsError, match="no records"):
        list(read_records(tmp_path / "nowhere"))
    damaged: list[Damage] = []
    path.write_bytes(lzma.compress(b"{}\n" + to_line(records[0])))
    assert list(read_records(path, damaged.append)) == records[:1]
    assert [(damage.file, damage.line) for damage in damaged] == [(path, 1)]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(RecordsError, match="can't be read"):
        list(read_records(path))


def put_profile(directory: Path, cpu: str) -> None:
    """That of the shipped records' machine, as if it had two cores."""
    known = next(read_records(SOURCE)).setting.cpu
    text = profile_path(SOURCE, known).read_text(encoding="utf-8").replace(known, cpu)
    profile_path(directory, cpu).write_text(text.replace("cores = 1\n", "cores = 2\n"), encoding="utf-8")


def test_a_profile_belongs_to_records_of_another_machine(tmp_path: Path) -> None:
    # The records may be of a processor like this one.
    setting = replace(next(read_records(SOURCE)).setting, cpu="another-6-1-1")
    with pytest.raises(OptionError, match="not this machine"):
        machines_beside(tmp_path)(setting)
    put_profile(tmp_path, setting.cpu)
    for threads in (1, 2):
        machine = machines_beside(tmp_path)(replace(setting, threads=threads))
        assert (machine.cpu_id, machine.threads) == (setting.cpu, threads)


def test_a_profile_is_enough_where_the_system_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = next(read_records(SOURCE)).setting
    put_profile(tmp_path, setting.cpu)
    monkeypatch.delattr("polydl.learning.samples.find")
    assert machines_beside(tmp_path)(setting).cpu_id == setting.cpu


def test_records_of_several_machines_are_nests_of_each(tmp_path: Path) -> None:
    records = [each for each in read_records(SOURCE) if each.workload == "resnet_03"]
    setting = records[0].setting
    two = replace(setting, threads=2)
    put_profile(tmp_path, setting.cpu)
    paths = [tmp_path / "one.jsonl.xz", tmp_path / "both.jsonl.xz"]
    both = [*records, *(replace(record, setting=two, run=f"{record.run}2") for record in records)]
    for path, kept in zip(paths, (records, both), strict=True):
        write_compressed(kept, path)
    (alone,) = nests_in(paths[:1])
    first, second = nests_in(paths[1:])
    assert [nest.machine.threads for nest in (alone, first, second)] == [1, 1, 2]
    assert first == alone
    assert evaluation.machines_of([alone, first, second]) == (alone.machine, second.machine)
    # Whatever the machine, a nest is never judged by a ranker that saw it.
    assert evaluation.without([first, second, *NESTS], first.group) == evaluation.without(NESTS, first.group)
    text = evaluation_text(evaluation.evaluate([first, second], rankers=("cost-model",)))
    rows = text.split("by machine")[1].split("by group")[0]
    assert all(f"{setting.cpu}, {threads}" in rows for threads in ("1 thread", "2 threads"))
    # Nor does another profile of the same machine make two of it.
    faster = replace(first, machine=replace(first.machine, peak_gflops=2 * first.machine.peak_gflops))
    assert [evaluation.measured_on(nest, first.machine) for nest in (faster, second)] == [True, False]
    assert len(evaluation.machines_of([first, faster])) == 1


def test_recorded_spaces_are_those_of_all_settings_evenly_spread(tmp_path: Path) -> None:
    records = list(read_records(SOURCE))
    setting = records[0].setting
    put_profile(tmp_path, setting.cpu)
    first = [record for record in records if record.workload == NESTS[0].name]
    both = [*first, *(replace(record, setting=replace(setting, threads=2), run="2") for record in first)]
    write_compressed(both, tmp_path / "both.jsonl.xz")
    ranker = pipeline.ranker_named("cost-model")
    found = recorded_rows(tmp_path / "both.jsonl.xz", ranker, 10)
    assert list(found) == [f"{NESTS[0].name}, {setting.cpu}, {threads}" for threads in ("1 thread", "2 threads")]
    few = recorded_rows(SOURCE, ranker, 10, len(NESTS) // 2 + 1)
    assert len(few) == len(NESTS) // 2 + 1
    assert next(iter(few)) == NESTS[0].name
    assert next(reversed(few)) == NESTS[-1].name


def test_quality_of_known_orders() -> None:
    best_first = quality([1.0, 2.0, 4.0])
    assert (best_first.top, best_first.tau, best_first.pairs) == ((1.0, 1.0, 1.0), 1.0, 1.0)
    worst_first = quality([4.0, 2.0, 1.0])
    assert (worst_first.top, worst_first.tau, worst_first.pairs) == ((0.25, 1.0, 1.0), -1.0, 0.0)
    assert quality([2.0, 1.0, 4.0]).tau == pytest.approx(1 / 3)
    # 5 % of forty are the first two.
    assert quality([2.0, 1.0, *[3.0] * 38]).top_part == 1.0
    assert quality([3.0, 3.0, 1.0]).pairs == 0.0


def test_kendall_s_tau_counts_pairs() -> None:
    seconds = np.random.default_rng(0).permutation(12).astype(float) + 1
    pairs = list(itertools.combinations(seconds, 2))
    right = sum(one < other for one, other in pairs)
    assert quality(seconds.tolist()).tau == pytest.approx((2 * right - len(pairs)) / len(pairs))


def test_a_random_pick_is_the_mean_over_all_picks() -> None:
    seconds = [1.0, 1.5, 2.0, 3.0, 5.0, 5.0]
    for place, count in enumerate((1, 3, 5)):
        picks = [1.0 / min(pick) for pick in itertools.combinations(seconds, count)]
        assert random_quality(seconds).top[place] == pytest.approx(statistics.mean(picks))


def test_a_bootstrap_interval_holds_the_mean_and_follows_the_seed() -> None:
    values = np.random.default_rng(0).uniform(0.8, 1.0, 50).tolist()
    found = bootstrap(values, seed=0)
    assert found == bootstrap(values, seed=0)
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(geomean(values))
    wide = bootstrap(values[:5], seed=0)
    assert wide.high - wide.low > found.high - found.low


def test_nests_that_compute_the_same_are_held_out_together() -> None:
    twin = replace(NESTS[0], group="another", name="twin")
    kept = evaluation.without([*NESTS, twin], "another")
    assert NESTS[0] not in kept
    assert twin not in kept
    assert len(kept) == len(NESTS) - 1


def test_evaluation_sets_rankers_beside_the_default_order_and_chance() -> None:
    found = evaluation.evaluate(NESTS, rankers=("equation-1", "cost-model"))
    lines = {each.ranker: each for each in evaluation.summaries(found)}
    assert list(lines) == ["default order", "random pick", "oracle", "equation-1", "cost-model"]
    assert lines["oracle"].top[0].value == 1.0
    assert lines["cost-model"].top[0].value > tops_by_lot(NESTS).max() > lines["random pick"].top[0].value
    pairs = lines["cost-model"].pairs
    assert pairs is not None
    assert pairs > pairs_by_lot(NESTS).max() > 0.5
    over = lines["cost-model"].over_random
    assert over is not None
    assert over.low <= over.value <= over.high


@pytest.mark.native
@pytest.mark.slow
def test_collect_measures_once_and_evaluate_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, work = tmp_path / "records", tmp_path / "work"
    collect = ["collect", "--suite", "mobilenet", "--layers", "1", "--workload", "mobilenet_06", "--microkernel", "c"]
    collect += ["--variants", "12", "--rounds", "2"]
    collect += ["--records", str(records), "--work", str(work)]
    assert main([*collect, "--compile-only"], standalone_mode=False) == 0
    assert "compiled" in capsys.readouterr().out
    assert main(collect, standalone_mode=False) == 0
    first = capsys.readouterr().out
    assert "of 12 measured" in first
    written = list(read_records(records))
    assert len(written) == 12
    assert {record.status for record in written} == {"ok"}
    assert {use["name"] for record in written for use in record.features["microkernels"]} == {"c"}
    assert sum(bool(record.features["default"]) for record in written) == 1
    if all(map(usable, written)):  # else it is measured again
        assert main(collect, standalone_mode=False) == 0
        assert "0 nests measured, 1 were there" in capsys.readouterr().out
        assert main(["evaluate", "--data", str(records), "--ranker", "cost-model"], standalone_mode=False) == 0
        assert "oracle" in capsys.readouterr().out


def test_a_nest_of_which_nothing_was_measured_is_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [Collected("gemm_8x8x8", 3, 0, 0.1), Collected("gemm_9x9x9", 3, 3, 0.1)]
    monkeypatch.setattr("polydl.execute.toolchain.Toolchain.find", lambda *_: None)
    monkeypatch.setattr("polydl.learning.collection.collect", lambda names, *_, **__: results[: len(names)])
    collect = ["collect", "--records", str(tmp_path), "--workload", "gemm_8x8x8"]
    assert main(collect, standalone_mode=False) == 0
    assert "0 nests measured (1 more tried in vain), 0 were there, 0 left; " in capsys.readouterr().out
    assert main([*collect, "--workload", "gemm_9x9x9"], standalone_mode=False) == 0
    assert "1 nest measured (1 more tried in vain), 0 were there, 0 left; " in capsys.readouterr().out
    assert main([*collect, "--compile-only", "--work", str(tmp_path)], standalone_mode=False) == 0
    assert "1 nest compiled, 0 were there, 0 left; " in capsys.readouterr().out


@pytest.mark.native
@pytest.mark.slow
def test_what_was_compiled_otherwise_is_not_measured_in_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    collect = ["collect", "--workload", "gemm_100x100x100", "--records", str(tmp_path / "records"), "--work", str(work)]
    collect += ["--rounds", "2", "--variants", "3", "--measure-only"]
    first = [*collect[:-1], "--microkernel", "c", "--compile-only"]
    assert main(first, standalone_mode=False) == 0
    [kept] = work.glob("*/*/compiled.pickle")
    for others in (["--microkernel", "none"], ["--microkernel", "c", "--seed", "1"]):
        assert main([*collect, *others], standalone_mode=False) == 2
        assert "compile it with the same options" in capsys.readouterr().err
    assert main([*collect, "--microkernel", "c"], standalone_mode=False) == 0
    assert main([*collect[:-1], "--microkernel", "none", "--again"], standalone_mode=False) == 0
    uses = [{use["name"] for use in each.features["microkernels"]} for each in read_records(tmp_path / "records")]
    assert uses[:3] == [{"c"}] * 3
    assert uses[3:] == [set()] * (len(uses) - 3)
    assert len(uses) > 3
    assert kept in work.glob("*/*/compiled.pickle")


def test_what_is_compiled_alike_is_kept_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, options = next(read_records(SOURCE)).setting, CollectionOptions()
    alike = collection._alike(setting, options)
    kept = tmp_path / "resnet_03" / alike
    kept.mkdir(parents=True)
    (kept / "compiled.pickle").touch()
    assert collection.compiled(tmp_path, setting, replace(options, rounds=9, anew=True)) == {"resnet_03"}
    for other in ({"variants": 50}, {"leaders": 3}, {"pool": 2000}, {"seed": 1}, {"images": 2}, {"microkernel": "c"}):
        assert not collection.compiled(tmp_path, setting, replace(options, **other))
    for changed in ({"threads": 2}, {"compiler": "other"}, {"libraries": (("libxsmm", "0"),)}):
        assert not collection.compiled(tmp_path, replace(setting, **changed), options)
    monkeypatch.setattr("polydl.learning.collection._own_digests", lambda: ["of another polydl"])
    assert not collection.compiled(tmp_path, setting, options)


def test_evaluate_writes_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", "--data", str(SOURCE), "--ranker", "equation-1", "--json", "-"]
    assert main(arguments, standalone_mode=False) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["nests"]) == len(NESTS)
    assert {"default order", "random pick", "oracle", "equation-1"} == set(document["nests"][0]["rankers"])


@pytest.mark.native
def test_commands_refuse_what_makes_no_sense(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments, message in (
        (["collect"], "no workloads were named"),
        (["collect", "--suite", "resnet", "--budget", "soon"], "no length of time"),
        (["collect", "--suite", "resnet", "--compile-only"], "would be lost"),
        (["collect", "--suite", "resnet", "--measure-only"], "nothing to do"),
        (["train", "--ranker", "equation-1"], "can't be trained"),
        (["evaluate", "--ranker", "oracle"], "is no ranker"),
        (["evaluate", "--data", str(tmp_path)], "holds enough variants"),
    ):
        assert main(arguments, standalone_mode=False) == 2, arguments
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_figures_are_drawn_for_the_paper_s_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["evaluate", "--data", str(SOURCE), "--ranker", "cost-model", "--figures", str(tmp_path)]
    assert main(arguments, standalone_mode=False) == 0
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn[:3] == ["figure-10-fastrcnn.svg", "figure-12-resnet.svg", "figure-14-maskrcnn.svg"]
    assert all(b"<svg" in (tmp_path / name).read_bytes() for name in drawn)
    assert "Drawn" in capsys.readouterr().out


def test_records_of_another_nest_get_no_features_anew() -> None:
    first = next(record for record in read_records(SOURCE) if record.workload is not None and record.variant)
    assert first.workload is not None
    with temporary_directory() as directory:
        today = replace(first, nest=pipeline.parse(workloads.workload(first.workload).write(directory)).digest)
    with pytest.warns(UserWarning, match=f"1 of 2 records of {first.workload} are left out: its nest has changed"):
        analysed = analysed_anew([today, replace(today, nest="0" * 16)], MACHINES)
    assert [record.nest for record in analysed] == [today.nest]


def test_records_of_a_workload_that_is_gone_get_no_features_anew() -> None:
    first = next(record for record in read_records(SOURCE) if record.workload is not None and record.variant)
    gone = replace(first, workload="of_an_earlier_polydl")
    with pytest.warns(UserWarning, match="1 of 1 records of of_an_earlier_polydl are left out: there is no such"):
        assert analysed_anew([gone], MACHINES) == ()


def test_layers_of_every_network_share_a_group() -> None:
    groups = groups_of_workloads()
    suites = set(workloads.suites()) - {"conv", "conv-paper", "conv-other", "gemm", "gemm-paper"}
    assert "convnext-depthwise" in suites
    for suite in suites:
        assert {groups[layer] for layer in workloads.suite(suite)} == {suite}
