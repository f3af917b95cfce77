"""C functions that join the lanes of vectors, each of which has summed up, or compared, a part of the terms."""

from __future__ import annotations

from polydl.codegen.shuffled import SHUFFLED
from polydl.ir.ingredients import Fragment, Ingredients, VectorType

#: How many sums a function adds up at once.
TOGETHER = 4
#: Lanes of vectors that it takes, by the bytes of an element.
WIDTHS = {"float": (16, 8, 4), "double": (8, 4)}


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
    text = f"""/* Of the lanes of a vector the one that comes first by `{chooses}`; a NaN where all are. */
static inline {element} polydl_{name}_{element}(const {element} *lanes, int count)
{{
  {element} chosen = lanes[0];
  for (int lane = 1; lane < count; ++lane)
    chosen = lanes[lane] {chooses} chosen || chosen != chosen ? lanes[lane] : chosen;
  return chosen;
}}"""
    return Fragment(text)


def _four_totals(element: str) -> Fragment:
    """A function that adds up the lanes of four vectors at once: half of the operations of one after the other."""
    size = 64 // WIDTHS[element][0]
    widths = WIDTHS[element]
    types = [
        _vector(element, f"polydl_lanes{lanes}", lanes, lanes * size, f", aligned(sizeof({element})), may_alias")
        for lanes in widths
    ]
    integer = "int" if size == 4 else "long long"
    places = [
        f"typedef {integer} polydl_places{lanes} __attribute__((vector_size({lanes * size}), unused));"
        for lanes in widths
    ]
    branches = " else ".join(
        "\n".join([f"if (count == {lanes}) {{", *(f"    {line}" for line in _added_up(lanes, size)), "  }"])
        for lanes in widths
    )
    declared = "\n  ".join([*(kind.declaration for kind in types), *places])
    text = f"""#include <string.h>
{SHUFFLED}
/* The sums of all lanes of each of four vectors. */
static inline void polydl_four_totals_{element}({element} *to, const {element} *a, const {element} *b,
                                              const {element} *c, const {element} *d, int count)
{{
#ifdef __GNUC__
  {declared}
  {branches}
#else
  const {element} *const sums[4] = {{a, b, c, d}};
  for (int sum = 0; sum < 4; ++sum) {{
    to[sum] = 0;
    for (int lane = 0; lane < count; ++lane)
      to[sum] += sums[sum][lane];
  }}
#endif
}}"""
    return Fragment(text, Ingredients(("string.h",), tuple(types)))


def _added_up(lanes: int, size: int) -> list[str]:
    """C that adds up four vectors of so many lanes. First the sums of two vectors, and of four if there is room, come
    to lie side by side in each block of 16 bytes; then blocks are added."""
    block, lines = 16 // size, list[str]()
    kind = f"polydl_lanes{lanes}"
    near = _pairs(lanes, block, [[first + lane for lane in range(block // 2)] for first in (0, block // 2)])
    for name, one, other in (("ab", "a", "b"), ("cd", "c", "d")):
        sums = _shuffled(lanes, f"*(const {kind} *){one}", f"*(const {kind} *){other}", near)
        lines.append(f"{kind} {name}{lanes} = {sums};")
    width, ends = lanes, [[0, 2], [1, 3]]
    if block < TOGETHER:
        lines += [*_folded("ab", lanes), *_folded("cd", lanes)]
        width, ends = TOGETHER, [[0, 1], [2, 3]]
    both = _shuffled(width, f"ab{width}", f"cd{width}", _pairs(width, TOGETHER, ends))
    lines += [f"polydl_lanes{width} all{width} = {both};", *_folded("all", width)]
    return [*lines, f"memcpy(to, &all{TOGETHER}, sizeof all{TOGETHER});"]


def _pairs(lanes: int, block: int, chosen: list[list[int]]) -> list[list[int]]:
    """Numbers of lanes of two vectors: in each block first the chosen ones of the first, then those of the second."""
    starts = [first + vector for first in range(0, lanes, block) for vector in (0, lanes)]
    return [[start + lane for start in starts for lane in each] for each in chosen]


def _shuffled(lanes: int, one: str, other: str, numbers: list[list[int]]) -> str:
    """C that adds lanes of two vectors by their numbers to as many others."""
    parts = (f"polydl_shuffled(polydl_places{lanes}, {one}, {other}, {', '.join(map(str, n))})" for n in numbers)
    return "\n      + ".join(parts)


def _folded(name: str, lanes: int) -> list[str]:
    """C that adds the halves of a vector until ``TOGETHER`` lanes are left. Names end with the number of lanes."""
    lines = []
    while lanes > TOGETHER:
        half = lanes // 2
        lines += [
            f"polydl_lanes{half} {name}{half}, {name}{half}_high;",
            f"memcpy(&{name}{half}, &{name}{lanes}, sizeof {name}{half});",
            f"memcpy(&{name}{half}_high, (const char *)&{name}{lanes} + sizeof {name}{half}, sizeof {name}{half});",
            f"{name}{half} += {name}{half}_high;",
        ]
        lanes = half
    return lines


FUNCTIONS = {
    **{f"polydl_total_{element}": _total(element) for element in WIDTHS},
    **{f"polydl_four_totals_{element}": _four_totals(element) for element in WIDTHS},
    **{
        f"polydl_{name}_{element}": _extremum(name, element, chooses)
        for name, chooses in (("greatest", ">"), ("least", "<"))
        for element in WIDTHS
    },
}
"""What emitted code may call, by name: the lanes of a vector, or of several, and their number."""
