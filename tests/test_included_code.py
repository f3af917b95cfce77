"""Functions that the file includes: pet reads them too, and knows of their places only offsets in their own file."""

from __future__ import annotations

from pathlib import Path

import pytest

import polydl
from polydl.errors import UnsupportedConstructError

LOOPS = "{{\n  for (int i = 0; i < {size}; i++)\n    a[i] = {factor} * b[i];\n}}\n"
MARKED = "{{\n#pragma scop\n  for (int i = 0; i < {size}; i++)\n    a[i] = {factor} * b[i];\n#pragma endscop\n}}\n"
HEAD = "void {name}(float a[40], const float b[40])\n"


def written(folder: Path, header: str, body: str) -> Path:
    """A file with one function, whose loops run to 40, that includes a header with one, whose loops run to 20."""
    helper = HEAD.format(name="helper") + header.format(size=20, factor=3)
    (folder / "helper.h").write_text(f"static\n{helper}// {'.' * 400}\n")
    path = folder / "nest.c"
    path.write_text('#include "helper.h"\n' + HEAD.format(name="f") + body.format(size=40, factor=2))
    return path


@pytest.mark.parametrize("header", [LOOPS, MARKED], ids=["loops", "marked"])
@pytest.mark.parametrize("body", [LOOPS, MARKED], ids=["of_loops", "of_marked"])
@pytest.mark.parametrize("blanks", [0, 5, 60])
def test_loops_of_a_header_are_none_of_the_file(header: str, body: str, blanks: int, tmp_path: Path) -> None:
    path = written(tmp_path, header, "{{\n" + "\n" * blanks + body.removeprefix("{{\n"))
    nest = polydl.parse(path)
    (statement,) = nest.statements
    assert (nest.function.name, statement.text) == ("f", "a[i] = 2 * b[i];")
    assert [array.extents for array in nest.arrays] == [(40,), (40,)]
    assert "i <= 39" in statement.domain
    assert nest.source.encode()[slice(*nest.region)].decode().count("for") == 1


def test_a_header_of_functions_without_loops_hides_no_loop(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        "#include <polydl/bfloat16.h>\nvoid f(float a[40], const bfloat16 b[24][40])\n{\n"
        "  for (int i = 0; i < 40; i++)\n    for (int j = 0; j < 24; j++)\n"
        "      a[i] += bfloat16_to_float(b[j][i]);\n}\n"
    )
    (statement,) = polydl.parse(path).statements
    assert statement.text == "a[i] += bfloat16_to_float(b[j][i]);"


def test_statements_of_the_function_in_another_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.inc").write_text("1, 2, 3, 4\n")
    (tmp_path / "statement.inc").write_text("a[i] = w[i] * b[i];\n")
    path = tmp_path / "nest.c"
    path.write_text(
        HEAD.format(name="f")
        + '{\nstatic const float w[4] = {\n#include "table.inc"\n};\n'
        + 'for (int i = 0; i < 4; i++) {\n#include "statement.inc"\n}\n}\n'
    )
    with pytest.raises(UnsupportedConstructError, match="a part of f stands in another file") as raised:
        polydl.parse(path)
    assert (raised.value.line, raised.value.construct) == (7, '#include "statement.inc"')
    path.write_text(path.read_text().replace('#include "statement.inc"', "a[i] = w[i] * b[i];"))
    assert len(polydl.parse(path).statements) == 1


def test_a_helper_of_a_header_is_to_be_moved(tmp_path: Path) -> None:
    (tmp_path / "helper.h").write_text("static inline int clipped(int v) { if (v < 0) v = 0; return v; }\n")
    path = tmp_path / "nest.c"
    path.write_text('#include "helper.h"\n' + HEAD.format(name="f") + LOOPS.format(size=40, factor="clipped(i - 3)"))
    with pytest.raises(UnsupportedConstructError, match="its body is in another file") as raised:
        polydl.parse(path)
    assert raised.value.remedy == "move clipped from its header to this file"
    path.write_text(path.read_text().replace('#include "helper.h"\n', (tmp_path / "helper.h").read_text()))
    assert [function.name for function in polydl.parse(path).functions] == ["clipped"]
