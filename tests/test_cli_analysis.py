"""The commands ``polydl rank`` and ``polydl analyze`` on real input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import matmul, polydl

from polydl.frontend.pet import parse

__all__ = ["matmul", "polydl"]


def test_rank_lists_variants_in_order_with_reasons(polydl: Any, matmul: str) -> None:
    arguments = ("rank", matmul, "--threads", "1", "--max-variants", "12")
    found = polydl(*arguments, "--json", "-").document
    scores = [each["score"] for each in found["entries"]]
    assert len(scores) == 12
    assert scores == sorted(scores)
    assert all(each["reason"] for each in found["entries"])
    shown = polydl(*arguments, "--top-k", "3")
    assert [each["id"] in shown.out for each in found["entries"]] == [True] * 3 + [False] * 9


def test_analyze_shows_every_dependence_with_its_level(polydl: Any, matmul: str) -> None:
    arguments = ("analyze", matmul, "--threads", "1", "--max-variants", "12", "--cache-sizes", "4K,16K")
    found = polydl(*arguments, "--json", "-").document
    caches = {"L1": 4096, "L2": 16384}
    assert {each["array"] for each in found["dependences"]} == {"A", "B", "C"}
    for each in found["dependences"]:
        for end in ("minimum", "maximum"):
            size, level = each[f"{end}_bytes"], each[f"{end}_level"]
            assert size <= caches.get(level, size)
            assert level == "L1" or size > caches["L1"]
    lines = polydl(*arguments, "--line-size", "64", "--json", "-").document
    for each, whole in zip(found["dependences"], lines["dependences"], strict=True):
        assert whole["minimum_bytes"] % 64 == 0
        assert whole["minimum_bytes"] >= each["minimum_bytes"]
        assert whole["minimum_elements"] == each["minimum_elements"]
    assert polydl(*arguments, "--inclusive").status == 0
    listed = polydl("variants", *arguments[1:], "--json", "-").document["variants"]
    chosen = polydl(*arguments, "--variant", listed[3]["id"][:10])
    assert chosen.status == 0
    assert listed[3]["id"] in chosen.out


def test_rank_shows_what_is_predicted_of_one_variant(polydl: Any, matmul: str) -> None:
    arguments = ("rank", matmul, "--threads", "1", "--max-variants", "12")
    entry = polydl(*arguments, "--ranker", "cost-model", "--json", "-").document["entries"][3]
    found = polydl(*arguments, "--variant", entry["id"], "--json", "-").document
    assert found["schema"] == "polydl.predict/1"
    assert found["variant"]["id"] == entry["id"]
    (nest,) = found["nests"]
    assert nest["statements"] == ["S0"]
    assert nest["total"] >= max(nest["arithmetic"], *nest["transfers"]) > 0
    assert sum(each["total"] for each in found["nests"]) == pytest.approx(entry["score"], rel=1e-5)
    shown = polydl(*arguments, "--variant", entry["id"][:10])
    assert f"{1e6 * nest['total']:.4g} us" in shown.out
    assert polydl(*arguments, "--variant", "0000").status != 0


def test_the_c_of_a_variant_is_no_document(polydl: Any, matmul: str) -> None:
    ended = polydl("variants", matmul, "--show", "x", "--json", "variants.json")
    assert ended.status == 2
    assert "leave out --json or --show" in ended.err


def test_a_variant_that_there_is_none_of_is_named_with_its_option(polydl: Any, matmul: str) -> None:
    for command, option in (("variants", "--show"), ("rank", "--variant")):
        ended = polydl(command, matmul, "--threads", "1", "--max-variants", "4", option, "zzz")
        assert ended.status == 2
        assert f"  in: {option} zzz\n" in ended.err


TWO = """\
#include <stdio.h>
void two(float a[100], float b[100], float c[100]) {
  for (int i = 0; i < 100; i++)
    a[i] = b[i] * 2.0f;
  printf("%f\\n", a[0]);
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 100; j++)
      c[i] += a[j] * b[i];
  while (c[0] > 1)
    c[0] /= 2;
}
"""


def test_loops_beside_the_region_that_was_found_are_named(polydl: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    assert parse(path).left_out == (6, 9)
    shown = polydl("parse", str(path))
    assert shown.status == 0
    assert f"{path}: the loops of lines 6, 9 are left out of the region that was found" in shown.err
    # Whoever marks a region means it.
    marked = TWO.replace("  printf", "#pragma endscop\n  printf").replace("{\n  for", "{\n#pragma scop\n  for", 1)
    path.write_text(marked)
    assert parse(path).left_out == ()
    assert polydl("parse", str(path)).err == ""


@pytest.mark.native
@pytest.mark.slow
def test_loops_beside_the_region_are_named_with_a_remembered_answer_as_well(polydl: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.c"
    path.write_text(TWO)
    arguments = ("optimize", str(path), "--threads", "1", "--records", str(tmp_path / "records"), "--quiet")
    for _ in range(2):
        ended = polydl(*arguments)
        assert ended.status == 0
        assert "the loops of lines 6, 9 are left out" in ended.err
    assert polydl(*arguments, "--json", "-").document["records"]["answered"] is not None
