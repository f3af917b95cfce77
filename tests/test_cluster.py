"""Nodes of a cluster, three worker processes on this machine that claim to be of different types."""

from __future__ import annotations

import json
import math
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from execute_nests import matmul, matmul_kernel

import polydl
from polydl.cli import command, main
from polydl.cluster.executor import EXECUTOR, ClusterExecutor
from polydl.cluster.nodes import alone, connected, resources, scheduler_address, types_of
from polydl.cluster.tuning import machines_of, tune_on_cluster
from polydl.cluster.work import INTERVALS, ClusterMeasurements
from polydl.errors import OptionError, ResourceError
from polydl.execute.contract import Built, Executor, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.measurement import Measurement
from polydl.machine import Machine
from polydl.optimization.tuning import TuningTask
from polydl.records.store import read
from polydl.system.interruption import EXIT_STATUS
from polydl.system.waiting import waited

QUICK = TimingPolicy(rounds=2, minimum_sample_seconds=1e-3, budget_seconds=2.0, timeout_seconds=60.0)
KEYS = ("a", "b", "c")
EXAMPLE = Path(__file__).parents[1] / "examples" / "slurm" / "cluster.py"
PROFILES = Path(polydl.__file__).parent / "machine" / "profiles"
PRODUCT = """\
void product(float c[16][64], const float a[16][12], const float b[12][64])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 64; ++j)
      for (int k = 0; k < 12; ++k)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
"""


# --- what nodes offer -------------------------------------------------------------------


def test_a_task_that_runs_alone_asks_for_all_that_a_node_offers() -> None:
    assert alone("zen4", 28) == resources("zen4", 28) == {"slots": 28, "cpu-zen4": 1}


def test_types_are_read_from_what_nodes_offer() -> None:
    workers = {"1": {"resources": resources("a", 2)}, "2": {"resources": resources("b", 4)}, "3": {"resources": {}}}
    assert types_of(workers) == {"a": 2, "b": 4}


@pytest.mark.parametrize("second", [resources("a", 4), {"cpu-a": 1}])
def test_nodes_of_one_type_are_alike(second: dict[str, float]) -> None:
    with pytest.raises(OptionError, match="nodes of type a") as caught:
        types_of({"1": {"resources": resources("a", 2)}, "2": {"resources": second}})
    assert "--key" in (caught.value.remedy or "")


def test_an_executor_without_a_cluster_says_so(tmp_path: Path) -> None:
    assert isinstance(EXECUTOR, ClusterExecutor)
    executor: Executor = EXECUTOR
    toolchain = Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ("-O3", "-march=x86-64-v3", "-fopenmp"))
    with pytest.raises(OptionError, match="no cluster is named"):
        executor.build([matmul_kernel("one")], toolchain, tmp_path)


def test_types_of_nodes_need_a_cluster() -> None:
    with pytest.raises(OptionError, match="no cluster"):
        command("tune").main(["--workload", "gemm_24x24x24", "--cpu", "a"], standalone_mode=False)


@pytest.mark.cluster
def test_a_job_of_slurm_offers_what_a_node_has(tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    machine = replace(Machine.load(PROFILES / "zen4.toml"), cores=28, threads=28)
    machine.save(tmp_path / "node.toml")
    cluster = runpy.run_path(str(EXAMPLE))["cluster_of"](str(tmp_path / "node.toml"))
    try:
        script = cluster.job_script()
    finally:
        cluster.close()
    assert f"--resources slots=28,cpu-{machine.cpu_id}=1" in script
    assert "#SBATCH --exclusive" in script
    assert "--nthreads 28 " in script
    assert "--no-nanny" in script


def test_there_is_no_sandbox_on_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.system.sandbox.is_sandboxed", lambda: True)
    with pytest.raises(OptionError, match="no sandbox on nodes"):
        command("tune").main(["--workload", "gemm_24x24x24", "--cluster", "tcp://nowhere"], standalone_mode=False)


@pytest.mark.parametrize(
    ("words", "construct"),
    [
        (["worker", "foo"], "ADDRESS foo"),
        (["worker", "tcp://foo:bar"], "ADDRESS tcp://foo:bar"),
        (["tune", "--workload", "gemm_24x24x24", "--cluster", "tcp://foo"], "--cluster tcp://foo"),
    ],
)
def test_what_is_no_address_is_refused(words: list[str], construct: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words, standalone_mode=False) == 2
    said = capsys.readouterr().err
    assert f"is no address of a scheduler\n  in: {construct}\n  remedy: write tcp://HOST:PORT" in said


@pytest.mark.parametrize(
    "text", ["tcp://login:8786", "10.0.0.1:8786", "tls://node-1.site.org:8786", "tcp://[fe80::1]:8786"]
)
def test_addresses_as_dask_writes_them_are_taken(text: str) -> None:
    assert scheduler_address(text, "ADDRESS") == text


class OneTask:
    """A client of a cluster, and the one task that it was given, which took so many seconds on the node."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def scheduler_info(self, **_: int) -> dict[str, Any]:
        return {"workers": {"node": {"resources": resources("a", 1)}}}

    def subscribe_topic(self, topic: str, handler: Callable[..., None]) -> None:
        pass

    def unsubscribe_topic(self, topic: str) -> None:
        pass

    def submit(self, *_: object, **__: object) -> OneTask:
        time.sleep(0.05)
        return self

    def done(self) -> bool:
        return True

    def cancelled(self) -> bool:
        return False

    def exception(self) -> None:
        return None

    def result(self) -> ClusterMeasurements:
        return ClusterMeasurements((Measurement("original", "compile"),), (), self.seconds)


@pytest.mark.parametrize(("seconds", "least", "most"), [(0.0, 0.05, math.inf), (1e6, 0.0, 0.0)])
def test_what_a_node_does_for_others_first_is_a_wait(seconds: float, least: float, most: float, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    executor = EXECUTOR.on("tcp://127.0.0.1:1", "a")
    vars(executor)["_client"] = OneTask(seconds)
    original = Built(
        matmul_kernel("original"), tmp_path / "f.c", None, "", "", Toolchain(Path("gcc"), "gcc", "12", ("-O3",)), 0.0
    )
    before = waited()
    [measured] = executor.measure([], original, matmul(), threads=1, policy=QUICK)
    assert measured.id == "original"
    assert least <= waited() - before <= most


# --- three nodes ------------------------------------------------------------------------


class Nodes:
    """A scheduler and its workers, each a process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        file = directory / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file)]
        self._processes = [self._started("scheduler", ["-m", "distributed.cli.dask_scheduler", *options])]
        # It is there before it is complete.
        until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        self.address: str = json.loads(file.read_text())["address"]
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def _started(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        with (self._directory / f"{name}.log").open("ab") as log:
            return subprocess.Popen([sys.executable, *command], stdout=log, stderr=log, cwd=self._directory)

    def start(self, key: str) -> None:
        command = ["-c", "from polydl.start import main; main()", "worker", self.address, "--key", key]
        self.workers[key] = self._started(f"worker-{key}", command)
        self._processes.append(self.workers[key])

    def types(self) -> dict[str, int]:
        client = connected(self.address)
        try:
            return types_of(client.scheduler_info(n_workers=-1)["workers"])
        finally:
            client.close()

    def intervals(self) -> list[dict[str, Any]]:
        """Of all tasks that ended."""
        client = connected(self.address)
        try:
            return [note for _, note in client.get_events(INTERVALS)]
        finally:
            client.close()

    def end(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds
        time.sleep(0.05)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    started = Nodes(tmp_path_factory.mktemp("nodes"))
    try:
        for key in KEYS:
            started.start(key)
        until(lambda: set(started.types()) == set(KEYS))
        yield started
    finally:
        started.end()


def overlapping(intervals: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Timings with a task that ran beside them on the same node."""
    return [
        (one, other)
        for one in intervals
        for other in intervals
        if one is not other
        and one["kind"] == "time"
        and one["worker"] == other["worker"]
        and one["began"] < other["ended"]
        and other["began"] < one["ended"]
    ]


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.cluster
def test_nothing_runs_beside_what_is_timed(nodes: Nodes, tmp_path: Path) -> None:
    scop = matmul()
    toolchain = Toolchain.find("gcc", "x86-64-v3")
    before = len(nodes.intervals())

    def work(key: str) -> list[str]:
        executor = EXECUTOR.on(nodes.address, key)
        try:
            statuses: list[str] = []
            for number in range(2):
                kernels = [matmul_kernel(f"{key}{number}{place}") for place in range(5)]
                everyone = [matmul_kernel("original"), *kernels]
                built = executor.build(everyone, toolchain, tmp_path / key / str(number))
                assert [one.library is not None for one in built] == [True] * 6
                measured = executor.measure(built[1:3], built[0], scop, threads=1, policy=QUICK)
                statuses += [one.status for one in measured]
            return statuses
        finally:
            executor.close()

    with ThreadPoolExecutor(len(KEYS)) as pool:
        assert list(pool.map(work, KEYS)) == [["ok"] * 6] * 3
    intervals = nodes.intervals()[before:]
    kinds = [one["kind"] for one in intervals]
    assert kinds.count("time") == 6
    assert kinds.count("compile") == 36
    assert len({one["worker"] for one in intervals if one["kind"] == "time"}) == 3
    assert overlapping(intervals) == []


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.cluster
def test_a_type_that_no_node_has_is_refused_with_those_there_are(nodes: Nodes) -> None:
    executor = EXECUTOR.on(nodes.address, "z", patience=0.5)
    with pytest.raises(ResourceError, match=r"no node of type z was there for 0\.5 s; .* a, b, c"):
        executor.describe()
    executor.close()


@pytest.mark.native
@pytest.mark.cluster
@pytest.mark.slow
def test_a_node_that_is_killed_loses_nothing(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough to be met while it is timed.
    monkeypatch.setattr("polydl.optimization.measuring.SAMPLE_SECONDS", 0.1)
    source = tmp_path / "product.c"
    source.write_text(PRODUCT)
    options: dict[str, Any] = {"max_variants": 3, "top_k": None, "microkernel": "none"}
    [(executor, machine)] = machines_of(nodes.address, ["c"], threads=1, patience=120.0).values()
    assert machine.cpu_id == Machine.detect().cpu_id
    ended = threading.Event()
    killed: list[int] = []

    def strike() -> None:
        """Once the node times, it is gone, and later another one of its type is there."""
        client = connected(nodes.address)
        try:
            while not ended.is_set() and not any(
                str(task).startswith("timed") for tasks in client.processing().values() for task in tasks
            ):
                time.sleep(0.05)
        finally:
            client.close()
        os.kill(nodes.workers["c"].pid, signal.SIGSTOP)
        killed.append(sum(one.complete for one in read(tmp_path / "cluster")))
        os.kill(nodes.workers["c"].pid, signal.SIGKILL)
        nodes.workers["c"].wait()
        nodes.start("c")

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        result = polydl.optimize(source, machine=machine, executor=executor, records=tmp_path / "cluster", **options)
    finally:
        ended.set()
        thread.join()
        executor.close()
    assert killed == [0], "it was killed while it timed"
    assert result.winner is not None
    assert "native" not in " ".join(result.toolchain.flags if result.toolchain else ("native",))
    alone = polydl.optimize(source, machine=Machine.detect(threads=1), records=tmp_path / "alone", **options)
    assert alone.winner is not None

    def variants(directory: str) -> list[tuple[str, str]]:
        return sorted(
            (one.id, one.code) for one in read(tmp_path / directory) if one.kind == "variant" and one.complete
        )

    assert len(variants("alone")) == 3
    assert variants("cluster") == variants("alone")


@pytest.mark.native
@pytest.mark.cluster
@pytest.mark.slow
def test_many_nests_are_tuned_on_the_cluster(nodes: Nodes, tmp_path: Path) -> None:
    source = tmp_path / "product.c"
    source.write_text(PRODUCT)
    line = ["tune", str(source), "--cluster", nodes.address, "--cpu", "a", "--cpu", "b", "--threads", "1", "-q"]
    line += ["--max-variants", "2", "--top-k", "1", "--records", str(tmp_path / "records"), "--out", str(tmp_path)]
    assert main([*line, "--json", str(tmp_path / "tuned.json")], standalone_mode=False) == 0
    results = json.loads((tmp_path / "tuned.json").read_text())["nests"]
    assert sorted(Path(one["folder"]).name for one in results) == ["a", "b"]
    for key in ("a", "b"):
        text = (tmp_path / "product" / key / "README.txt").read_text()
        assert "-march=" in text
        assert "native" not in text
    assert overlapping(nodes.intervals()) == []


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.cluster
def test_an_interrupted_command_ends_and_leaves_no_process(nodes: Nodes, tmp_path: Path) -> None:
    line = ["tune", "--workload", "gemm_24x24x24", "--cluster", nodes.address, "--cpu", "a", "--threads", "1"]
    line += ["--max-variants", "2", "--top-k", "1", "--records", str(tmp_path / "records"), "--out", str(tmp_path)]
    command = [sys.executable, "-c", "from polydl.start import main; main()", *line]
    tuning = subprocess.Popen(command, stderr=subprocess.PIPE)
    children = Path(f"/proc/{tuning.pid}/task/{tuning.pid}/children")
    # The last of them analyses the nest.
    until(lambda: len(children.read_text().split()) > 1)
    processes = [Path("/proc", number) for number in children.read_text().split()]
    tuning.terminate()
    _, said = tuning.communicate()
    assert tuning.returncode == EXIT_STATUS
    assert b"ended by SIGTERM" in said
    until(lambda: not any(process.exists() for process in processes))


class _Fatal(ClusterExecutor):
    """Ends the process that it is sent to."""

    def __reduce__(self) -> tuple[Callable[[int], Any], tuple[int]]:
        return os._exit, (9,)


def test_a_process_that_ends_costs_its_own_nest_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polydl.cluster.tuning._MOST_PROCESSES", 1)
    machine = Machine.load(PROFILES / "zen4.toml")
    nests = [TuningTask(str(tmp_path / "absent.c"), tmp_path)]
    described = {"a": (_Fatal(), machine), "b": (ClusterExecutor(), machine)}
    ended, refused = tune_on_cluster(nests, described, records=tmp_path / "records")
    assert (ended.status, ended.message) == ("failed", "the process that optimized it ended")
    assert ended.nest.directory == tmp_path / "a"
    assert refused.status == "failed"
    assert "absent.c" in refused.message
    assert refused.nest.directory == tmp_path / "b"


class _Waiting:
    """A task that no node takes."""

    def done(self) -> bool:
        return False


class _NoNodes:
    """A scheduler's client, all of whose nodes are gone."""

    def __init__(self) -> None:
        self.cancelled = 0

    def submit(self, *_values: Any, **_options: Any) -> _Waiting:
        return _Waiting()

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        return {"workers": {}}

    def cancel(self, futures: list[Any], force: bool) -> None:
        self.cancelled += len(futures)


def test_compiling_ends_where_no_node_is_left(tmp_path: Path) -> None:
    executor, client = ClusterExecutor("nowhere", "a", patience=0.2), _NoNodes()
    vars(executor)["_client"] = client
    toolchain = Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ("-O3",))
    with pytest.raises(ResourceError, match="no node of type a"):
        executor.build([matmul_kernel("one"), matmul_kernel("two")], toolchain, tmp_path)
    assert client.cancelled == 2
