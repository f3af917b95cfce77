"""Files of the user's in a folder of results: none of them is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.cli import main
from polydl.emission.replaced import check_replaced
from polydl.errors import OptionError

SOURCE = """\
void scale(int N, float a[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    a[i] = 2 * a[i];
#pragma endscop
}
"""


@pytest.mark.parametrize("name", ["README.txt", "report.json"])
def test_what_a_person_wrote_is_not_replaced(tmp_path: Path, name: str) -> None:
    check_replaced(tmp_path / "missing", "report.json")
    path = tmp_path / name
    path.write_text("about polydl and other things")
    with pytest.raises(OptionError, match=f"{name} in the folder of the results was not written by polydl") as raised:
        check_replaced(tmp_path, "report.json")
    assert raised.value.remedy
    path.write_text("")
    check_replaced(tmp_path, "report.json")


def test_what_polydl_wrote_and_links_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("void f(int);\n\nwas made by polydl. It takes the place of\n")
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "report.json").symlink_to(tmp_path / "mine")
    (tmp_path / "library.json").write_text('{\n "polydl": "1.0"')
    check_replaced(tmp_path, "report.json")
    check_replaced(tmp_path, "library.json")


@pytest.mark.native
@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["library", "scale.c", "--range", "N=1..9"], "library.json"),
        (["library", "scale.c", "--range", "N=1..9"], "README.txt"),
        (["optimize", "scale.c", "-D", "N=8"], "report.json"),
        (["fuse", "scale.c", "-D", "N=8"], "README.txt"),
    ],
)
def test_commands_say_so_before_anything_else(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.c").write_text(SOURCE)
    Path(name).write_text("mine\n")
    assert main([*options, "--out", ".", "--records", "records"], standalone_mode=False) == 2
    assert f"{name} in the folder of the results was not written by polydl" in capsys.readouterr().err
    assert Path(name).read_text() == "mine\n"
    assert {path.name for path in Path().iterdir()} <= {"scale.c", name, "records"}
