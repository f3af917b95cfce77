"""Steps of k between which a register block copies part of the next tile of A.

Copying a tile by itself waits for it with nothing else to do. Between the steps of a product, one column every dozen
cycles or more, the transfer costs next to nothing: the column has been fetched some columns before, and is read and
written while the multiply-adds of the steps around it wait for their turn.
"""

from __future__ import annotations

from collections.abc import Sequence

# The parameters of a function that copies: from where, to where, and how many columns at most.
COPY = ", const {element} *from, {element} *to, long columns"
# How many of the columns that are left a block copies.
PART = """\
static inline long {prefix}_part(long left, long most)
{{
  return left < 0 ? 0 : left < most ? left : most;
}}"""
# Columns by which the one that is copied was fetched before.
_COLUMNS_AHEAD = 4
# Steps that are written out together.
UNROLL = 4


def steps_between(k: int, columns: int) -> int:
    """After how many steps of k the next of so many columns is copied, so that all are within ``k`` steps."""
    steps = k // max(1, columns)
    return steps - steps % UNROLL or steps


def fetched_output(columns: int, lines: int, between: int, k: int, *, line: int, ldc: int) -> list[str]:
    """What goes with a copied column: lines of the columns of C after these, all of them within ``k`` steps.

    A product of few steps in each tile reads C from afar again and again, and each register block waits for its part.
    """
    copies = max(1, k // max(1, between))
    lines_per_copy = -(-columns * lines // copies)
    place = "copied" if lines_per_copy == 1 else f"({lines_per_copy} * copied + {{}})"
    return [
        f"__builtin_prefetch(c + ({columns} + {place} / {lines}) * {ldc} + {place} % {lines} * {line}, 1, 3);".format(
            number, number
        )
        for number in range(lines_per_copy)
    ]


def copying_loops(
    step: Sequence[str],
    output: Sequence[str],
    *,
    line: int,
    vector: str,
    starts: Sequence[int],
    rows: int,
    lda: int,
    between: int,
) -> list[str]:
    """The loop over k, of whose steps ``step`` is the C for step ``l``, with columns copied on the way.

    A column has ``rows`` rows in vectors that begin at ``starts``, or none if there are fewer rows than in a vector. It
    lies ``lda`` elements after the one before, and is stored right behind it. ``line`` elements are fetched at once.
    With each column goes the C of ``output``.
    """
    copied = [f"__builtin_prefetch(from + {_COLUMNS_AHEAD * lda + row}, 0, 3);" for row in range(0, rows, line)]
    if starts:
        copied += [f"*({vector} *)(to + {row}) = *(const {vector} *)(from + {row});" for row in starts]
    else:
        copied += [f"for (int i = 0; i < {rows}; ++i)", "  to[i] = from[i];"]
    copied += output
    return [
        "    long l = 0;",
        "    for (long copied = 0; copied < columns; ++copied) {",
        *(f"      {text}" for text in copied),
        f"      from += {lda};",
        f"      to += {rows};",
        f'      _Pragma("GCC unroll {UNROLL}")',
        f"      for (long s = 0; s < {between}; ++s, ++l) {{",
        *(f"  {text}" for text in step),
        "      }",
        "    }",
        f'    _Pragma("GCC unroll {UNROLL}")',
        "    for (; l < k; ++l) {",
        *step,
        "    }",
    ]
