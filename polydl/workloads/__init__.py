"""Ready loop nests in C, by name and by suite."""

from polydl.workloads.nests import Convolution, Element, Layout, MatrixProduct, Padding
from polydl.workloads.ready import Blocks, Workload, layout_of, names, suite, suites, workload

__all__ = [
    "Blocks",
    "Convolution",
    "Element",
    "Layout",
    "MatrixProduct",
    "Padding",
    "Workload",
    "layout_of",
    "names",
    "suite",
    "suites",
    "workload",
]
