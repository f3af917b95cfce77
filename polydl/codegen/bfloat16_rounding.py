"""C functions that round floats to bfloat16s, whole vectors by instructions where the processor has some.

These instructions take numbers below 1.2e-38 as zeros. NaN stays NaN between bounds: the instructions for maxima and
minima take their second operand then, as the comparisons of the C here do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polydl.ir.ingredients import Fragment, Ingredients

ROUND = "polydl_round"
"""What rounds floats to bfloat16s: of a target, a source, and how many there are."""

ROUND_ABOVE = "polydl_round_above"
"""What does so with a bound, the last argument, in place of floats that are less."""

ROUND_WITHIN = "polydl_round_within"
"""What does so with two bounds, the last arguments, in place of floats that are not between them."""


def _function(name: str, comment: Sequence[str], bounds: Sequence[str], limited: str, vector: str) -> Fragment:
    """The function. ``limited`` is the float at ``from[i]`` between the bounds, ``vector`` those at ``%s``."""
    parameters = "".join(f", float {bound}" for bound in bounds)
    vectors = "".join(f"  const __m256 {bound}s = _mm256_set1_ps({bound});\n" for bound in bounds)
    said = "\n   ".join(comment)
    text = f"""#ifdef __AVX512BF16__
#include <immintrin.h>
#endif
/* {said} */
static inline void {name}(unsigned short *to, const float *from, long count{parameters})
{{
  long i = 0;
#if defined __AVX512BF16__ && defined __AVX512VL__
{vectors}  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256((__m256i *)(to + i),
                        (__m256i)_mm256_cvtne2ps_pbh({vector % "from + i + 8"}, {vector % "from + i"}));
#endif
  for (; i < count; ++i)
    to[i] = polydl_narrow({limited});
}}"""
    return Fragment(text, Ingredients(("immintrin.h",)))


FUNCTIONS = {
    ROUND: _function(
        ROUND,
        (
            "Rounds floats to bfloat16s. The instructions, where there are some, take numbers below 1.2e-38 as zeros. "
            "Vectors are",
            "no longer than those that compilers store the floats in.",
        ),
        (),
        "from[i]",
        "_mm256_loadu_ps(%s)",
    ),
    ROUND_ABOVE: _function(
        ROUND_ABOVE,
        (
            "Rounds floats to bfloat16s, and a bound in place of those that are less. The instructions, where there",
            "are some, take numbers below 1.2e-38 as zeros, and the second of two operands where one is no number.",
        ),
        ("least",),
        "from[i] < least ? least : from[i]",
        "_mm256_max_ps(leasts, _mm256_loadu_ps(%s))",
    ),
    ROUND_WITHIN: _function(
        ROUND_WITHIN,
        (
            "Rounds floats to bfloat16s, and two bounds in place of those that are not between them. The",
            "instructions, where there are some, take numbers below 1.2e-38 as zeros, and the second of two operands",
            "where one is no number.",
        ),
        ("least", "most"),
        "from[i] < least ? least : from[i] > most ? most : from[i]",
        "_mm256_min_ps(mosts, _mm256_max_ps(leasts, _mm256_loadu_ps(%s)))",
    ),
}


def are_used(fragments: Iterable[Fragment]) -> bool:
    """Whether one of the functions is among what C needs at file scope."""
    return any(each in FUNCTIONS.values() for each in fragments)
