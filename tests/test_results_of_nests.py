"""What comes of nests that can't be measured, and of those of which no candidate passes."""

from __future__ import annotations

from pathlib import Path

import pytest

import polydl
from polydl.cli import main
from polydl.errors import UnsupportedConstructError
from polydl.execute.checking import Checker
from polydl.execute.child import ChildError
from polydl.execute.contract import NO_REFERENCE
from polydl.execute.expected import Exact
from polydl.execute.participant import Participant
from polydl.ir.measurement import Measurement
from polydl.optimization.unmeasured import check_results, none_passed, unmeasured

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
    with pytest.raises(UnsupportedConstructError) as raised:
        polydl.optimize(path, threads=1)
    assert raised.value.message == "the region writes no array that a caller of dot sees"
    assert raised.value.construct == "s"
    assert raised.value.remedy == "give dot an array of one element for what it returns: result[0] = s;"
    path.write_text(DOT.replace("b[64])", "b[64], double c[64])").replace("s += ", "c[i] = "))
    check_results(polydl.parse(path))
    baseline = Measurement("original", "wrong", message=f"{NO_REFERENCE}: it changes no array")
    assert "--init FUNCTION" in str(unmeasured(polydl.parse(path), baseline).remedy)


def test_results_in_arrays_of_the_function_are_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    path = tmp_path / "local.c"
    path.write_text("void f(void) { int a[10], i; for (i = 0; i < 10; ++i) a[i] = i; }\n")
    with pytest.raises(UnsupportedConstructError) as raised:
        polydl.optimize(path, threads=1)
    assert raised.value.remedy == "make a a parameter of f, or a global array"


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
    inaccurate = Measurement("inaccurate", "inaccurate")
    assert "; --numerics reassociated computes the source's own products" in none_passed(scop, [inaccurate, inaccurate])
    assert none_passed(scop, [inaccurate, failed]) == "no candidate passed"
    said = "no candidate passed: f keeps sums from one call to the next; make each a global or a parameter"
    assert none_passed(scop, [failed, wrong]) == said


@pytest.mark.native
def test_where_all_variants_are_inaccurate_the_plain_nest_is_emitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(checker: Checker, participant: Participant, exact: Exact, most_error: float) -> None:
        if not participant.id.startswith(("original", "plain")):
            raise ChildError("inaccurate", "as told")

    monkeypatch.setattr(Checker, "_measure_accuracy", measured)
    monkeypatch.chdir(tmp_path)
    Path("halved.c").write_text("void halved(float y[64]) { for (int i = 0; i < 64; i++) y[i] = 0.5f * y[i]; }\n")
    arguments = "optimize halved.c --threads 1 --max-variants 3 --top-k 1 --no-calibration --records kept --out out"
    assert main.main(arguments.split(), standalone_mode=False) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Winner  the plain nest, ")
    assert "no variant is accurate enough for numerics bounded" in " ".join(shown.out.split())
    assert "polydl: no candidate passed: " in shown.err
    assert "no variant that was measured passed. They are built by" in Path("out", "halved_polydl.c").read_text()
    assert Path("out", "libhalved_polydl.so").exists()
