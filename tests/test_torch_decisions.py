"""What is kept of a comparison with PyTorch, and what of it is read again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import polydl

if TYPE_CHECKING:
    from polydl.torch.decisions import TimingVerdict

pytest.importorskip("torch")
DIGEST = "0" * 24


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere.json"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def others_may_write(path: Path) -> None:
    path.chmod(0o666)


def other_folder(path: Path) -> None:
    path.parent.chmod(0o777)


def nonsense(path: Path) -> None:
    path.write_text('{"kept": {"x": 1}}', encoding="utf-8")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The file of a verdict that was kept in ``tmp_path``, where the mask leaves all rights to all."""
    from polydl.models.verdicts import keep

    mask = os.umask(0)
    try:
        keep(tmp_path, DIGEST, verdict("faster"))
    finally:
        os.umask(mask)
    return tmp_path / "models" / f"{DIGEST}.json"


def verdict(reason: str) -> TimingVerdict:
    from polydl.torch.decisions import TimingVerdict

    return TimingVerdict({"x": reason}, {})


@pytest.mark.parametrize("put", [pipe, link, others_may_write, other_folder, nonsense])
def test_what_others_may_have_put_there_is_not_read(kept: Path, tmp_path: Path, put: Callable[[Path], None]) -> None:
    from polydl.models.verdicts import find
    from polydl.torch.decisions import TimingVerdict

    assert find(tmp_path, DIGEST, TimingVerdict) == verdict("faster")
    put(kept)
    assert find(tmp_path, DIGEST, TimingVerdict) is None


@pytest.mark.parametrize("put", [pipe, link])
def test_what_others_may_have_put_there_is_replaced(kept: Path, tmp_path: Path, put: Callable[[Path], None]) -> None:
    from polydl.models.verdicts import find, keep
    from polydl.torch.decisions import TimingVerdict

    put(kept)
    keep(tmp_path, DIGEST, verdict("slower"))
    assert find(tmp_path, DIGEST, TimingVerdict) == verdict("slower")
    if put is link:
        assert "faster" in (tmp_path / "elsewhere.json").read_text(encoding="utf-8")


def test_nothing_is_kept_where_others_may_write(kept: Path, tmp_path: Path) -> None:
    from polydl.models.verdicts import keep

    (tmp_path / "models").chmod(0o777)
    with pytest.raises(polydl.PolydlError, match="others than its owner"):
        keep(tmp_path, DIGEST, verdict("slower"))


@pytest.mark.peers
@pytest.mark.native
def test_a_choice_that_can_not_be_kept_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch import nn
    from torch_models import data
    from written_nests import keep_nests_as_written

    from polydl.torch import optimize

    keep_nests_as_written(monkeypatch)
    (tmp_path / "models").mkdir()
    (tmp_path / "models").chmod(0o777)
    with pytest.warns(UserWarning, match="compares with PyTorch again: .*: the choice is not kept") as warned:
        fast = optimize(nn.Linear(8, 8).eval(), data(3, 8), threads=1, records=tmp_path)
    assert fast.native_calls == 1
    assert [each.filename for each in warned] == [__file__]
