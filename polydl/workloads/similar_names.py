"""What to say of a workload or a suite that there is none of: those that are called like it, and how names are made."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

# By how they begin: sizes in the order in which they stand in a name, and an example.
_PATTERNS = {
    "conv_": "conv_CxKxHxWxRxSsTpP (channels, filters, image, filter, stride, padding: conv_64x128x56x56x3x3s1p1)",
    "dwconv_": "dwconv_CxHxWxRxSsTpP (channels, image, filter, stride, padding: dwconv_96x56x56x3x3s1p1)",
    "gemm_": "gemm_MxNxK (gemm_64x96x128)",
}
# A size of 0; the padding, behind a p, may be 0.
_NOTHING = re.compile(r"[_xsgd]0+(?!\d)", re.ASCII)


def is_of_sizes(name: str) -> bool:
    """Whether a name begins as those do that are made of a workload's sizes."""
    return name.startswith(tuple(_PATTERNS))


def known_workloads(name: str, known: Sequence[str]) -> str:
    """The workloads that are called like it, and how others are named by their sizes."""
    pattern = next((each for kind, each in _PATTERNS.items() if name.startswith(kind)), None)
    if pattern is None:
        shown = those_like(name, known, "workloads")
        return f"{shown}; others are named by their sizes: {_PATTERNS['conv_']} or {_PATTERNS['gemm_']}"
    if _NOTHING.search(name):
        return f"sizes begin at 1{', the padding at 0' if 'padding' in pattern else ''}: {pattern}"
    close = _close(name, known)
    meant = f"did you mean {', '.join(close)}? others are named by their sizes:" if close else "name it by its sizes:"
    return f"{meant} {pattern}"


def those_like(name: str, known: Sequence[str], what: str) -> str:
    """Those of the known names that are like it, or else how many there are and a few of them; ``what`` they name."""
    close = _close(name, known)
    if close:
        return f"did you mean {', '.join(close)}?"
    shown = ", ".join(known if len(known) < 20 else [*known[:3], "…", *known[-3:]])
    return f"the {len(known)} {what} are {shown}"


def _close(name: str, known: Sequence[str]) -> list[str]:
    return difflib.get_close_matches(name, known, n=3, cutoff=0.5)
