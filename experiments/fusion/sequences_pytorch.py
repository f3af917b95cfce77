"""The sequences of BLAS calls as PyTorch has them: each writes its results into tensors that are given.

Arguments are those of the functions in ``examples/sequences``, in their order: numbers and tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

EXAMPLES = Path(__file__).parents[2] / "examples" / "sequences"
ALPHA, BETA = 0.75, 0.5
_PARAMETER = re.compile(r"float (\w+)((?:\[\w+\])*)")


def extents(name: str, n: int) -> dict[str, list[int]]:
    """Of each parameter of the example's function; none of a number."""
    source = (EXAMPLES / f"{name}.c").read_text(encoding="utf-8")
    (declared,) = re.findall(rf"^void {name}\(([^)]*)\)", source, re.MULTILINE)
    return {
        parameter: [n if extent == "N" else int(extent) for extent in re.findall(r"\w+", written)]
        for parameter, written in _PARAMETER.findall(declared)
    }


def operands(name: str, n: int) -> list[Any]:
    """Small values in matrices, so that sums over their rows stay near 1."""
    # A vector that is scaled again and again stays what it is but for its sign.
    numbers = {"alpha": -1.0 if name == "sscal" else ALPHA, "beta": BETA}
    return [
        numbers[parameter] if not shape else (torch.rand(shape) * 2 - 1) * (2 / n**0.5 if len(shape) > 1 else 1)
        for parameter, shape in extents(name, n).items()
    ]


def axpydot(alpha: float, w: Tensor, v: Tensor, u: Tensor, z: Tensor, r: Tensor) -> Tensor:
    torch.add(w, v, alpha=-alpha, out=z)
    return r.copy_(torch.dot(z, u))


def atax(a: Tensor, x: Tensor, t: Tensor, y: Tensor) -> Tensor:
    torch.mv(a, x, out=t)
    return torch.mv(a.t(), t, out=y)


def bicgk(a: Tensor, p: Tensor, r: Tensor, q: Tensor, s: Tensor) -> Tensor:
    torch.mv(a, p, out=q)
    return torch.mv(a.t(), r, out=s)


def sgemv(alpha: float, beta: float, a: Tensor, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return torch.addmv(y, a, x, beta=beta, alpha=alpha, out=z)


def sgemvt(alpha: float, beta: float, a: Tensor, y: Tensor, z: Tensor, x: Tensor, w: Tensor) -> Tensor:
    torch.addmv(z, a.t(), y, alpha=beta, out=x)
    return w.addmv_(a, x, beta=0, alpha=alpha)


def sscal(alpha: float, x: Tensor) -> Tensor:
    return x.mul_(alpha)


def gemver(
    alpha: float, beta: float, a: Tensor, u1: Tensor, v1: Tensor, u2: Tensor, v2: Tensor, y: Tensor, z: Tensor,
    b: Tensor, x: Tensor, w: Tensor,
) -> Tensor:  # fmt: skip
    torch.addr(a, u1, v1, out=b)
    b.addr_(u2, v2)
    torch.addmv(z, b.t(), y, alpha=beta, out=x)
    return w.addmv_(b, x, beta=0, alpha=alpha)


def gesummv(alpha: float, beta: float, a: Tensor, b: Tensor, x: Tensor, y: Tensor) -> Tensor:
    y.addmv_(a, x, beta=0, alpha=alpha)
    return y.addmv_(b, x, alpha=beta)


def madd(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return torch.add(a, b, out=c)


def vadd(w: Tensor, y: Tensor, z: Tensor, x: Tensor) -> Tensor:
    torch.add(w, y, out=x)
    return x.add_(z)


def waxpby(alpha: float, beta: float, x: Tensor, y: Tensor, w: Tensor) -> Tensor:
    torch.mul(y, beta, out=w)
    return w.add_(x, alpha=alpha)


SEQUENCES: dict[str, Callable[..., Tensor]] = {
    call.__name__: call
    for call in (axpydot, atax, bicgk, sgemv, sgemvt, sscal, gemver, gesummv, madd, vadd, waxpby)
}  # fmt: skip
