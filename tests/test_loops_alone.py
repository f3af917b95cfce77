"""Without pragmas, the region is the loops, and not the calls in front of them and behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.errors import UnsupportedConstructError
from polydl.frontend.pet import parse

HEAD = "#include <stdio.h>\nvoid other(float *);\ndouble now(void);\n"
LOOPS = """\
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      a[i] += b[j][i];
"""
BEHIND = "  for (int i = 0; i < 8; i++)\n    a[i] *= 2;\n"


def read(folder: Path, body: str) -> tuple[str, tuple[int, ...]]:
    """The text of the region of a function with that body, and the lines of loops that it leaves out."""
    path = folder / "nest.c"
    path.write_text(f"{HEAD}void f(float a[8], float b[8][8])\n{{\n{body}}}\n")
    scop = parse(path)
    start, end = scop.region
    return scop.source[start:end].strip(), scop.left_out


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("  double begin = now();\n", '  double end = now();\n  printf("%g", end - begin);\n'),
        ("", "  other(a);\n"),
        ("  other(a);\n  float scale = 2;\n", "  scale *= 2;\n  other(&scale);\n"),
        ("", "  if (a[0] > 0)\n    other(a);\n  a[0] = 1;\n"),
    ],
)
def test_calls_around_the_loops_stay_where_they_are(before: str, behind: str, tmp_path: Path) -> None:
    assert read(tmp_path, before + LOOPS + behind) == (LOOPS.strip(), ())


def test_the_region_ends_at_the_first_call_between_loops(tmp_path: Path) -> None:
    region, left_out = read(tmp_path, f"{LOOPS}{BEHIND}  other(a);\n{BEHIND}  other(a);\n")
    assert region == f"{LOOPS}{BEHIND}".strip()
    assert left_out == (12,)


CALLING = f"  for (int t = 0; t < 3; t++) {{\n    other(b[t]);\n{LOOPS}  }}\n"


@pytest.mark.parametrize(
    ("body", "left_out"),
    [
        (f"{CALLING}{LOOPS}{BEHIND}", (6,)),
        (f"{CALLING}  other(a);\n{LOOPS}{BEHIND}{CALLING}{BEHIND}", (6, 18, 24)),
        (f"{CALLING}  {{\n{CALLING}  }}\n  double begin = now();\n{LOOPS}{BEHIND}  other(a);\n", (6, 13)),
    ],
)
def test_loops_that_call_what_is_not_known_stay_where_they_are(
    body: str, left_out: tuple[int, ...], tmp_path: Path
) -> None:
    assert read(tmp_path, body) == (f"{LOOPS}{BEHIND}".strip(), left_out)


def test_what_is_refused_of_loops_beside_such_is_the_call(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedConstructError, match="the call of other") as raised:
        read(tmp_path, f"{CALLING}{LOOPS.replace('b[j][i]', 'b[j][(int)a[i]]')}")
    assert raised.value.line == 7


def test_what_is_declared_in_front_of_the_loops_and_used_behind_them_stays(tmp_path: Path) -> None:
    before = "  float sum = 0;\n  int place = 3;\n"
    loops = "  for (int i = 0; i < 8; i++)\n    sum += a[i] * b[place][i];\n"
    region, _ = read(tmp_path, f'{before}{loops}  printf("%g", sum);\n')
    assert region.endswith(loops.strip())
    assert "float sum" not in region


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LOOPS.replace("a[i] +=", "other(a), a[i] +="), "the call of other"),
        (f"  for (int t = 0; t < 3; t++) {{\n{LOOPS}  other(a);\n  }}\n", "the call of other"),
        (f"{LOOPS}  {{\n{BEHIND}  other(a);\n  }}\n", "the call of other"),
    ],
)
def test_calls_inside_of_loops_and_of_blocks_beside_them_are_refused(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedConstructError, match=message):
        read(tmp_path, body)
