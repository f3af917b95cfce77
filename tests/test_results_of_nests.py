"""What is said of a nest that changes nothing but what its function returns."""

from __future__ import annotations

from pathlib import Path

import polydl
from polydl.execute.contract import NO_REFERENCE
from polydl.ir.measurement import Measurement
from polydl.optimization.unmeasured import none_passed, unmeasured

DOT = """\
double dot(const double a[64], const double b[64])
{
    double s = 0;
    for (int i = 0; i < 64; i++)
        s += a[i] * b[i];
    return s;
}
"""


def test_a_result_that_is_returned_alone_has_a_remedy_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "dot.c"
    path.write_text(DOT)
    baseline = Measurement("original", "wrong", message=f"{NO_REFERENCE}: it changes no array")
    error = unmeasured(polydl.parse(path), baseline)
    assert error.remedy == "give dot an array of one element for what it returns: result[0] = s;"
    path.write_text(DOT.replace("b[64])", "b[64], double c[64])").replace("s += ", "c[i] = "))
    assert "--init FUNCTION" in str(unmeasured(polydl.parse(path), baseline).remedy)


COUNTS = """\
void f(double a[64], const double b[64])
{
    static double sums[64], unused;
    double last = 0;
    for (int i = 0; i < 64; i++) {
        sums[i] += b[i];
        last = last + sums[i];
        a[i] = last;
    }
}
"""


def test_where_a_function_keeps_values_wrong_candidates_have_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "counts.c"
    path.write_text(COUNTS)
    scop = polydl.parse(path)
    assert none_passed(scop, ()) == "there is no legal variant to run"
    failed, wrong = Measurement("failed", "compile"), Measurement("wrong", "wrong")
    assert none_passed(scop, [failed]) == "no candidate passed"
    said = "no candidate passed: f keeps sums from one call to the next; make each a global or a parameter"
    assert none_passed(scop, [failed, wrong]) == said
