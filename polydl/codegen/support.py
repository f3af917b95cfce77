"""C functions of the generated code's own, and which of them it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from polydl.codegen.callees import FunctionCallee
from polydl.codegen.loop_ir import Body, Call, expressions, nodes
from polydl.codegen.values import Apply, Expr, Integer, Integral
from polydl.ir.ingredients import Fragment, Ingredients, VectorType


def _vector(element: str, name: str, lanes: int, size: int, more: str = "") -> VectorType:
    """A vector type of so many bytes; ``more`` are further attributes."""
    declaration = f"typedef {element} {name} __attribute__((vector_size({size}){more}));"
    return VectorType(name, element, lanes, declaration)


def _total(element: str) -> Fragment:
    """A function that adds up the lanes of a vector: in halves, which compilers don't do by themselves."""
    most, count = (16, 4) if element == "float" else (8, 2)
    half = _vector(element, "polydl_half", most // 2, 32, f", aligned(sizeof({element})), may_alias")
    quarter = _vector(element, "polydl_quarter", most // 4, 16)
    last = "(quarter[0] + quarter[2]) + (quarter[1] + quarter[3])" if count == 4 else "quarter[0] + quarter[1]"
    text = f"""#include <string.h>
/* The sum of up to {most} lanes. Of a whole vector halves are read: with a copy of it, or a read of all of it, gcc
   stores it in each iteration of the loop that adds to it. */
static inline {element} polydl_total_{element}(const {element} *lanes, int count)
{{
#ifdef __GNUC__
  {half.declaration}
  {quarter.declaration}
  polydl_half half;
  if (count == {most}) {{
    half = ((const polydl_half *)lanes)[0] + ((const polydl_half *)lanes)[1];
  }} else if (count == {most // 2}) {{
    half = *(const polydl_half *)lanes;
  }} else {{
    half = (polydl_half){{0}};
    for (int lane = 0; lane < count; ++lane)
      half[lane % {most // 2}] += lanes[lane];
  }}
  polydl_quarter quarter, other;
  memcpy(&quarter, &half, 16);
  memcpy(&other, (const char *)&half + 16, 16);
  quarter += other;
  return {last};
#else
  {element} copy[{most}] = {{0}};
  for (int lane = 0; lane < count; ++lane)
    copy[lane] = lanes[lane];
  for (count = {most // 2}; count; count /= 2)
    for (int lane = 0; lane < count; ++lane)
      copy[lane] += copy[lane + count];
  return copy[0];
#endif
}}"""
    return Fragment(text, Ingredients(("string.h",), (half, quarter)))


def _extremum(name: str, element: str, chooses: str) -> Fragment:
    """A function that compares the lanes of a vector."""
    text = f"""/* Of the lanes of a vector the one that comes first by `{chooses}`. */
static inline {element} polydl_{name}_{element}(const {element} *lanes, int count)
{{
  {element} chosen = lanes[0];
  for (int lane = 1; lane < count; ++lane)
    chosen = lanes[lane] {chooses} chosen ? lanes[lane] : chosen;
  return chosen;
}}"""
    return Fragment(text)


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


SUPPORT = {
    **_integral("min", "a < b ? a : b"),
    **_integral("max", "a > b ? a : b"),
    **_integral("floor_div", "a >= 0 ? a / b : -((-a + b - 1) / b)"),
    "polydl_stream": Fragment(
        """#include <stdint.h>
#include <string.h>
#if defined __AVX512F__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h> /* which a compiler reads in a tenth of the time */
#endif
/* Copies to where nobody will read soon: whole lines past the caches, what is left at both ends through them. */
static inline void polydl_stream(void *to, const void *from, size_t bytes)
{
  char *target = to;
  const char *source = from;
  size_t done = 0;
#ifdef __SSE2__
  done = -(uintptr_t)target % 64;
  if (done > bytes)
    done = bytes;
  if (done)
    memcpy(target, source, done);
  for (; done + 64 <= bytes; done += 64) {
#ifdef __AVX512F__
    _mm512_stream_si512((void *)(target + done), _mm512_loadu_si512(source + done));
#else
    for (int part = 0; part < 64; part += 16)
      _mm_stream_si128((__m128i *)(target + done + part), _mm_loadu_si128((const __m128i *)(source + done + part)));
#endif
  }
#endif
  if (done < bytes)
    memcpy(target + done, source + done, bytes - done);
}""",
        Ingredients(("stdint.h", "string.h", "immintrin.h", "emmintrin.h")),
    ),
    "polydl_total_float": _total("float"),
    "polydl_total_double": _total("double"),
    **{
        f"polydl_{name}_{element}": _extremum(name, element, chooses)
        for name, chooses in (("greatest", ">"), ("least", "<"))
        for element in ("float", "double")
    },
    "polydl_streamed": Fragment("""/* What was written past the caches is in memory before anything that follows. */
static inline void polydl_streamed(void)
{
#ifdef __SSE2__
  _mm_sfence();
#endif
}"""),
    TRANSPOSE: _transpose(),
}


def needed(body: Body) -> list[Fragment]:
    """The definitions of those functions that are called in a body."""
    names = {name for each in expressions(body) if (name := _function(each))}
    names |= {n.callee.name for n in nodes(body) if isinstance(n, Call) and isinstance(n.callee, FunctionCallee)}
    return [definition for name, definition in SUPPORT.items() if name in names]


def _function(value: Expr) -> str:
    match value:
        case Apply(function):
            return function
        case Integral():
            return value.function
    return ""
