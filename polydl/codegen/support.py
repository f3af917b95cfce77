"""C functions of the generated code's own, and which of them it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from polydl.codegen import bfloat16_rounding, extrema, lane_totals
from polydl.codegen.callees import FunctionCallee
from polydl.codegen.loop_ir import Body, Call, Function, at_file_scope, expressions, nodes
from polydl.codegen.values import Apply, Expr, Integer, Integral
from polydl.ir.ingredients import Fragment, Ingredients


def _integral(operation: Literal["min", "max", "floor_div"], result: str) -> dict[str, Fragment]:
    """The functions for ``Integral``, of both types; ``result`` is C over ``a`` and ``b``."""
    types: tuple[Literal["int", "long"], ...] = ("int", "long")
    names = {kind: Integral(operation, Integer(0), Integer(0), kind).function for kind in types}
    return {
        name: Fragment(f"static inline {kind} {name}({kind} a, {kind} b) {{ return {result}; }}")
        for kind, name in names.items()
    }


TRANSPOSE = "polydl_transpose"
"""What copies rows of one array to columns of another: of a target and its rows' distance in elements, a source and
that of its rows, and how many rows and columns of the target there are."""


def _transpose() -> Fragment:
    text = Path(__file__).with_name("transposing_copies.c").read_text(encoding="utf-8")
    return Fragment(text.rstrip("\n"), Ingredients(("string.h",)))


WIDEN = "polydl_widen"
"""What makes a float of a bfloat16, where the source's own function is not at hand."""

NARROW = "polydl_narrow"
"""What rounds a float to a bfloat16, where the source's own function is not at hand."""

STREAMED_BYTES = 64
"""What ``polydl_stream`` writes at a time, and what its sources are aligned to: the longest vector of x86-64, which is
a whole line there. For other processors emitted C has no such stores."""

SUPPORT = {
    **_integral("min", "a < b ? a : b"),
    **_integral("max", "a > b ? a : b"),
    **_integral("floor_div", "a >= 0 ? a / b : -((-a + b - 1) / b)"),
    "polydl_stream": Fragment(
        f"""#include <stdint.h>
#include <string.h>
#if defined __AVX512F__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h> /* which a compiler reads in a tenth of the time */
#endif
/* Copies to where nobody will read soon: whole lines past the caches, what is left at both ends through them. */
static inline void polydl_stream(void *to, const void *from, size_t bytes)
{{
  char *target = to;
  const char *source = from;
  size_t done = 0;
#ifdef __SSE2__
  done = -(uintptr_t)target % {STREAMED_BYTES};
  if (done > bytes)
    done = bytes;
  if (done)
    memcpy(target, source, done);
  for (; done + {STREAMED_BYTES} <= bytes; done += {STREAMED_BYTES}) {{
#ifdef __AVX512F__
    _mm512_stream_si512((void *)(target + done), _mm512_loadu_si512(source + done));
#else
    for (int part = 0; part < {STREAMED_BYTES}; part += 16)
      _mm_stream_si128((__m128i *)(target + done + part), _mm_loadu_si128((const __m128i *)(source + done + part)));
#endif
  }}
#endif
  if (done < bytes)
    memcpy(target + done, source + done, bytes - done);
}}""",
        Ingredients(("stdint.h", "string.h", "immintrin.h", "emmintrin.h")),
    ),
    **lane_totals.FUNCTIONS,
    **extrema.FUNCTIONS,
    "polydl_streamed": Fragment("""/* What was written past the caches is in memory before anything that follows. */
static inline void polydl_streamed(void)
{
#ifdef __SSE2__
  _mm_sfence();
#endif
}"""),
    TRANSPOSE: _transpose(),
    WIDEN: Fragment(
        """/* Of a bfloat16. */
static inline float polydl_widen(unsigned short x)
{
  const union { unsigned int bits; float value; } wide = {(unsigned int)x << 16};
  return wide.value;
}"""
    ),
    NARROW: Fragment(
        """/* The nearest bfloat16, the even one of two. */
static inline unsigned short polydl_narrow(float x)
{
  const union { float value; unsigned int bits; } wide = {x};
  return (unsigned short)(x == x ? (wide.bits + 0x7fffu + ((wide.bits >> 16) & 1u)) >> 16 : wide.bits >> 16 | 0x40u);
}"""
    ),
    **bfloat16_rounding.FUNCTIONS,
}


def needed(body: Body) -> list[Fragment]:
    """The definitions of those functions that are called in a body, or in what its calls need at file scope."""
    bodies = [body, *(each.body for each in at_file_scope(body) if isinstance(each, Function))]
    names = {name for each in bodies for value in expressions(each) if (name := _function(value))}
    names |= {n.callee.name for n in nodes(body) if isinstance(n, Call) and isinstance(n.callee, FunctionCallee)}
    names |= {NARROW} if names & bfloat16_rounding.FUNCTIONS.keys() else set()
    return [definition for name, definition in SUPPORT.items() if name in names]


def _function(value: Expr) -> str:
    match value:
        case Apply(function):
            return function
        case Integral():
            return value.function
    return ""
