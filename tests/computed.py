"""Nests from C, and variants of them that must compute the same as their source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polydl import pipeline
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute, distributed

_READ: dict[tuple[str, tuple[tuple[str, int], ...]], Scop] = {}


def parse(tmp_path: Path, source: str, **defines: int) -> Scop:
    """The nest of a C text, which lies in the folder afterwards. What another test has read isn't read again."""
    path = tmp_path / "nest.c"
    path.write_text(source)
    question = (source, tuple(sorted(defines.items())))
    if question not in _READ:
        _READ[question] = pipeline.parse(path, defines=defines)
    return _READ[question]


def separate(scop: Scop) -> Scop:
    """The scop with one nest after the other."""
    made = distributed(scop, distribute(scop, dependences(scop)))
    assert made is not None
    return made


def check_kernels(
    tmp_path: Path, scop: Scop, kernels: Sequence[KernelSource], threads: int = 2, timeout_seconds: float = 20.0
) -> None:
    """Compile and run kernels beside the source; each must compute what that does."""
    # A third of the compiler's time, with the same pragmas and intrinsics.
    built = EXECUTOR.build([original(scop), *kernels], Toolchain.find("gcc").cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=5.0, timeout_seconds=timeout_seconds)
    for measurement in EXECUTOR.measure(built[1:], built[0], scop, threads=threads, policy=policy):
        assert measurement.status == "ok", measurement.message
