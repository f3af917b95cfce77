"""C that is hard on a front-end: accepted or refused with a reason, and never a fault."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from marks import parametrized

import polydl
from polydl.errors import PolydlError, UserError

# The body of a function over ``float a[24][24], int n[24]``, by what is odd about it.
BODIES = {
    "leaves early": "for (int i = 0; i < 24; i++) { if (n[i] > 3) break; a[i][0] = 1.0f; }",
    "skips": "for (int i = 0; i < 24; i++) { if (i % 3 == 1) continue; a[i][0] = 1.0f; }",
    "while": "int i = 0; while (i < 24) { a[i][0] = i; i++; }",
    "do": "int i = 0; do { a[i][0] = i; i += 2; } while (i < 24);",
    "endless": "for (;;) a[0][0] += 1.0f;",
    "backwards": "for (int i = 23; i > 0; i -= 5) a[i][i] = a[i - 1][i];",
    "wraps around": "for (unsigned char i = 250; i != 4; i++) a[i & 15][0] = 1.0f;",
    "never runs": "for (int i = 24; i < 12; i++) a[i][0] = 1.0f;",
    "nothing": ";",
    "jumps": "for (int i = 0; i < 24; i++) { if (i == 5) goto end; a[i][0] = 1.0f; } end:;",
    "switch": "for (int i = 0; i < 24; i++) switch (i & 1) { case 0: a[i][0] = 1.0f; break; default: a[i][1] = 2; }",
    "comma": "for (int i = 0, j = 23; i < 24; i++, j--) a[i][j] = 0.0f;",
    "walks a pointer": "float *p = &a[0][0]; for (int i = 0; i < 24; i++) *p++ = 0.0f;",
    "a row by a pointer": "for (int i = 0; i < 24; i++) { float *row = a[i]; for (int j = 0; j < 9; j++) row[j] = 1; }",
    "through data": "for (int i = 0; i < 24; i++) a[n[i] & 7][0] += 1.0f;",
    "bound in data": "for (int i = 0; i < 24; i++) for (int j = 0; j < n[i]; j++) a[i][j] = 0.0f;",
    "structure": "struct { float x, y[3]; } s; for (int i = 0; i < 3; i++) { s.y[i] = i; a[i][0] = s.y[i]; }",
    "union": "union { float f; int i; } u; for (int i = 0; i < 24; i++) { u.i = n[i]; a[i][0] = u.f; }",
    "volatile": "volatile float v = 1.0f; for (int i = 0; i < 24; i++) a[i][0] = v;",
    "static": "static float kept[24]; for (int i = 0; i < 24; i++) { kept[i] += 1.0f; a[i][0] = kept[i]; }",
    "assembler": 'for (int i = 0; i < 24; i++) { __asm__ volatile("" ::: "memory"); a[i][0] = 1.0f; }',
    "statement expression": "for (int i = 0; i < 24; i++) a[i][0] = ({ float t = a[i][1]; t * t; });",
    "compound literal": "for (int i = 0; i < 24; i++) a[i][0] = ((float[]){1.0f, 2.0f})[i % 2];",
    "nested conditions": "for (int i = 0; i < 24; i++) a[i][0] = i < 4 ? 1.0f : i < 9 ? 2.0f : n[i] ? 3.0f : 4.0f;",
    "integers divided": "for (int i = 0; i < 24; i++) a[i / 3][i % 3] += 1.0f;",
    "squares": "for (int i = 0; i * i < 24; i++) a[i][0] = 1.0f;",
    "beyond the array": "for (int i = 0; i < 25; i++) a[i][0] = 1.0f;",
    "address taken": "for (int i = 0; i < 24; i++) { int k = i; int *p = &k; *p += 1; a[k % 24][0] = 1.0f; }",
    "counter changed": "for (int i = 0; i < 24; i++) { a[i][0] = 1.0f; i += n[0]; }",
    "shadowed": "for (int i = 0; i < 24; i++) { int n = i; for (int i = 0; i < n; i++) a[n][i] = n; }",
    "assigned twice": "float t, u; for (int i = 0; i < 24; i++) { t = u = a[i][0] * 2.0f; a[i][1] = t + u; }",
    "array of its own size": "int m = n[0]; float w[m]; for (int i = 0; i < m; i++) w[i] = a[0][i]; a[0][0] = w[0];",
}
ODD_FILES = {
    "nothing at all": "",
    "no function": "int size = 3;\n",
    "no loop": "void f(float a[3]) {\n#pragma scop\n  a[0] = 1.0f;\n#pragma endscop\n}\n",
    "region left open": "void f(float a[3]) {\n#pragma scop\n  for (int i = 0; i < 3; i++) a[i] = 0;\n}\n",
    "no C": "this is no C at all {{{\n",
    "of another language": "fn f(a: &mut [f32]) { for x in a { *x = 0.0; } }\n",
    "old style": "void f(a, n) float a[8]; int n; { for (int i = 0; i < 8; i++) a[i] = n; }\n",
    "calls itself": "void f(float a[8], int n) { for (int i = 0; i < 8; i++) { a[i] = n; if (n) f(a, n - 1); } }\n",
    "variable arguments": "void f(int n, ...) { float a[8]; for (int i = 0; i < 8; i++) a[i] = n; }\n",
    "array of pointers": "void f(float *a[8]) { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = 0; }",
}


def source(body: str) -> str:
    return f"void f(float a[24][24], int n[24]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


@parametrized("name", [*BODIES, *ODD_FILES], quick=15)
def test_odd_c_is_accepted_or_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.c"
    path.write_text(ODD_FILES[name] if name in ODD_FILES else source(BODIES[name]))
    machine = polydl.Machine.detect(cache_sizes="32K,1M", threads=1)
    refused = refusal(path, machine)
    assert refused is None or isinstance(refused, UserError), refused
    if refused is not None:
        assert refused.message
        assert refused.file == str(path)
        assert refused.remedy


@pytest.mark.parametrize("body", ["{ a[i] = n; if (n) f(a, n - 1); }", "a[i] = n; if (n) f(a, n - 1);"])
def test_pet_never_sees_a_function_that_calls_itself(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would follow the calls until its stack is full."""
    path = tmp_path / "odd.c"
    path.write_text(f"void f(float a[8], int n) {{ for (int i = 0; i < 8; i++) {body} }}\n")
    monkeypatch.setattr("polydl.frontend.pet.pet_pass", None)
    refused = refusal(path, polydl.Machine.detect(cache_sizes="32K,1M", threads=1))
    assert "the function calls itself" in str(refused)


def refusal(path: Path, machine: polydl.Machine) -> PolydlError | None:
    try:
        nest = polydl.parse(path)
        assert polydl.generate_variants(nest, machine=machine, max_variants=3)
    except PolydlError as error:
        return error
    return None


@pytest.mark.slow
@pytest.mark.native
def test_a_folder_is_tried_and_tabulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    module = import_module("experiments.c_files")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "good.c").write_text(source(BODIES["backwards"]))
    (tmp_path / "sized.c").write_text(
        "void f(int m, float x[m], float y[m]) {\n#pragma scop\n  for (int i = 0; i < m; i++) y[i] = 2.0f * x[i];\n"
        "#pragma endscop\n}\n"
    )
    (tmp_path / "deeper" / "refused.c").write_text(source(BODIES["bound in data"]))
    out = tmp_path / "results.json"
    module.main([str(tmp_path), "--out", str(out)])
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["files", "verified", "refused", "failed", "timeout", "fault"]
    assert rows[2] == ["3", "2", "1", "0", "0", "0"]
    assert rows[-1][1:] == ["refused", "1", "deeper/refused"]
    module.main(["table", str(out)])
    assert "deeper/refused" in capsys.readouterr().out


def test_a_traceback_is_a_fault_and_reasons_name_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    module: Any = import_module("experiments.c_files")
    said = "error: nest.c:12: `a[n[i]]` reads element 4 of `n`\n  in: a[n[i]]\n  remedy: none"
    assert module.reason(said) == "… reads element … of …"
    assert module.reason("error: pet can't read 'x'") == "pet can't read …"
    document = {"results": {"x.c": {"status": "fault", "message": "Traceback (most recent call last):"}}}
    assert any("| fault | 1 | x |" in line for line in module.table(document))
