"""A nest as text."""

from __future__ import annotations

from pathlib import Path

import polydl
from polydl.presentation.nest import scop_text


def test_operations_on_integers_are_not_called_floating_point(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text("void f(int a[8], const int b[8])\n{\n  for (int i = 0; i < 8; i++)\n    a[i] += 3 * b[i];\n}\n")
    assert "Arithmetic  16 operations on integers" in scop_text(polydl.parse(path))
    path.write_text(path.read_text().replace("int a", "float a"))
    assert "Arithmetic  16 floating-point operations" in scop_text(polydl.parse(path))
