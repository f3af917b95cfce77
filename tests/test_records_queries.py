"""What is asked of records: settings told apart, the best of a run, criteria, summaries, CSV, digests of code."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from records_by_hand import OTHER, SETTING, VARIANT, record

from polydl.ir.interface import Interface, Prototype
from polydl.ir.kernel import KernelSource
from polydl.records.queries import Criteria, best, latest, select, summaries, to_csv
from polydl.records.record import code_digest
from polydl.variant_json import variant_from_json


def test_another_setting_is_another_key() -> None:
    changes: list[dict[str, Any]] = [
        {"cpu": "AuthenticAMD-25-1-1-32K-512K-32768K"},
        {"threads": 2},
        {"compiler": "clang 19.1.7 -O3"},
        {"libraries": (("libxsmm", "1.18"),)},
        {"numerics": "strict"},
        {"cold": True},
        {"cold": "constants"},
    ]
    others = [record(setting=replace(SETTING, **change)) for change in changes]
    assert len(latest([record(), *others, record(code="other")])) == len(changes) + 2
    assert len({each.setting.digest for each in others} | {SETTING.digest}) == len(changes) + 1
    assert len(best([record(), *others])) == len(changes) + 1


def test_the_best_is_judged_by_the_peak_of_its_run() -> None:
    slow_clock = record(2.0, id="a", peak_gflops=75.0)
    fast_clock = record(1.1, id="b", peak_gflops=150.0)
    failed = record(None, id="c")
    original = record(0.1, id="original", kind="original")
    assert [each.id for each in best([slow_clock, fast_clock, failed, original])] == ["a"]


def test_criteria_select() -> None:
    records = [record(), record(nest=OTHER, workload="resnet_03", date="2026-12-01T00:00:00+00:00"), record(None)]
    found = {
        "nest": list(select(records, Criteria(nest="0123"))),
        "workload": list(select(records, Criteria(workload="resnet_03"))),
        "status": list(select(records, Criteria(status="crash"))),
        "since": list(select(records, Criteria(since="2026-12"))),
        "until": list(select(records, Criteria(until="2026-11-21"))),
        "nothing": list(select(records, Criteria(threads=2))),
    }
    assert {name: [records.index(each) for each in own] for name, own in found.items()} == {
        "nest": [0, 2], "workload": [1], "status": [2], "since": [1], "until": [0, 2], "nothing": [],
    }  # fmt: skip


def test_a_summary_counts_variants_and_failures() -> None:
    records = [record(), record(), record(None, id="x", run="r2"), record(5.0, id="original", kind="original")]
    [found] = summaries(records)
    assert (found.variants, found.records, found.failed, found.runs) == (2, 4, 1, 2)
    assert found.best is not None
    assert found.best.seconds_minimum == 1.25e-3


def test_csv_holds_a_row_for_each_record() -> None:
    rows = list(csv.DictReader(io.StringIO("".join(to_csv([record(message='a "b",\nc'), record(None)])))))
    assert [row["status"] for row in rows] == ["ok", "crash"]
    assert rows[0]["message"] == 'a "b",\nc'
    assert float(rows[0]["gflops"]) == pytest.approx(983040 / 1.25e-3 / 1e9)
    assert variant_from_json(json.loads(rows[0]["steps"])) == VARIANT
    assert rows[1]["seconds_minimum"] == ""


def test_code_is_known_by_what_is_compiled() -> None:
    def kernel(c: str, **others: Any) -> KernelSource:
        return KernelSource(
            id="a", function="f", c=c, interface=Interface("f", Prototype("void f(void)")), harness="", **others
        )

    plain = code_digest(kernel("void f(void) { }\n", link_flags=("/a/libx.so",)))
    assert plain == code_digest(kernel("/* today */ void f(void)\n{ } // end\n", link_flags=("/b/libx.so",)))
    blank = code_digest(kernel('const char *s = "a b";'))
    assert blank == code_digest(kernel('const char *s =  "a b"; // s'))
    assert blank != code_digest(kernel('const char *s = "a  b";'))
    assert plain != code_digest(kernel("void f(void) { ; }\n", link_flags=("/a/libx.so",)))
    assert plain != code_digest(kernel("void f(void) { }\n", compile_flags=("-DX",), link_flags=("/a/libx.so",)))
