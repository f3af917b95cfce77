"""Batch normalization and ReLU, fused by polydl, beside oneDNN's fused primitive: inference and training.

    python -m experiments.fusion.bnorm out.json [N,C,H,W ...]

For each tensor the two examples are optimized, and the winners are compiled with a driver that times them and oneDNN
interleaved. Without tensors, some of those that convolutional networks have. Needs oneDNN's headers (libdnnl-dev).
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import polydl

_HERE = Path(__file__).parent
_EXAMPLES = _HERE.parents[1] / "examples"
_TENSORS = ("28,64,56,56", "28,256,56,56", "28,512,7,7", "1,64,56,56", "1,512,28,28", "1,2048,7,7")


def measure(tensor: str, machine: polydl.Machine) -> dict[str, object]:
    """One tensor: the driver's answer, and polydl's own unfused time."""
    names = ("nImg", "nChannels", "height", "width")
    defines = dict(zip(names, map(int, tensor.split(",")), strict=True))
    with tempfile.TemporaryDirectory() as directory:
        files = []
        unfused = {}
        for example in ("bnorm_relu", "bnorm_train"):
            found = polydl.fuse(
                _EXAMPLES / f"{example}.c", machine=machine, defines=defines, max_variants=60, top_k=3,
                out=Path(directory, example), records=False,
            )  # fmt: skip
            assert found.unfused is not None
            unfused[f"{example}_unfused"] = found.unfused.measurement.seconds_minimum
            unfused[f"{example}_gain"] = found.speedup
            object_file = Path(directory, f"{example}.o")
            flags = ["gcc", "-O3", "-march=native", "-fopenmp", "-c", "-o", str(object_file)]
            subprocess.run([*flags, str(found.optimization.files["c"])], check=True)
            files.append(str(object_file))
        program = str(Path(directory, "driver"))
        letters = ("N", "C", "H", "W")
        macros = [f"-DTENSOR_{letter}={size}" for letter, size in zip(letters, tensor.split(","), strict=True)]
        command = ["g++", "-O2", "-fopenmp", *macros, str(_HERE / "bnorm_onednn.cpp"), *files, "-o", program]
        subprocess.run([*command, "-ldnnl", "-lm"], check=True)
        ended = subprocess.run([program], check=True, capture_output=True, text=True)
    return {"tensor": tensor, **json.loads(ended.stdout), **unfused}


def main() -> None:
    machine = polydl.Machine.detect()
    rows = []
    for tensor in sys.argv[2:] or _TENSORS:
        rows.append(measure(tensor, machine))
        row = rows[-1]
        ratios = [float(str(row[f"onednn_{kind}"])) / float(str(row[f"polydl_{kind}"])) for kind in ("infer", "train")]
        gains = [float(str(row[f"{kind}_gain"])) for kind in ("bnorm_relu", "bnorm_train")]
        print(f"{tensor:>15}  oneDNN/polydl: infer {ratios[0]:.2f}, train {ratios[1]:.2f}; "
              f"unfused/fused: infer {gains[0]:.2f}, train {gains[1]:.2f}", flush=True)  # fmt: skip
        Path(sys.argv[1]).write_text(json.dumps(rows, indent=1) + "\n")
    for kind in ("infer", "train"):
        logs = [math.log(float(str(r[f"onednn_{kind}"])) / float(str(r[f"polydl_{kind}"]))) for r in rows]
        print(f"{kind}: oneDNN/polydl {math.exp(sum(logs) / len(logs)):.2f} (geometric mean of {len(rows)})")


if __name__ == "__main__":
    main()
