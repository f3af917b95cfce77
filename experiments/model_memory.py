"""How much memory a process takes more for a model, by library.

    python -m experiments.model_memory LIBRARY NAME IMAGES THREADS FOLDER

prints it for one of them in bytes, or nothing if it is not installed; the folder is as ``resident_bytes`` describes it.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np

from experiments.model_peers import FROM_ONNX, Run, channels_last

#: the input in the folder
DATA = "data.npy"
_CALLS = 3
_MODULES = {"polydl": "polydl.models.loaded", "torch eager": "torch", "ONNX Runtime": "onnxruntime"}


def resident_bytes(name: str, images: int, threads: int, folder: Path) -> dict[str, int]:
    """What each library adds to the memory of a process that has imported it, after some calls.

    ``folder`` holds the model as polydl saved it, ``model.onnx`` and ``data.npy``. Libraries that are not installed are
    left out. Each has a process, so that none's memory counts for another.
    """
    found: dict[str, int] = {}
    for library in ("polydl", "torch eager", *FROM_ONNX):
        command = [
            sys.executable,
            "-m",
            "experiments.model_memory",
            library,
            name,
            str(images),
            str(threads),
            str(folder),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout:
            found[library] = int(done.stdout.split()[-1])
    return found


def added_bytes(library: str, name: str, images: int, threads: int, folder: Path) -> int:
    """The same for one library, in this process. Raises ImportError if it is not installed."""
    import_module(_MODULES.get(library, "openvino"))
    data = np.load(folder / DATA)
    before = _resident()
    run = _ready(library, name, images, threads, folder, data)
    for _ in range(_CALLS):
        run()
    return _resident() - before


def _ready(library: str, name: str, images: int, threads: int, folder: Path, data: np.ndarray) -> Run:
    if library in FROM_ONNX:
        return FROM_ONNX[library](folder / "model.onnx", data, threads)
    if library == "polydl":
        import polydl

        loaded = polydl.load(folder)
        return lambda: loaded(data)
    import torch

    from experiments.networks import model

    torch.set_num_threads(threads)
    network, last = channels_last(*model(name, images))

    def run() -> object:
        with torch.no_grad():
            return network(last)

    return run


def _resident() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel does not say how much memory is resident")


if __name__ == "__main__":
    library, name, images, threads, folder = sys.argv[1:]
    with suppress(ImportError):
        print(added_bytes(library, name, int(images), int(threads), Path(folder)))
