"""The pragmas in front of a region that belong to it."""

from __future__ import annotations

import pytest

from polydl.frontend.pragmas_before import with_pragmas


@pytest.mark.parametrize(
    ("before", "taken"),
    [
        ("int x;\n", ""),
        ("int x; ", ""),
        ("", "#pragma omp parallel for\n  "),
        ("int x;\n", "#pragma omp parallel \\\n  private(x)\n#pragma GCC ivdep\n"),
        ("int x;\n", "#pragma omp parallel for\n// rows\n\n  "),
        ("int x;\n", "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n"),
        ("", "#if A\n#pragma omp parallel for\n#elif B\n#pragma omp simd\n#else\n#endif\n/* of\n rows */ "),
        ("#pragma omp task\ng(b);\n#pragma omp taskwait\n", "#pragma omp parallel for\n"),
        ("#pragma omp barrier\n", ""),
        ("#pragma omp parallel\n{ ", ""),
        # Half of a condition is none of the region's.
        ("#ifdef A\nint x;\n#else\n", "#pragma omp parallel for\n"),
        ("#ifdef A\nint x;\n#pragma omp parallel for\n#endif\n", ""),
        ("#define N 9\n", "#pragma omp parallel for\n"),
    ],
)
def test_what_stands_between_pragmas_and_loops_goes_with_them(before: str, taken: str) -> None:
    start = len(before) + len(taken)
    assert f"{before}{taken}"[with_pragmas(f"{before}{taken}for (;;) x();\n", start) :] == taken
