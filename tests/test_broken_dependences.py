"""Steps that break a dependence are refused with its kind, its array, its statements and their source lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import parse

from polydl.errors import IllegalVariantError
from polydl.ir.variant import Interchange, Parallel, RewriteStep, Variant
from polydl.plan.apply import apply
from polydl.plan.rewriting import rewritten
from polydl.variants.rewrites.coalesce import Coalesce
from polydl.variants.rewrites.cut_triangle import CutTriangle
from polydl.variants.rewrites.expand import Expand
from polydl.variants.rewrites.fuse import Fuse
from polydl.variants.rewrites.materialize import Materialize
from polydl.variants.rewrites.pack import Pack
from polydl.variants.rewrites.polyphase import Polyphase
from polydl.variants.rewrites.reschedule import Reschedule
from polydl.variants.rewrites.split_index_set import SplitIndexSet
from polydl.variants.rewrites.zero_point import ZeroPoint

CHAIN = """void f(float a[16], float b[16], float c[16], float d[16]) {
  for (int i = 0; i < 16; i++)
    b[i] = a[i];
  for (int i = 0; i < 16; i++)
    c[i] = b[15 - i];
  for (int i = 0; i < 16; i++)
    d[i] = c[i];
}
"""
SWEEP = """void f(float a[17]) {
  for (int i = 0; i < 16; i++)
    a[i + 1] = a[i] * 2;
}
"""
TWICE = """void f(float a[20]) {
  for (int t = 0; t < 20; t++)
    for (int i = 1; i < 19; i++)
      a[i] = a[i - 1] + a[i + 1];
}
"""
JOINED = """void f(double b[48][20], double a[48][48]) {
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 20; j++)
      for (int k = i + 1; k < 48; k++)
        b[i][j] += a[k][i] * b[k][j];
}
"""
DECAY = """void f(float s[1], const float a[4][6][8]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 6; k++)
        s[0] = s[0] * 0.5f + a[i][k][j];
}
"""
ROWS = """void f(double a[3][8], double b[8][8], double row[8]) {
  for (int q = 0; q < 3; q++) {
    for (int p = 0; p < 8; p++)
      row[p] *= 0.5;
    for (int p = 0; p < 8; p++)
      for (int s = 0; s < 8; s++)
        row[p] += a[q][s] * b[s][p];
  }
}
"""
PASSED_ON = """void f(double a[3][8], double row[8]) {
  for (int q = 0; q < 3; q++) {
    for (int p = q; p < 8; p++)
      row[p] = q;
    for (int p = 0; p < 8; p++)
      a[q][p] = row[p];
  }
}
"""
BYTES = """void f(int c[4][8], const unsigned char a[4][8], signed char b[8][8], int zeros[1]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++)
        c[i][j] += (a[i][k] - zeros[0]) * b[k][j];
  for (int z = 0; z < 1; z++)
    zeros[z] = 1;
}
"""
UPDATED = """void f(float c[8][8], const float a[8][8], float b[8][8]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++)
        c[i][j] += 2 * a[i][k] * b[k][j];
  for (int i = 0; i < 8; i++)
    b[i][0] = 0;
}
"""
IN_PLACE = """void f(float c[16][16], float v[16], float d[16][16]) {
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++)
        for (int k = 0; k < 16; k++)
          c[i][j] += v[k] * d[k][j];
    for (int p = 0; p < 16; p++)
      v[p] = v[p] * 0.5f;
  }
}
"""
# The last tile of each iteration of t holds the second statement, too.
TILES = Reschedule(
    ("S0", "S1"),
    ("t", "i", "j", "k"),
    (
        ((1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0), (0, 0, 0, 1, 0)),
        ((1, 0, 0), (0, 0, 15), (0, 0, 15), (0, 1, 0)),
    ),
    (1, 4, 4, 1),
)


@pytest.mark.parametrize(
    ("text", "steps", "reason"),
    [
        (
            CHAIN,
            [Fuse(("S0", "S1"), (("i",), ("i",)), (0, 0), 1)],
            "the RAW dependence on `b` from S0 (line 3) to S1 (line 5) is broken",
        ),
        (
            CHAIN,
            [Fuse(("S0", "S2"), (("i",), ("i",)), (0, 0), 1)],
            "the RAW dependence on `b` from S0 (line 3) to S1 (line 5) or "
            "the RAW dependence on `c` from S1 (line 5) to S2 (line 7) is broken",
        ),
        (
            TWICE,
            [Reschedule(("S0",), ("t", "i"), (((1, 0, 0), (0, 1, 0)),), (4, 4))],
            "the RAW dependence on `a` within S0 (line 4) is broken",
        ),
        (SWEEP, [SplitIndexSet("S0", (("i", (8,)),))], "the RAW dependence on `a` within S0 (line 3) joins the parts"),
        (JOINED, [CutTriangle("S0", "k", "i", 12)], "the WAR dependence on `b` within S0 (line 5) joins the parts"),
        (SWEEP, [Polyphase("S0", (("i", 2),))], "the RAW dependence on `a` within S0 (line 3) goes back"),
        (
            DECAY,
            [Coalesce("S0", "i", "k")],
            "the WAW dependence on `s` within S0 (line 5) is broken by moving `k` next to `i`",
        ),
        (ROWS, [Expand("S0", "row", ("q",))], "S0 (line 4) reads of `row` what the loops around it have not written"),
        (
            PASSED_ON,
            [Expand("S0", "row", ("q",))],
            "the RAW dependence on `row` from S0 (line 4) to S1 (line 6) leads from one iteration of q to another",
        ),
        (BYTES, [ZeroPoint("S0", "a")], "`zeros`, which S0 (line 5) reads, is written by S1 (line 7)"),
        (UPDATED, [Pack("S0", "b", (1, 0))], "`b`, which S0 (line 5) reads, is written by S1 (line 7)"),
        (UPDATED, [Materialize("S0", "b")], "`b`, which S0 (line 5) reads, is written by S1 (line 7)"),
        (
            IN_PLACE,
            [TILES, Materialize("S0", "v")],
            "`v`, which S0 (line 6) reads, is written in the same tile by S1 (line 8)",
        ),
    ],
)
def test_a_rewrite_says_what_it_would_break(text: str, steps: list[RewriteStep], reason: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalVariantError) as raised:
        rewritten(parse(tmp_path, text), tuple(steps))
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (Interchange(0, ("k", "j", "i")), "the WAW dependence on `s` within S0 (line 5) is broken"),
        (Parallel(0, "k"), "the WAW dependence on `s` within S0 (line 5) is broken by running `k` in parallel"),
    ],
)
def test_a_step_on_a_nest_says_what_it_would_break(step: Interchange | Parallel, reason: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalVariantError) as raised:
        apply(parse(tmp_path, DECAY), Variant((step,)), ())
    assert reason in str(raised.value)
