"""The kinds of peers that polydl is compared with: how each is installed, and the process that runs it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, Literal

from polydl.bench.peers.native import HERE, UnavailableError, library
from polydl.execute.contract import Peer
from polydl.system.files import temporary_directory
from polydl.workloads import Convolution, Workload, workload

_NATIVE = "-march=native" if platform.machine() in ("x86_64", "i686") else "-mcpu=native"
_WARNINGS = ("-Wall", "-Wextra", "-Werror")
# Prefixes of environment variables that are removed for peers, since one of them may halve a peer's speed.
_HANDICAPS = ("OPENBLAS_", "GOTO_", "MKL_", "DNNL_", "ONEDNN_", "ATEN_", "TORCH_")


#: When weights (a convolution's filters, a product's B) are packed and transformed: once, before all timing, or in each
#: computation, from the layout in which the nest is given them.
Weights = Literal["prepared", "each-call"]


class MissingPeerError(Exception):
    """A peer that is not installed, and the one command that installs it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class PeerSetting:
    """The conditions for all peers."""

    #: that the peer may use
    threads: int
    #: whether products add to their result, as the nest does
    accumulate: bool = False
    #: whether caches will be empty, so that a peer should choose its fastest algorithm for that
    cold: bool = False
    #: the kind of processor, as in ``Machine``
    cpu_id: str = ""
    #: None: beforehand where layouts are a peer's own choice, and for a convolution in ONNX Runtime and OpenVINO
    weights: Weights | None = None
    #: whether each peer has layouts of its own choice for a convolution, whichever polydl has
    free: bool = False


def _nothing(_wanted: Workload, _setting: PeerSetting) -> str:
    return ""


@dataclass(frozen=True)
class PeerKind:
    """A library or a compiler to compare with."""

    #: as ``--peers`` takes it and tables show it
    name: str
    #: key of ``process.BACKENDS``
    backend: str
    #: command that installs it
    remedy: str
    #: computes what the backend needs to know besides the problem
    details: Callable[[Workload, PeerSetting], dict[str, Any]]
    #: layouts that it supports; in place of blocked ones a peer may choose its own
    layouts: frozenset[str] = frozenset({"blocked", "nchw", "nhwc", "row-major"})
    #: memory that it takes beyond its arrays
    bytes: int = 0
    #: whether it is asked for algorithms alone that compute every product of the source, and is compared with those of
    #: polydl's variants that do
    direct: bool = False
    #: what a reader has to know about its time on a processor; "" where there is nothing
    caveat: Callable[[Workload, PeerSetting], str] = _nothing

    def check(self, setting: PeerSetting) -> None:
        """Find out whether it is installed. Raises MissingPeerError."""
        self._details(workload("gemm_1x1x1"), setting)

    def program(self, wanted: Workload, setting: PeerSetting) -> Peer:
        """The process to measure. Raises MissingPeerError."""
        problem = wanted.problem
        is_convolution = isinstance(problem, Convolution)
        # A peer with a layout of its own needs a second copy of the arrays, at least during conversion.
        copies = 1 if wanted.layout == "row-major" else 2
        return Peer(
            name=self.name,
            command=(sys.executable, "-P", "-m", "polydl.bench.peers.process", self.backend),
            problem={
                "kind": "convolution" if is_convolution else "product",
                "sizes": list(astuple(problem)),
                "accumulate": setting.accumulate and not is_convolution,
                "layout": "blocked" if setting.free and is_convolution else wanted.layout,
                "cold": setting.cold,
                "direct": self.direct,
                "weights": setting.weights,
                **self._details(wanted, setting),
            },
            bytes=copies * _array_bytes(wanted) + self.bytes,
            environment=_environment(setting.threads),
        )

    def _details(self, wanted: Workload, setting: PeerSetting) -> dict[str, Any]:
        try:
            return self.details(wanted, setting)
        except UnavailableError as error:
            raise MissingPeerError(str(error), self.remedy) from None


def _onednn(_wanted: Workload, _setting: PeerSetting) -> dict[str, Any]:
    path = library("g++", [HERE / "onednn.cpp"], ["-O2", "-std=c++17", *_WARNINGS], ["-ldnnl"])
    return {"library": str(path)}


def _openblas(_wanted: Workload, _setting: PeerSetting) -> dict[str, Any]:
    path = library("gcc", [HERE / "openblas.c"], ["-O2", *_WARNINGS], ["-lopenblas"])
    return {"library": str(path)}


def _importable(module: str, title: str) -> Callable[[Workload, PeerSetting], dict[str, Any]]:
    """For a peer that is a Python package."""

    def details(_wanted: Workload, setting: PeerSetting) -> dict[str, Any]:
        if importlib.util.find_spec(module) is None:
            raise UnavailableError(f"{sys.executable} has no {title}")
        return {"threads": setting.threads}

    return details


def _mkl(wanted: Workload, setting: PeerSetting) -> str:
    """MKL chooses its code by the vendor: others' processors get that for AVX2, whatever they have."""
    if setting.cpu_id.startswith("AuthenticAMD") and not isinstance(wanted.problem, Convolution):
        return "MKL takes its AVX2 path on processors of AMD"
    return ""


def _nest(compiler: str) -> Callable[[Workload, PeerSetting], dict[str, Any]]:
    """The workload's own C. Like polydl, the compiler may change the order of sums."""

    def details(wanted: Workload, setting: PeerSetting) -> dict[str, Any]:
        flags = ["-O3", _NATIVE, "-ffast-math", *(["-fopenmp"] if setting.threads > 1 else [])]
        with temporary_directory() as directory:
            source = wanted.write(directory)
            sources = [source, HERE / "nest_timer.c"]
            path = library(compiler, sources, [*flags, f"-DNEST={wanted.function}"], processor=setting.cpu_id)
        return {
            "library": str(path),
            "compiler": " ".join([compiler, *flags]),
            "blocks": list(wanted.blocks),
            "padding": wanted.padding,
        }

    return details


_ONEDNN = "apt-get install -y g++ libdnnl-dev"
# What it pins stands in pyproject.toml.
_EXTRA = f"{shlex.quote(sys.executable)} -m pip install 'polydl[bench]'"
_KINDS = (
    PeerKind("onednn", "library", _ONEDNN, _onednn),
    PeerKind("onednn-direct", "library", _ONEDNN, _onednn, direct=True),
    PeerKind("torch", "pytorch", _EXTRA, _importable("torch", "PyTorch"), bytes=512 << 20, caveat=_mkl),
    PeerKind("onnxruntime", "onnxruntime", _EXTRA, _importable("onnxruntime", "ONNX Runtime"), bytes=256 << 20),
    PeerKind("openvino", "openvino", _EXTRA, _importable("openvino", "OpenVINO"), bytes=512 << 20),
    PeerKind(
        "openblas", "library", "apt-get install -y gcc libopenblas-dev", _openblas, layouts=frozenset({"row-major"})
    ),
    PeerKind("gcc", "nest", "apt-get install -y gcc libc6-dev", _nest("gcc")),
    PeerKind("clang", "nest", "apt-get install -y clang libomp-dev", _nest("clang")),
)
KINDS = {kind.name: kind for kind in _KINDS}


def _environment(threads: int) -> dict[str, str | None]:
    handicaps: dict[str, str | None] = {name: None for name in os.environ if name.startswith(_HANDICAPS)}
    return handicaps | {
        "OPENBLAS_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        # Two to that many cycles, a fraction of a millisecond: idle threads give up the core as those of OpenMP do.
        "OPENBLAS_THREAD_TIMEOUT": "20",
        # Huge pages, which polydl's own arrays get from NumPy.
        "THP_MEM_ALLOC_ENABLE": "1",
    }


def _array_bytes(wanted: Workload) -> int:
    """Bytes of all arrays of the problem, with the result counted twice."""
    p = wanted.problem
    if isinstance(p, Convolution):
        elements = (
            p.images * p.channels * p.height * p.width
            + p.channels // p.groups * p.filters * p.kernel_height * p.kernel_width
            + 2 * p.images * p.filters * p.output_height * p.output_width
        )
    else:
        elements = p.m * p.k + p.k * p.n + 2 * p.m * p.n
    return 4 * elements
