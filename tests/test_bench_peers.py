"""The benchmark's peers: their processes beside kernels, and what they compute."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import textwrap
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from execute_nests import matmul, matmul_kernel
from marks import marked, parametrized
from scripted_times import scripted

import polydl
from polydl.bench.peers import native
from polydl.bench.peers.kinds import KINDS, MissingPeerError, PeerSetting, Weights
from polydl.bench.peers.problems import (
    SOURCE,
    WEIGHTS,
    ConvolutionProblem,
    ProductProblem,
    fill,
    first_error,
    problem_of,
)
from polydl.execute import checking
from polydl.execute.contract import TimingPolicy
from polydl.execute.expected import ONCE
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.measurement import Measurement
from polydl.workloads import Workload, workload

QUICK = TimingPolicy(rounds=2, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=20.0)
ONE_THREAD = PeerSetting(1)
COLD = PeerSetting(1, cold=True)


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


# ---- peers' programs beside kernels


def timed_beside(
    peers: list[polydl.Peer], toolchain: Toolchain, directory: Path, policy: TimingPolicy = QUICK
) -> tuple[Measurement, ...]:
    """A small product, and peers in the same rounds: the peers' measurements."""
    built = EXECUTOR.build([matmul_kernel("original"), matmul_kernel("candidate")], toolchain, directory)
    measured = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=policy, peers=peers)
    assert [each.id for each in measured[:2]] == ["original", "candidate"]
    assert [each.status for each in measured[:2]] == ["ok", "ok"], "no peer harms the candidates"
    return measured[2:]


FOREIGN = """
import os, sys, time
from polydl.execute.sampling import MOST_REPEATS, TimingSampler, serve

way = sys.argv[1]

class Program:
    def start(self, problem, cores):
        if way == "unsupported":
            return {"failed": "unsupported", "message": f"can't do {problem['task']}"}
        self.sampler = TimingSampler(cores)
        if "STARTS" in os.environ:
            begin = time.monotonic()
            time.sleep(0.2)
            with open(os.environ["STARTS"], "a") as file:
                file.write(f"{begin} {time.monotonic()}\\n")
        return {"note": f"{problem['task']} on {os.environ.get('TASTE')} {os.environ.get('HANDICAP')}"}

    def run(self):
        if way == "wrong":
            return {"failed": "wrong", "message": "element [0] is off"}
        if way == "crash":
            os.abort()
        return self.sampler.sample(1, self.timed)

    def timed(self, repeats):
        start = time.perf_counter()
        sum(range(20_000 * repeats))
        return time.perf_counter() - start

    def calibrate(self, minimum_seconds, warmup, cold):
        return self.sampler.calibrate(minimum_seconds, MOST_REPEATS, self.timed)

    def sample(self, repeats, warmup, cold):
        return self.sampler.sample(repeats, self.timed)

program = Program()
serve(int(sys.argv[2]), int(sys.argv[3]), (program.start, program.run, program.calibrate, program.sample))
"""


@pytest.mark.native
def test_foreign_programs_are_timed_beside_the_candidates(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "foreign.py"
    script.write_text(textwrap.dedent(FOREIGN))
    monkeypatch.setenv("HANDICAP", "slow")
    ways = ("sums", "unsupported", "wrong", "crash")
    peers = [
        polydl.Peer(way, (sys.executable, str(script), way), {"task": way}, 1000, {"TASTE": "sweet", "HANDICAP": None})
        for way in ways
    ]
    sums, *failed = timed_beside(peers, toolchain, tmp_path)
    assert (sums.id, sums.status, sums.source) == ("sums", "ok", "")
    assert sums.message.startswith("sums on sweet None")
    assert len(sums.samples) >= 2
    assert [each.status for each in failed] == ["unsupported", "wrong", "crash"]
    assert [each.samples for each in failed] == [(), (), ()]
    for each, words in zip(failed, ("can't do unsupported", "element [0] is off", "SIGABRT"), strict=True):
        assert words in each.message


@pytest.mark.native
def test_each_peer_tries_its_ways_when_no_other_does(toolchain: Toolchain, tmp_path: Path) -> None:
    script, starts = tmp_path / "foreign.py", tmp_path / "starts"
    script.write_text(textwrap.dedent(FOREIGN))
    peers = [
        polydl.Peer(way, (sys.executable, str(script), way), {"task": way}, 1000, {"STARTS": str(starts)})
        for way in ("one", "other", "third")
    ]
    assert [each.status for each in timed_beside(peers, toolchain, tmp_path)] == ["ok"] * 3
    times = [[float(word) for word in line.split()] for line in starts.read_text().splitlines()]
    assert len(times) == 3
    assert all(ended <= begun for (_, ended), (begun, _) in pairwise(times))


@pytest.mark.native
def test_of_long_kernels_the_fastest_is_checked_twice_beside_a_faster_peer(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "LONG_SECONDS", 0.0)
    script = tmp_path / "foreign.py"
    script.write_text(textwrap.dedent(FOREIGN))
    peer = polydl.Peer("sums", (sys.executable, str(script), "sums"), {"task": "sums"}, 1000, {})
    slow = matmul_kernel("slow", before="for (volatile int turn = 0; turn < 5000000; turn++) ;\n")
    scripted(monkeypatch, {"original": 4e-3, "slow": 3e-3, "sums": 1e-3}.__getitem__)
    built = EXECUTOR.build([matmul_kernel("original"), slow], toolchain, tmp_path)
    _, candidate, sums = EXECUTOR.measure(built[1:], built[0], matmul(), threads=1, policy=QUICK, peers=[peer])
    assert (candidate.status, sums.status) == ("ok", "ok")
    assert (sums.seconds_median or 0.0) < (candidate.seconds_median or 0.0)
    assert ONCE not in candidate.message


GROUPED = (
    ("dwconv_48x9x9x3x3s2p1", "blocked"),
    ("dwconv_48x9x9x3x3s2p1", "nhwc"),
    ("conv_32x64x9x9x3x3s1p1g2d2", "nchw"),
    ("conv_32x64x9x9x3x3s1p1g2d2", "nhwc"),
)


def peer_or_skip(name: str, wanted: Workload, setting: PeerSetting = ONE_THREAD) -> polydl.Peer:
    try:
        return KINDS[name].program(wanted, setting)
    except MissingPeerError as error:
        pytest.skip(f"{name} is missing: {error.remedy}")


@pytest.mark.native
@parametrized(
    ("peer", "name", "layout"),
    marked(
        # Its rows of padding are skipped.
        ("gcc", "googlenetv1_43", "blocked"),
        ("gcc", "googlenetv3_22", "blocked"),
        ("gcc", "googlenetv3_22", "nchw"),
        ("gcc", "resnet_16", "nhwc"),
        ("gcc", "gemm_33x20x17", "row-major"),
        ("gcc", "gemm_36x20x18", "blocked"),
        *((peer, name, layout) for name, layout in GROUPED for peer in ("gcc", "onednn", "torch")),
        ("onnxruntime", "dwconv_48x9x9x3x3s2p1", "blocked"),
        ("openvino", "dwconv_48x9x9x3x3s2p1", "blocked"),
        ("clang", "googlenetv3_22", "blocked"),
        ("openblas", "gemm_33x20x17", "row-major"),
        ("onednn", "googlenetv3_22", "blocked"),
        ("onednn", "resnet_16", "blocked"),
        ("onednn", "resnet_16", "nhwc"),
        ("onednn", "googlenetv3_22", "nchw"),
        ("onednn", "gemm_33x20x17", "row-major"),
        ("onednn", "gemm_36x20x18", "blocked"),
        ("onednn-direct", "googlenetv3_22", "blocked"),
        ("onnxruntime", "resnet_16", "blocked"),
        ("onnxruntime", "resnet_16", "nchw"),
        ("onnxruntime", "gemm_33x20x17", "row-major"),
        ("onnxruntime", "gemm_36x20x18", "blocked"),
        ("openvino", "resnet_16", "blocked"),
        ("openvino", "resnet_16", "nhwc"),
        ("openvino", "gemm_33x20x17", "row-major"),
        ("openvino", "gemm_36x20x18", "blocked"),
        ("torch", "resnet_16", "blocked"),
        ("torch", "resnet_16", "nhwc"),
        ("torch", "gemm_33x20x17", "row-major"),
    ),
    quick=3,
)
def test_peers_compute_what_the_workload_says(
    peer: str, name: str, layout: str, toolchain: Toolchain, tmp_path: Path
) -> None:
    """Each process compares elements of its own result with the definition; the nests thereby as well."""
    made = workload(name, layout=layout)  # type: ignore[arg-type]
    [measured] = timed_beside([peer_or_skip(peer, made)], toolchain, tmp_path)
    assert measured.status == "ok", measured.message
    assert measured.id == peer
    assert measured.message, "a peer says what it is"


@pytest.mark.native
def test_onnx_runtime_transposes_images_in_nhwc_within_the_timing(toolchain: Toolchain, tmp_path: Path) -> None:
    [measured] = timed_beside([peer_or_skip("onnxruntime", workload("resnet_16", layout="nhwc"))], toolchain, tmp_path)
    assert measured.status == "ok", measured.message
    assert "Conv between transpositions" in measured.message


@pytest.mark.native
@parametrized(
    ("peer", "name", "layout", "weights"),
    marked(
        ("onednn", "gemm_33x20x17", "row-major", "prepared"),
        ("onednn", "resnet_16", "blocked", "each-call"),
        ("onednn", "resnet_16", "nchw", "each-call"),
        ("onednn", "resnet_16", "nhwc", "prepared"),
        ("onednn", "gemm_33x20x17", "row-major", "each-call"),
        ("openblas", "gemm_33x20x17", "row-major", "prepared"),
        ("torch", "resnet_16", "nchw", "prepared"),
        ("torch", "resnet_16", "nhwc", "prepared"),
        ("torch", "gemm_33x20x17", "row-major", "prepared"),
        ("onnxruntime", "resnet_16", "nchw", "each-call"),
        ("onnxruntime", "resnet_16", "nhwc", "each-call"),
        ("onnxruntime", "gemm_33x20x17", "row-major", "prepared"),
        ("openvino", "resnet_16", "nhwc", "each-call"),
        ("openvino", "conv_32x64x9x9x3x3s1p1g2d2", "nchw", "each-call"),
        ("openvino", "gemm_33x20x17", "row-major", "prepared"),
    ),
    quick=1,
)
@pytest.mark.slow
def test_peers_prepare_weights_beforehand_or_each_time(
    peer: str, name: str, layout: str, weights: Weights, toolchain: Toolchain, tmp_path: Path
) -> None:
    made = workload(name, layout=layout)  # type: ignore[arg-type]
    program = peer_or_skip(peer, made, PeerSetting(1, weights=weights))
    [measured] = timed_beside([program], toolchain, tmp_path)
    assert measured.status == "ok", measured.message


ALL_PEERS = marked(
    ("gcc", "resnet_16", "blocked"),
    ("openblas", "gemm_33x20x17", "row-major"),
    ("onednn", "resnet_16", "blocked"),
    ("onednn", "resnet_16", "nchw"),
    ("torch", "resnet_16", "blocked"),
    ("torch", "gemm_33x20x17", "row-major"),
)


@pytest.mark.native
@parametrized(("peer", "name", "layout"), ALL_PEERS, quick=3)
def test_peers_are_timed_with_empty_caches(
    peer: str, name: str, layout: str, toolchain: Toolchain, tmp_path: Path
) -> None:
    made = workload(name, layout=layout)  # type: ignore[arg-type]
    [measured] = timed_beside([peer_or_skip(peer, made, COLD)], toolchain, tmp_path, replace(QUICK, cold=True))
    assert measured.status == "ok", measured.message
    assert len(measured.samples) >= 2


FLUSHING = """
import ctypes, importlib, json, sys
from polydl.bench.peers import process
from polydl.bench.peers.problems import first_error, problem_of

backend, problem = sys.argv[1], json.loads(sys.argv[2])
events = []

class Recorder:
    flushed = staticmethod(ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)(lambda a, n: events.append(n)))
    flush = flushed

    @property
    def library(self):
        return self

    polydl_flush = flushed

name, _, kind = process.BACKENDS[backend].partition(":")
module = importlib.import_module(name)
module.runtime = Recorder

class Recorded(getattr(module, kind)):
    def run(self, repeats):
        events.append("run" if repeats == 1 else "runs")
        return super().run(repeats)

timed = process.Process(backend)
timed._backend = Recorded(problem_of(problem), problem)
choosing = len(events)
assert timed._cold(2) > 0
events_of_two = events[choosing:]
assert first_error(problem_of(problem), timed._backend.result()) is None
print(json.dumps([choosing, events_of_two]))
"""


@pytest.mark.native
@parametrized(("peer", "name", "layout"), ALL_PEERS, quick=4)
def test_before_each_cold_computation_all_arrays_are_flushed(peer: str, name: str, layout: str) -> None:
    made = workload(name, layout=layout)  # type: ignore[arg-type]
    program = peer_or_skip(peer, made, COLD)
    command = [sys.executable, "-c", FLUSHING, program.command[-1], json.dumps(dict(program.problem))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    choosing, events = json.loads(done.stdout)
    # Those that choose between several ways try them with empty caches.
    assert (choosing > 0) == (peer in ("onednn", "torch"))
    second = events.index("run") + 1
    assert events[-1] == "run"
    assert events.count("run") == 2
    assert "runs" not in events
    needed = [4 * math.prod(shape) for shape in problem_of(dict(program.problem)).shapes]
    for flushed in (events[: second - 1], events[second:-1]):
        left = list(flushed)
        for size in sorted(needed, reverse=True):
            # A layout of its own may be padded.
            left.remove(min(each for each in left if each >= size))


@pytest.mark.native
def test_a_nest_that_computes_something_else_is_found_out(toolchain: Toolchain, tmp_path: Path) -> None:
    made = workload("gemm_33x20x17")
    wrong = replace(made, source=made.source.replace("B[k][j]", "B[k][0]"))
    [measured] = timed_beside([peer_or_skip("gcc", wrong)], toolchain, tmp_path)
    assert measured.status == "wrong"
    assert "of the result is" in measured.message


@pytest.mark.native
def test_settings_that_slow_a_peer_down_are_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    peer = peer_or_skip("gcc", workload("gemm_4x4x4"), PeerSetting(2))
    assert peer.environment["OPENBLAS_CORETYPE"] is None
    assert peer.environment["MKL_CBWR"] is None
    assert peer.environment["OPENBLAS_NUM_THREADS"] == "2"


def test_a_missing_peer_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPeerError, match=r"there is no g\+\+") as raised:
        KINDS["onednn"].check(ONE_THREAD)
    assert raised.value.remedy == "apt-get install -y g++ libdnnl-dev"


@pytest.mark.native
def test_libraries_are_compiled_once(tmp_path: Path) -> None:
    source = tmp_path / "answer.c"
    source.write_text("int answer(void) { return 42; }\n")
    first = native.library("gcc", [source], ["-O1"])
    written = first.stat().st_mtime_ns
    assert native.library("gcc", [source], ["-O1"]) == first
    assert first.stat().st_mtime_ns == written
    assert native.library("gcc", [source], ["-O2"]) != first
    source.write_text("int answer(void) { return }\n")
    with pytest.raises(native.UnavailableError, match="expected expression"):
        native.library("gcc", [source], ["-O1"])


@pytest.mark.native
def test_nests_are_compiled_anew_on_another_processor() -> None:
    settings = [PeerSetting(1, cpu_id=cpu) for cpu in ("AuthenticAMD-25-1-1-32K", "GenuineIntel-6-143-8-48K")]
    amd, intel = (peer_or_skip("gcc", workload("gemm_4x4x4"), setting).problem["library"] for setting in settings)
    assert amd != intel


# ---- what peers compute


def test_elements_are_those_of_a_convolution_done_in_full() -> None:
    problem = ConvolutionProblem((2, 3, 4, 6, 5, 3, 2, 1, 0, 2, 1, 1))
    source, weights, result = (np.zeros(shape, np.float32) for shape in problem.shapes)
    fill(source.reshape(-1), SOURCE)
    fill(weights.reshape(-1), WEIGHTS)
    padded = np.pad(source, ((0, 0), (0, 0), (1, 1), (0, 0)))
    for n, k, y, x in np.ndindex(result.shape):
        result[n, k, y, x] = np.sum(padded[n, :, 2 * y : 2 * y + 3, 2 * x : 2 * x + 2] * weights[k])
    assert result.shape == (2, 4, 3, 2)
    for index, value in enumerate(result.reshape(-1)):
        assert problem.expected(index) == pytest.approx(float(value), abs=1e-5)
    assert first_error(problem, result) is None
    result[1, 3, 2, 1] += 0.5
    assert "[1][3][2][1]" in (first_error(problem, result) or "")


def test_groups_see_channels_of_their_own_and_dilated_filters_reach_further() -> None:
    problem = ConvolutionProblem((1, 4, 6, 7, 7, 3, 3, 1, 1, 1, 2, 2))
    source, weights, result = (np.zeros(shape, np.float32) for shape in problem.shapes)
    fill(source.reshape(-1), SOURCE)
    fill(weights.reshape(-1), WEIGHTS)
    padded = np.pad(source, ((0, 0), (0, 0), (1, 1), (1, 1)))
    for n, k, y, x in np.ndindex(result.shape):
        first = k // 3 * 2
        result[n, k, y, x] = np.sum(padded[n, first : first + 2, y : y + 5 : 2, x : x + 5 : 2] * weights[k])
    assert weights.shape == (6, 2, 3, 3)
    assert result.shape == (1, 6, 5, 5)
    for index, value in enumerate(result.reshape(-1)):
        assert problem.expected(index) == pytest.approx(float(value), abs=1e-5)


def test_nothing_that_is_no_number_passes() -> None:
    problem = ProductProblem((4, 5, 6))
    a, b, _ = (np.zeros(shape, np.float32) for shape in problem.shapes)
    fill(a.reshape(-1), SOURCE)
    fill(b.reshape(-1), WEIGHTS)
    assert first_error(problem, a @ b) is None
    assert first_error(problem, np.full((4, 5), np.nan, np.float32)) is not None
    assert first_error(problem, np.zeros((4, 5), np.float32)) is not None


@pytest.mark.native
@pytest.mark.parametrize("peer", marked(("onednn",)))
def test_peers_choose_layouts_where_none_is_given(peer: str) -> None:
    few = workload("conv_512x6x16x16x1x1s1p0", layout="nchw")
    peer_or_skip(peer, few)
    assert KINDS[peer].program(few, ONE_THREAD).problem["layout"] == "nchw"
    assert KINDS[peer].program(few, replace(ONE_THREAD, free=True)).problem["layout"] == "blocked"
    product = workload("gemm_8x8x8")
    assert KINDS[peer].program(product, replace(ONE_THREAD, free=True)).problem["layout"] == "row-major"
