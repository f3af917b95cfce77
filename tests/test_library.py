"""``polydl library`` from C to files: what is emitted, what a second run takes from records, what interrupts it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from symbolic_nests import product

import polydl
from polydl.cli import main
from polydl.libraries import build, candidates, sampling
from polydl.libraries.blocking import packings
from polydl.libraries.decision import choose
from polydl.libraries.held_out import held_out, picks
from polydl.system.files import write_together

pytestmark = pytest.mark.usefixtures("second_level")

RANGES = {"M": "1..40", "N": "16,48", "K": "8..32:8"}


def made(directory: Path, **options: Any) -> polydl.Library:
    path = directory / "gemm.c"
    path.write_text(product(before="C[i][j] = 0;"), encoding="utf-8")
    machine = polydl.Machine.detect(cache_sizes="32K,1M", threads=1)
    return polydl.library(
        path,
        RANGES,
        out=directory / "out",
        shapes=2,
        top_k=1,
        configurations=2,
        machine=machine,
        records=directory / "records",
        **options,
    )


@pytest.mark.native
@pytest.mark.slow
def test_a_library_is_emitted_and_a_second_run_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Which of a blocking's packings is taken depends on times, which differ once they are measured again.
    monkeypatch.setattr(candidates, "packings", lambda *arguments: packings(*arguments)[:1])
    monkeypatch.setattr(sampling, "_FURTHER", 4)
    monkeypatch.setattr(sampling, "_DOUBTFUL", 2)
    together: list[str] = []

    def noted(files: Mapping[Path, str | bytes], stale: Iterable[Path] = ()) -> None:
        together.extend(path.name for path in files)
        write_together(files, stale)

    monkeypatch.setattr("polydl.emission.emit.write_together", noted)
    stages = []
    first = made(tmp_path, progress=lambda stage: stages.append((stage.name, stage.done, stage.total)))
    assert stages[:4] == [("optimize", 1, 2), ("optimize", 2, 2), ("measure", 1, 2), ("measure", 2, 2)]
    further = sum(name == "decide" for name, *_ in stages)
    assert 2 < further <= 8
    assert stages[4 : 4 + further] == [("decide", number + 1, further) for number in range(further)]
    doubtful = len(first.shapes) - 2 - further
    assert 0 < doubtful <= 4
    assert stages[4 + further :] == [("doubt", number + 1, doubtful) for number in range(doubtful)]
    assert {path.name for path in first.files.values()} >= {
        "gemm_polydl.c",
        "libgemm_polydl.so",
        "library.json",
        "slowdown.svg",
    }
    assert f"share of {len(first.shapes)} measured shapes" in first.files["plot"].read_text(encoding="utf-8")
    # The manifest is never that of an earlier library.
    assert together[-1] == "libgemm_polydl.so"
    assert "library.json" in together
    assert max(first.slowdowns) >= 1.0
    assert len(first.times) == len(first.shapes) > 2
    for m, n, k in ((1, 16, 8), (40, 48, 32), (3, 17, 5), (41, 50, 33), (100, 1, 1)):
        a, b, c = np.random.rand(m, k), np.random.rand(k, n), np.random.rand(m, n)
        arrays = {name: each.astype(np.float32) for name, each in (("A", a), ("B", b), ("C", c))}
        first.best(**arrays)
        assert np.allclose(arrays["C"], a @ b, rtol=1e-4)
        kernel = first.chosen(M=m, N=n, K=k)
        assert kernel in first.kernels or kernel == "original"
    manifest = json.loads(first.files["manifest"].read_text(encoding="utf-8"))
    assert manifest["ranges"] == RANGES
    assert manifest["slowdown"]["worst"] == max(first.slowdowns)
    assert [shape["chosen"] for shape in manifest["shapes"]] == [choose(first.decision, s) for s in first.shapes]
    code = first.files["c"].read_text(encoding="utf-8")
    assert "if (M >= 1 && M <= 40 && N >= 16 && N <= 48 && K >= 8 && K <= 32) {" in code

    (beside,) = held_out(first, [{"M": 21, "N": 33, "K": 19}], top_k=1, records=tmp_path / "records")
    assert beside.chosen == first.chosen(M=21, N=33, K=19)
    assert beside.slowdown == beside.seconds / beside.tuned_seconds > 0
    measured = picks(first, {"M": 21, "N": 33, "K": 19}, 4)
    assert 0 < len(measured.expected) <= 4
    assert min(measured.seconds, measured.original_seconds, *filter(None, measured.expected)) > 0

    from polydl.execute.local import LocalExecutor

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("measured again")

    with monkeypatch.context() as patched:
        patched.setattr(LocalExecutor, "measure", refuse)
        second = made(tmp_path)
    assert second.times == first.times
    assert second.decision == first.decision

    model = first.model
    assert model is not None
    (expected,) = model.fastest({"M": 21, "N": 33, "K": 19}, 1)
    assert expected.seconds is not None
    assert expected.seconds > 0
    more = first.refine([{"M": np.int64(21), "N": 33, "K": 19}], top_k=1, out=tmp_path / "more")  # type: ignore[dict-item]
    assert more.shapes == (*first.shapes, {"M": 21, "N": 33, "K": 19})
    assert expected.id in more.candidates
    assert len(more.times) == len(first.times) + 1
    ones = {name: np.ones(shape, np.float32) for name, shape in (("A", (21, 19)), ("B", (19, 33)), ("C", (21, 33)))}
    more.best(**ones)
    assert (ones["C"] == 19).all()
    with pytest.raises(polydl.PolydlError, match="is no shape of the library"):
        first.refine([{"M": 41, "N": 33, "K": 19}])
    function = more.best
    more.files["library"].write_bytes(b"another")
    # At sizes that it was not called at before.
    few = {name: np.ones((2, 2), np.float32) for name in ("A", "B", "C")}
    function(**few)
    assert (few["C"] == 2).all()
    with pytest.raises(polydl.PolydlError, match="not the library that was written there"):
        _ = more.best


@pytest.mark.slow
@pytest.mark.native
def test_an_interruption_emits_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "searched_kernels", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no size has a range"),
        (["--range", "M=9..1"], "--range M=9..1: it begins above its end"),
        (["--range", "M=1..9", "--range", "M=3"], "--range M is given twice"),
        (["--range", "Q=1..9"], "Q is no integer parameter"),
        (["--max-slowdown", "0.5"], "0.5 is not in the range"),
        (["--range", "K=1..9"], "-D K=4 gives one value to a size that has a range"),
        (["--workload", "gemm_8x8x8"], "both a FILE and a --workload"),
        (["--range", "M=1..9", "--machine", "zen4", "--threads", "4096"], "and this is another machine"),
    ],
)
def test_mistakes_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    path = tmp_path / "gemm.c"
    path.write_text(product(), encoding="utf-8")
    assert main(["library", str(path), "-D", "N=4", "-D", "K=4", *arguments], standalone_mode=False) == 2
    assert message in capsys.readouterr().err


def test_options_of_the_function_are_checked(tmp_path: Path) -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: polydl.library("x.c", RANGES, max_kernels=0), "max_kernels is 0"),
        (lambda: polydl.library("x.c", RANGES, max_slowdown=0.9), "max_slowdown is 0.9"),
        (lambda: polydl.library("x.c", RANGES, shapes=0), "shapes is 0"),
        (lambda: polydl.library("x.c", RANGES, configurations=-1), "configurations is -1"),
    ]
    for call, message in calls:
        with pytest.raises(polydl.PolydlError, match=message):
            call()
