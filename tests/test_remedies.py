"""What an error says to do about C that polydl refuses: whoever does it is not refused again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from marks import parametrized

from polydl.errors import PolydlError
from polydl.frontend.pet import parse


@dataclass(frozen=True)
class Case:
    """C that is refused."""

    source: str
    #: of the error's message
    message: str
    #: of what is quoted
    construct: str
    #: of the remedy
    remedy: str
    #: the C of somebody who has followed the remedy; "" if that takes other code
    mended: str = ""


HEAD = "void f(float a[64], const float b[64], const int c[64])\n{\n"
LOOP = "  for (int i = 0; i < 64; ++i)\n"
SCALED = f"{LOOP}    a[i] = 2 * b[i];\n"
MARKED = f"#pragma scop\n{SCALED}#pragma endscop\n"
SHARED = f"#pragma omp for\n{LOOP}"
TIMED = f"#include <time.h>\n{HEAD}  long t = time(0);\nLOOPS  t = clock() - t;\n}}\n"
CASES = {
    "a call behind the loops of a region": Case(
        TIMED.replace("LOOPS", f"#pragma scop\n{SCALED}").replace("- t;\n", "- t;\n#pragma endscop\n"),
        "the call of clock can't be modelled",
        "clock()",
        "put #pragma scop and #pragma endscop round the loops alone",
        TIMED.replace("LOOPS", MARKED),
    ),
    "a call in a loop": Case(
        f'#include <stdio.h>\n{HEAD}{LOOP}    printf("%g", b[i]);\n}}\n',
        "the call of printf can't be modelled",
        "printf(",
        "take it out of the loops",
    ),
    "memory that is allocated": Case(
        f"#include <stdlib.h>\n{HEAD}  float *t = malloc(256);\n{LOOP}    t[i] = b[i];\n{LOOP}    a[i] = t[i];\n}}\n",
        "the pointer t may alias an array",
        "float *t = malloc(256)",
        "pass the memory as a parameter, or use an array with a size",
    ),
    "memory that is freed": Case(
        f"#include <stdlib.h>\n{HEAD}  float *t = malloc(64 * sizeof(float));\n{LOOP}    t[i] = b[i];\n"
        f"{LOOP}    a[i] = t[i];\n  free(t);\n}}\n",
        "the call of free can't be modelled",
        "free(t)",
        "pass the memory as a parameter, or use an array with a size",
        f"{HEAD}  float t[64];\n{LOOP}    t[i] = b[i];\n{LOOP}    a[i] = t[i];\n}}\n",
    ),
    "a function of another file behind loops": Case(
        f"void g(float *a);\n{HEAD}#pragma scop\n{SCALED}  g(a);\n#pragma endscop\n}}\n",
        "the call of g can't be modelled",
        "g(a)",
        "put #pragma scop and #pragma endscop round the loops alone; or write the loops that it stands for",
        f"void g(float *a);\n{HEAD}{MARKED}  g(a);\n}}\n",
    ),
    "a function of another file in a loop": Case(
        f"void g(float *a);\n{HEAD}{LOOP}    g(&a[i]);\n}}\n",
        "the call of g can't be modelled",
        "g(&a[i])",
        "write the loops that it stands for",
    ),
    "a number from a function of another file": Case(
        f"float g(float x);\n{HEAD}{LOOP}    a[i] = g(b[i]);\n}}\n",
        "the call of g can't be modelled",
        "g(b[i])",
        "define g in this file, or write in its place what it computes",
        f"float g(float x) {{ return x > 0 ? x : 0; }}\n{HEAD}{LOOP}    a[i] = g(b[i]);\n}}\n",
    ),
    "the address of an element": Case(
        f"static float *at(float *x, int i) {{ return x + i; }}\n{HEAD}{LOOP}    *at(a, i) = b[i];\n}}\n",
        "dereferencing a pointer",
        "*at(a, i)",
        "write the element that at returns the address of, such as a[i], in its place",
        f"{HEAD}{LOOP}    a[i] = b[i];\n}}\n",
    ),
    "a subscript that counts": Case(
        f"{HEAD}  int k = 0;\n{LOOP}    a[k++] = b[i];\n}}\n",
        "an increment inside an expression",
        "k++",
        "write in the place of k what it is there, a sum of loop counters times constants",
        f"{HEAD}{LOOP}    a[i] = b[i];\n}}\n",
    ),
    "pointers that change places": Case(
        f"void f(float *a, float *b)\n{{\n  for (int s = 0; s < 8; ++s) {{\n{SCALED}"
        "    float *t = a;\n    a = b;\n    b = t;\n  }\n}\n",
        "the pointer t may alias an array",
        "float *t = a",
        "leave pointers as they are, and write the loops twice in a loop of half as many steps",
        f"void f(float *a, float *b)\n{{\n  for (int s = 0; s < 8; s += 2) {{\n{SCALED}{LOOP}    b[i] = 2 * a[i];\n"
        "  }\n}\n",
    ),
    "pointers that change places without a declaration": Case(
        f"void f(float *a, float *b, float *t)\n{{\n  for (int s = 0; s < 8; ++s) {{\n{SCALED}"
        "    t = a, a = b;\n    b = t;\n  }\n}\n",
        "t is made to point to what a points to",
        "t = a",
        "write the loops twice in a loop of half as many steps",
    ),
    "a pointer that moves": Case(
        f"void f(float *a, const float *b)\n{{\n{LOOP}    *a++ = 2 * *b++;\n}}\n",
        "dereferencing a pointer",
        "*a++",
        "write a[i] with a loop counter i, and leave a where it is",
        f"void f(float *a, const float *b)\n{{\n{SCALED}}}\n",
    ),
    "a pointer with an offset in a macro": Case(
        f"#define AT(p, i) (*((p) + (i)))\nvoid f(float *a, const float *b)\n{{\n{LOOP}    a[i] = 2 * AT(b, i);\n}}\n",
        "dereferencing a pointer",
        "AT(b, i)",
        "p[i] for *(p + i)",
        f"void f(float *a, const float *b)\n{{\n{SCALED}}}\n",
    ),
    "an early exit": Case(
        f"int f(const float a[64])\n{{\n{LOOP}    if (a[i] < 0)\n      return 0;\n  return 1;\n}}\n",
        "return inside the loops",
        "return 0",
        "keep the result in a variable, such as a flag, let the loops run to their end, and return it behind them",
        f"int f(const float a[64])\n{{\n  int all = 1;\n{LOOP}    all = a[i] < 0 ? 0 : all;\n  return all;\n}}\n",
    ),
    "a while loop": Case(
        "void f(float a[64])\n{\n  int i = 0;\n  while (i < 64) {\n    a[i] = 1;\n    i++;\n  }\n}\n",
        "a while loop can't be modelled",
        "while (i < 64) {",
        "write a for loop with bounds that are known before it starts: for (int i = 0; i < n; ++i)",
        f"void f(float a[64])\n{{\n{LOOP}    a[i] = 1;\n}}\n",
    ),
    "a loop of jumps": Case(
        "void f(float a[64])\n{\n  int i = 0;\nagain:\n  a[i] = 1;\n  if (++i < 64)\n    goto again;\n}\n",
        "goto can't be modelled",
        "goto again",
        "write the loop as a for loop",
        f"void f(float a[64])\n{{\n{LOOP}    a[i] = 1;\n}}\n",
    ),
    "bits of a counter": Case(
        f"{HEAD}  for (int i = -16; i < 48; ++i)\n    a[i + 16] = b[i & 15];\n}}\n",
        "a subscript isn't affine",
        "b[i & 15]",
        "i & 15 is i % 16, and i >> 4 is i / 16, for i >= 0",
        f"{HEAD}{LOOP}    a[i] = b[i % 16] + b[(i + 1) % 64];\n}}\n",
    ),
    "a shift in a subscript": Case(
        f"{HEAD}  for (int i = -16; i < 48; ++i)\n    a[i + 16] = b[(i >> 1) + 8];\n}}\n",
        "a subscript isn't affine",
        "b[(i >> 1) + 8]",
        "i >> 4 is i / 16, for i >= 0",
        f"{HEAD}{LOOP}    a[i] = b[i / 2];\n}}\n",
    ),
    "a function in a subscript": Case(
        f"static int at(int i, int j) {{ i *= 8; return i + j; }}\n{HEAD}"
        "  for (int i = 0; i < 8; ++i)\n    a[i] = b[at(i, 1)];\n}\n",
        "a subscript isn't affine: what at returns isn't known",
        "b[at(i, 1)]",
        "write the sum itself in the subscript, such as a[2 * i + j + 1], or make the function a macro",
        f"#define at(i, j) (8 * (i) + (j))\n{HEAD}  for (int i = 0; i < 8; ++i)\n    a[i] = b[at(i, 1)];\n}}\n",
    ),
    "a function in a condition": Case(
        f"static int odd(int i) {{ i += 1; return i % 2; }}\n{HEAD}{LOOP}    if (odd(i) == 0)\n      a[i] = 1;\n}}\n",
        "what odd returns isn't known",
        "if (odd(i) == 0)",
        "write in the place of odd what it computes, or make it a macro",
        f"{HEAD}{LOOP}    if ((i + 1) % 2 == 0)\n      a[i] = 1;\n}}\n",
    ),
    "a search that ends early": Case(
        f"int f(const float a[64], float x)\n{{\n  int at = -1;\n{LOOP}"
        "    if (a[i] == x) {\n      at = i;\n      break;\n    }\n  return at;\n}\n",
        "the break depends on data",
        "break",
        "let the loop run to its end, and write what it changes as choices, such as at = at < 0",
        f"int f(const float a[64], float x)\n{{\n  int at = -1;\n{LOOP}    at = at < 0 && a[i] == x ? i : at;\n"
        "  return at;\n}\n",
    ),
    "iterations that are skipped by data": Case(
        f"{HEAD}{LOOP[:-1]} {{\n    if (c[i] > 0)\n      continue;\n    a[i] = b[i];\n  }}\n}}\n",
        "the continue depends on data",
        "continue",
        "write what it skips as choices, such as a[i] = c[i] > 0 ? a[i] : x",
        f"{HEAD}{LOOP}    a[i] = c[i] > 0 ? a[i] : b[i];\n}}\n",
    ),
    "an array that may be missing": Case(
        f"void f(float a[64], const float *b)\n{{\n{LOOP}    a[i] = b ? b[i] : 0;\n}}\n",
        "b is used as a pointer",
        "b ? b[i] : 0",
        "without asking whether it is there",
        f"void f(float a[64], const float *b)\n{{\n{LOOP}    a[i] = b[i];\n}}\n",
    ),
    "a switch": Case(
        f"void f(float a[64], int kind)\n{{\n{LOOP}"
        "    switch (kind) {\n    case 0: a[i] = 1; break;\n    default: a[i] = 2;\n    }\n}\n",
        "switch can't be modelled",
        "switch (kind) {",
        "or on integer parameters that -D gives values",
        f"#define kind 0\nvoid f(float a[64])\n{{\n{LOOP}"
        "    if (kind == 0)\n      a[i] = 1;\n    else\n      a[i] = 2;\n}\n",
    ),
    "a loop behind a label": Case(
        f"{HEAD}  switch (c[0]) {{\n  case 0:\n{SCALED}  }}\n}}\n",
        "pet can't model loops right behind a label",
        "case 0:",
        "put them into braces of their own there, with #pragma scop and #pragma endscop inside",
        f"{HEAD}  switch (c[0]) {{\n  case 0: {{\n{MARKED}  }}\n  }}\n}}\n",
    ),
    "a loop for the threads of a block around it": Case(
        f"#include <omp.h>\n{HEAD}#pragma omp parallel\n  {{\n    int id = omp_get_thread_num();\n"
        f"{MARKED.replace(LOOP, SHARED)}    (void)id;\n  }}\n}}\n",
        "the region lies in the block of an OpenMP directive",
        "#pragma omp for",
        "put #pragma scop in front of the directive",
        f"{HEAD}#pragma scop\n#pragma omp parallel\n  {{\n{SHARED}    a[i] = 2 * b[i];\n  }}\n#pragma endscop\n}}\n",
    ),
    "a loop without marks for the threads of a block around it": Case(
        f'#include <stdio.h>\n#define TEAM _Pragma("omp parallel")\n{HEAD}  TEAM {{\n    puts("thread");\n'
        f"{SHARED}    a[i] = 2 * b[i];\n  }}\n}}\n",
        "the region lies in the block of an OpenMP directive",
        "#pragma omp for",
        "or end the parallel block before the loops",
        f'#include <stdio.h>\n{HEAD}#pragma omp parallel\n  {{\n    puts("thread");\n  }}\n'
        f"#pragma omp parallel\n  {{\n{SHARED}    a[i] = 2 * b[i];\n  }}\n}}\n",
    ),
    "a copy of memory": Case(
        f"#include <string.h>\n{HEAD}{LOOP[:-1]} {{\n    a[i] = b[i];\n    memcpy(a, b, 4);\n  }}\n}}\n",
        "the call of memcpy can't be modelled",
        "memcpy(a, b, 4)",
        "write the loop that it stands for",
        f"{HEAD}{LOOP[:-1]} {{\n    a[i] = b[i];\n    for (int j = 0; j < 1; ++j)\n      a[j] = b[j];\n  }}\n}}\n",
    ),
    "a function that reads an array": Case(
        f"static float twice(const float *p, int i) {{ return 2 * p[i]; }}\n{HEAD}{LOOP}    a[i] = twice(b, i);\n}}\n",
        "the call of twice can't be modelled: it takes the array p, and which elements it reads isn't known",
        "twice(b, i)",
        "write in its place what it returns, or make it a macro",
        f"#define twice(p, i) (2 * (p)[i])\n{HEAD}{LOOP}    a[i] = twice(b, i);\n}}\n",
    ),
    "a macro that counts under a condition": Case(
        f"#define COUNT(n) (n)++\n{HEAD.replace('float a', 'int a')}{LOOP}    if (b[i] > 0) COUNT(a[0]);\n}}\n",
        "the condition depends on data",
        "if (b[i] > 0)",
        "write the choice as an expression",
    ),
    "a parameter that is an enumeration": Case(
        f"enum kind {{ ONE }};\nvoid f(float a[64], enum kind kind)\n{{\n{LOOP}    a[i] = kind;\n}}\n",
        "kind is an enumeration",
        "enum kind kind",
        "make it an int; its constants stay what they are",
        f"enum kind {{ ONE }};\nvoid f(float a[64], int kind)\n{{\n{LOOP}    a[i] = kind;\n}}\n",
    ),
    "arrays in a struct": Case(
        f"struct s {{ float x[64]; }};\nvoid f(struct s *s)\n{{\n{LOOP}    s->x[i] = 1;\n}}\n",
        "a struct or union member",
        "s->x",
        "pass s->x to the function as float *x where it is an array",
        f"void f(float *x)\n{{\n{LOOP}    x[i] = 1;\n}}\n",
    ),
    "a product of counters": Case(
        f"{HEAD}  for (int i = 0; i < 8; ++i)\n    a[i] = b[i * i];\n}}\n",
        "a subscript isn't affine",
        "b[i * i]",
        "products of counters can't be modelled",
    ),
    "a gather": Case(
        f"{HEAD}{LOOP}    a[i] = b[c[i]];\n}}\n", "a subscript isn't affine", "b[c[i]]", "that data names (a gather"
    ),
    "a bound that a counter shifts": Case(
        f"{HEAD}  for (int s = 0; s < 2; ++s)\n    for (int i = 0; i < (32 >> s); ++i)\n      a[i] += b[i];\n}}\n",
        "the loop's bounds are more than sums of these times constants",
        "i < (32 >> s)",
        "where s shifts, write what it decides once for each value of s",
        f"{HEAD}  for (int i = 0; i < 32; ++i)\n    a[i] += b[i];\n"
        "  for (int i = 0; i < 16; ++i)\n    a[i] += b[i];\n}\n",
    ),
    "a condition on a product of counters": Case(
        f"{HEAD}  for (int i = 0; i < 8; ++i)\n    for (int j = 0; j < 8; ++j)\n"
        "      if (i * j < 20)\n        a[j] += b[i];\n}\n",
        "the condition is more than sums of these times constants",
        "if (i * j < 20)",
        "products and quotients of counters can't be modelled",
    ),
    "a bound of a constant array": Case(
        f"static const int low[2] = {{0, 3}};\n{HEAD}  for (int k = 0; k < 2; ++k)\n"
        "    for (int i = low[k]; i < 64; ++i)\n      a[i] += b[k];\n}\n",
        "the loop's bounds depend on data",
        "int i = low[k]",
        "write it once for each element of low, with the number in the element's place",
        f"{HEAD}  for (int i = 0; i < 64; ++i)\n    a[i] += b[0];\n"
        "  for (int i = 3; i < 64; ++i)\n    a[i] += b[1];\n}\n",
    ),
    "an offset of a constant array": Case(
        f"{HEAD}  static const int off[2] = {{1, -1}};\n  for (int k = 0; k < 2; ++k)\n"
        "    for (int i = 1; i < 63; ++i)\n      a[i] += b[i + off[k]];\n}\n",
        "a subscript isn't affine",
        "a[i] += b[i + off[k]];",
        "write it once for each element of off, with the number in the element's place",
        f"{HEAD}  for (int i = 1; i < 63; ++i)\n    a[i] += b[i + 1] + b[i - 1];\n}}\n",
    ),
    "an index that is the next one of an iteration before": Case(
        f"{HEAD}  int k = 0, next = 1;\n{LOOP}  {{\n    a[i] = b[k];\n    k = next;\n"
        "    next = (next + 1) % 3;\n  }\n}\n",
        "k gets its value from iterations before",
        "a[i] = b[k];",
        "or a remainder of one, such as i % 3",
        f"{HEAD}{LOOP}    a[i] = b[i % 3];\n}}\n",
    ),
    "bits of an index": Case(
        f"{HEAD}{LOOP}  {{\n    int k = i ^ 5;\n    a[i] = b[k];\n  }}\n}}\n",
        "a subscript isn't affine",
        "a[i] = b[k];",
        "k is computed with operators on bits in line 5: write each subscript as a sum of loop counters",
    ),
    "a function of long doubles": Case(
        f"#include <math.h>\nvoid f(const long double x[64], double a[64])\n{{\n{LOOP}    a[i] = sqrtl(x[i]);\n}}\n",
        "x is long double, which the model doesn't know",
        "void f(const long double x[64], double a[64])",
        "use arrays and scalars of float, double or an integer type",
        f"#include <math.h>\nvoid f(const double x[64], double a[64])\n{{\n{LOOP}    a[i] = sqrt(x[i]);\n}}\n",
    ),
    "two counters of a loop": Case(
        f"{HEAD}  for (short i = 0, j = 63; i < 64; i++, j--)\n    a[i] = b[j];\n}}\n",
        "the loop declares j beside its counter",
        "short i = 0, j = 63;",
        "count with i alone, and write the others as sums of it, such as x[15 - i]",
        f"{HEAD}{LOOP}    a[i] = b[63 - i];\n}}\n",
    ),
    "a choice in a macro": Case(
        f"#define RAISE(x, v)\n#undef RAISE\n#define RAISE(x, v) if ((v) > (x)) (x) = (v)\n{HEAD}{LOOP}"
        "    RAISE(a[i], b[i]);\n}\n",
        "the condition depends on data",
        "RAISE(a[i], b[i]);",
        "write the choice there as an expression, such as (x) = (v) > (x) ? (v) : (x)",
        f"#define RAISE(x, v) (x) = (v) > (x) ? (v) : (x)\n{HEAD}{LOOP}    RAISE(a[i], b[i]);\n}}\n",
    ),
    "an assignment to an element in a loop's step": Case(
        f"{HEAD}  for (int i = 0; i < 64; a[i] = b[i], i++)\n    ;\n}}\n",
        "the comma operator can't be modelled",
        "a[i] = b[i], i++",
        "write a[i] = b[i] at the end of the loop's body",
        f"{HEAD}  for (int i = 0; i < 64; i++)\n    a[i] = b[i];\n}}\n",
    ),
    "an assignment to an element where a loop begins": Case(
        f"{HEAD}  int i;\n  for (a[0] = 1, i = 1; i < 64; i++)\n    a[i] = a[i - 1] * b[i];\n}}\n",
        "the comma operator can't be modelled",
        "a[0] = 1, i = 1",
        "write a[0] = 1 in front of the loop",
        f"{HEAD}  int i;\n  a[0] = 1;\n  for (i = 1; i < 64; i++)\n    a[i] = a[i - 1] * b[i];\n}}\n",
    ),
    "a second counter that begins before the loop": Case(
        f"{HEAD}  int i, j = 3;\n  for (i = 0; i < 32; i++, j += 2)\n    a[i] = b[j - i];\n}}\n",
        "the comma operator can't be modelled",
        "i++, j += 2",
        "count with i alone, and write the others as sums of it",
        f"{HEAD}  for (int i = 0; i < 32; i++)\n    a[i] = b[3 + 2 * i - i];\n}}\n",
    ),
    "a value behind a comma": Case(
        f"{HEAD}  float t;\n{LOOP}    a[i] = (t = b[i], t * t);\n}}\n",
        "the comma operator can't be modelled",
        "t = b[i], t * t",
        "write one statement for each part",
        f"{HEAD}  float t;\n{LOOP}  {{\n    t = b[i];\n    a[i] = t * t;\n  }}\n}}\n",
    ),
    "iterations that threads take by their numbers": Case(
        f"#include <omp.h>\n{HEAD}#pragma omp parallel\n  {{\n"
        "  int t = omp_get_thread_num(), n = omp_get_num_threads();\n"
        f"  for (int i = t; i < 64; i += n)\n    a[i] = 2 * b[i];\n  }}\n}}\n",
        "the call of omp_get_thread_num can't be modelled",
        "omp_get_thread_num()",
        "with #pragma omp for where threads share it",
        f"#include <omp.h>\n{HEAD}#pragma omp parallel\n  {{\n{SHARED}    a[i] = 2 * b[i];\n  }}\n}}\n",
    ),
    "a counter that the body changes": Case(
        f"{HEAD}  for (int i = 0; i < 64; i++) {{\n    a[i] = b[i];\n    i += 1;\n  }}\n}}\n",
        "the loop's counter i is changed in its body",
        "i += 1;",
        "change i in the loop's header alone, such as i += 2",
        f"{HEAD}  for (int i = 0; i < 64; i += 2)\n    a[i] = b[i];\n}}\n",
    ),
    "a helper that takes an enumeration": Case(
        f"enum kind {{ KEPT, MADE }};\nstatic float of(enum kind k, float x) {{ return k == KEPT ? x : 1; }}\n"
        f"{HEAD}{LOOP}    a[i] = of(MADE, b[i]);\n}}\n",
        "it takes k, which is an enumeration",
        "of(MADE, b[i])",
        "make the parameter an int",
        f"enum kind {{ KEPT, MADE }};\nstatic float of(int k, float x) {{ return k == KEPT ? x : 1; }}\n"
        f"{HEAD}{LOOP}    a[i] = of(MADE, b[i]);\n}}\n",
    ),
    "the rest of a loop in steps": Case(
        f"{HEAD}  int i;\n  for (i = 0; i < 60; i += 4)\n    a[i] = 1;\n  for (; i < 63; i++)\n    a[i] = 1;\n}}\n",
        "the loop counter i is read behind the region",
        "for (; i < 63; i++)",
        "behind `i + 3 < n; i += 4` from 0, for (int j = n / 4 * 4; j < n; j++)",
        f"{HEAD}  int i;\n  for (i = 0; i < 60; i += 4)\n    a[i] = 1;\n"
        "  for (int j = 63 / 4 * 4; j < 63; j++)\n    a[j] = 1;\n}\n",
    ),
    "the rest of a loop in a region": Case(
        f"{HEAD}  int i = 0;\n#pragma scop\n  for (; i < 63; i++)\n    a[i] = 1;\n#pragma endscop\n}}\n",
        "the loop doesn't set its counter i",
        "i++",
        "set i in the loop's header to the value that it has there: i = 0",
        f"{HEAD}  int i;\n#pragma scop\n  for (i = 0; i < 63; i++)\n    a[i] = 1;\n#pragma endscop\n}}\n",
    ),
    **{
        f"the step {step}": Case(
            f"void f(float a[64])\n{{\n  for (int i = 1; i < 64; {step})\n    a[i] = 1;\n}}\n",
            "the loop's step is no sum of its counter and a constant",
            step,
            "write a loop that advances by a constant: ++i or i += 2",
            "void f(float a[64])\n{\n  for (int i = 1; i < 64; i += 2)\n    a[i] = 1;\n}\n",
        )
        for step in ("i *= 2", "i <<= 1", "i = i * 2", "i = (2 * i)")
    },
}


@parametrized("case", CASES.values(), ids=list(CASES), quick=4)
def test_the_remedy_is_to_the_point_and_true(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(case.source)
    with pytest.raises(PolydlError) as raised:
        parse(path)
    error = raised.value
    assert case.message in str(error)
    assert case.construct in str(error.construct)
    assert case.remedy in str(error.remedy)
    numbered = enumerate(case.source.split("\n"), 1)
    assert error.line == next(number for number, line in numbered if case.construct in line)
    if case.mended:
        path.write_text(case.mended)
        assert parse(path).statements
