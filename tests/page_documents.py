"""A document of ``optimize`` with fixed values, as the tests of pages change it."""

from __future__ import annotations

from typing import Any

FLOPS = 231_211_008
_SLOW, _FAST = 0.0184, 0.00112
_ACCURACY = {"error": 1.3e-7, "source_error": 2.6e-7, "ratio": 0.5}
_ORIGINAL = """\
void conv(const float in[64][58][58], float out[64][56][56])
{
  for (int k = 0; k < 64; ++k) /* a brace in a comment: } */
    for (int y = 0; y < 56 && y < 1000000; ++y)
      out[k][y][0] += in[k][y][0];
}"""


def _samples(seconds: float) -> list[float]:
    return [seconds * part for part in (1.0, 0.99, 1.01, 1.03, 1.05, 0.98, 1.0)]


def _candidate(place: int, seconds: float | None, status: str = "ok", message: str = "") -> dict[str, Any]:
    samples = [] if seconds is None else _samples(seconds)
    return {
        "rank": place,
        "id": f"{place:x}0f50669b735b9"[:12],
        "steps": [{"step": "interchange", "nest": 0, "order": ["k", "y"]}],
        "score": 0.001 * (1 + place / 7),
        "working_sets": {"L1": 30_000, "L2": 400_000, "L3": 20_000_000, "memory": 0},
        "status": status,
        "seconds_min": None if seconds is None else seconds * 0.98,
        "seconds_median": seconds,
        "samples": len(samples),
        "disturbed": 0,
        "spread": 0.03 if samples else None,
        "gflops": None if seconds is None else FLOPS / seconds / 1e9,
        "speedup": None if seconds is None else _SLOW / seconds,
        "error": None if seconds is None else 2.1e-6,
        "accuracy": None if seconds is None else _ACCURACY,
        "message": message,
        "recorded": None,
        "sample_seconds": samples,
        "disturbed_seconds": [],
        "traffic": {"L1": 90_000_000, "L2": 9_000_000 + place * 1_000_000, "L3": 5_000_000 + place * 500_000},
    }


def _reuse(array: str, loop: str, kinds: list[str], minimum: int, maximum: int) -> dict[str, Any]:
    return {"array": array, "loop": loop, "kinds": kinds, "minimum_bytes": minimum, "maximum_bytes": maximum}


def with_many_builds() -> dict[str, Any]:
    """``document`` with builds whose names differ at their ends alone, and with caches that are about as fast."""
    names = [
        f"{compiler} -O3 -march=native -fopenmp{flags}{more}"
        for compiler, fast in (("gcc", " -ffast-math -mno-recip"), ("clang", " -ffast-math -mrecip=none"))
        for flags in ("", fast)
        for more in ("", ", omp parallel for", " -ftree-parallelize-loops=2")
    ]
    times = {"seconds_median": 0.02, "sample_seconds": [0.02, 0.021, 0.02]}
    near = {"L1": 4.45e11, "L2": 2.36e11, "L3": 2.01e11, "memory": 6.0e10}
    plain = document()
    machine = {**plain["machine"], "peak_gflops": 118.2, "bandwidths": near}
    return {**plain, "machine": machine, "baselines": [{"name": name, **times} for name in names]}


def document() -> dict[str, Any]:
    """Five candidates, of which one failed to compile and the second is the fastest."""
    candidates = [
        _candidate(1, 0.0014),
        _candidate(2, _FAST),
        _candidate(3, 0.0016),
        _candidate(4, None, "compile", "x.c:3:4: error: expected '<' & \"more\"\n" + "a very long line " * 30),
        _candidate(5, 0.0021),
    ]
    best = candidates[1]
    return {
        "schema": "polydl.optimize/1",
        "input": {
            "file": "examples/a/rather/long/path/to/the/source/of/conv.c",
            "function": "conv",
            "digest": "c99d2950f74b5864",
            "flops": FLOPS,
            "defines": {"nImg": "1"},
        },
        "machine": {
            "name": "AMD EPYC 7B13 64-Core Processor",
            "cores": 2,
            "threads": 2,
            "cache_bytes": [32768, 524288, 33554432],
            "peak_gflops": 112.5,
            "bandwidths": {"L1": 4.1e11, "L2": 1.9e11, "L3": 9.6e10, "memory": 2.4e10},
            "calibrated": False,
        },
        "arrays": [
            {"name": "in", "element": "float", "extents": [64, 58, 58], "bytes": 861_184},
            {"name": "out", "element": "float", "extents": [64, 56, 56], "bytes": 802_816},
        ],
        "counts": {"generated": 403, "legal": 400, "ranked": 400, "measured": 4, "failed": 1},
        "baseline": _baseline("plain", "gcc -O3 -march=native -fopenmp -ffast-math", _SLOW),
        "baselines": [
            _baseline("original", "gcc -O3 -march=native -fopenmp", 2 * _SLOW),
            _baseline("plain", "gcc -O3 -march=native -fopenmp -ffast-math", _SLOW),
        ],
        "numerics": "bounded",
        "best": {
            "exactness": {"verdict": "agrees", "ring": "integers modulo 2^32", "reason": ""},
            "rounding": {"method": "sums in any order", "error_factor": 1.0},
            "id": best["id"],
            "plain": False,
            "steps": best["steps"],
            "words": ["loops k, y"],
            "microkernel": {"name": "libxsmm", "m": 64, "n": 28, "k": 64, "batch": 9, "rows": 1},
            "seconds": _FAST,
            "gflops": FLOPS / _FAST / 1e9,
            "peak_fraction": FLOPS / _FAST / 1e9 / 225.0,
            "speedup": _SLOW / _FAST,
            "equal_samples": None,
            "speedup_over_original": 2 * _SLOW / _FAST,
            "error": 2.1e-6,
            "accuracy": _ACCURACY,
            "reuses": [
                _reuse("out", "y", ["RAW", "WAR"], 12_000, 9_000_000),
                _reuse("in", "k", ["RAR"], 400_000, 400_000),
            ],
        },
        "candidates": candidates,
        "ranking": {"ranker": "dnn", "scores": [0.001 * (1 + place / 7) for place in range(400)]},
        "code": {"original": _ORIGINAL, "winner": _ORIGINAL.replace("k <", "k < /* </script> */")},
        "records": {"answered": False, "reused": 0, "measured": None},
        "interrupted": False,
        "search": None,
        "files": {"c": "polydl-out/conv/conv_polydl.c", "header": None, "library": None, "report": None},
        "seconds": {
            "parse": 0.3, "variants": 1.2, "analysis": 2.9, "ranking": 0.4, "compile": 1.1, "run": 6.5, "total": 12.9,
        },
    }  # fmt: skip


def _baseline(identity: str, name: str, seconds: float) -> dict[str, Any]:
    return {
        "id": identity,
        "name": name,
        "status": "ok",
        "seconds": seconds,
        "gflops": FLOPS / seconds / 1e9,
        "message": "",
        "recorded": None,
        "sample_seconds": _samples(seconds),
        "disturbed_seconds": [2 * seconds],
    }


def old_document() -> dict[str, Any]:
    """The same as a polydl wrote it that knew neither samples nor traffic, ranking, code and bandwidths."""
    content = document()
    for key in ("arrays", "ranking", "code"):
        del content[key]
    for key in ("bandwidths", "calibrated"):
        del content["machine"][key]
    for part in (content["baseline"], *content["candidates"]):
        del part["sample_seconds"], part["disturbed_seconds"]
        part.pop("traffic", None)
        part.pop("accuracy", None)
    # Its times were the shortest.
    for part in (content["best"], content["baseline"]):
        part["seconds"] *= 0.98
    for key in ("words", "accuracy", "reuses", "rounding", "exactness", "speedup_over_original", "plain"):
        del content["best"][key]
    del content["numerics"], content["baselines"], content["baseline"]["name"]
    return content
