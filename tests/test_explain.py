"""What has to shrink for a reuse to fit a smaller cache, checked by making it so."""

from __future__ import annotations

from pathlib import Path

import pytest
from nest_factory import convolution, make_scop, matmul

from polydl.ir.ranking import RankedVariant
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.ir.working_sets import DependenceWorkingSet
from polydl.machine import Machine
from polydl.plan.nest_plan import Plan
from polydl.plan.plan import make_plan
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute
from polydl.presentation.analysis import dependences_text, draw_working_sets
from polydl.reuse.explain import shrink_to_fit
from polydl.reuse.working_sets import working_sets


def planned(scop: Scop) -> Plan:
    return make_plan(scop, distribute(scop, dependences(scop)), Variant(()))


def reuse_of(scop: Scop, plan: Plan, array: str, loop: str) -> DependenceWorkingSet:
    sets = working_sets(scop, plan.schedule, (1024,))
    (found,) = [d for d in sets.dependences if d.array == array and d.loop == loop]
    return found


def test_the_loop_named_is_enough_and_one_more_is_not() -> None:
    scop = make_scop([matmul(40, 50, 60)])
    plan = planned(scop)
    dependence = reuse_of(scop, plan, "B", "i")
    capacity = dependence.minimum_bytes // 2
    shrink = shrink_to_fit(scop, plan, dependence, capacity)
    assert shrink is not None
    sizes = {"i": 40, "j": 50, "k": 60}
    assert sizes[shrink.loop] == shrink.now

    def needed(length: int) -> int:
        m, n, k = (length if name == shrink.loop else size for name, size in sizes.items())
        smaller = make_scop([matmul(m, n, k)])
        return reuse_of(smaller, planned(smaller), "B", "i").minimum_bytes

    assert needed(shrink.to) <= capacity + 64
    assert needed(shrink.to + 2) > capacity


def test_nothing_is_named_where_no_loop_alone_is_enough() -> None:
    scop = make_scop([convolution(2, 2, 8, 3)])
    plan = planned(scop)
    dependence = reuse_of(scop, plan, "filter", "oj")
    assert shrink_to_fit(scop, plan, dependence, 8) is None


def test_the_text_names_line_reference_and_remedy() -> None:
    scop = make_scop([matmul(40, 50, 60)])
    plan = planned(scop)
    machine = Machine.detect(cache_sizes="1K,16K", threads=1)
    text = dependences_text(scop, plan, working_sets(scop, plan.schedule, (1024, 16384)), machine)
    assert "nest.c:1  S" in text
    assert "A[i][k]" in text
    (line,) = [line for line in text.splitlines() if line.strip().startswith("B[k][j]")]
    assert " to " in line
    assert "Held  L1" in text


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_drawing_is_a_whole_file(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scop = make_scop([matmul(10, 12, 14)])
    plan = planned(scop)
    sets = working_sets(scop, plan.schedule, (1024, 16384))
    path = tmp_path / f"sets.{suffix}"
    draw_working_sets(path, [RankedVariant(plan.variant, sets, 1.0, "")], Machine.detect(cache_sizes="1K,16K"))
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert content.rstrip().endswith(b"</svg>") or suffix == "png"
    assert len(list(tmp_path.iterdir())) == 1
