"""Nests made by hand, so that the tests of execution need no front-end and no code generation."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Array, Parameter, Scop, SourceFunction
from polydl.ir.statement import Access, AccessKind, Expression, Statement

BYTES = {"float": 4, "double": 8, "signed char": 1, "unsigned char": 1, "int": 4}

M, N, K = 24, 20, 16
MATMUL_SIGNATURE = f"void matmul(float C[{M}][{N}], const float A[{M}][{K}], const float B[{K}][{N}])"
MATMUL_LOOPS = f"""
  for (int i = 0; i < {M}; i++)
    for (int j = 0; j < {N}; j++)
      for (int k = 0; k < {K}; k++)
        C[i][j] += A[i][k] * B[k][j];
"""


def array(name: str, element: str, *extents: int, storage: str = "parameter") -> Array:
    return Array(name, element, BYTES[element], extents, storage)  # type: ignore[arg-type]


def access(reference: str, kind: AccessKind, name: str, relation: str) -> Access:
    return Access(reference, name, kind, relation, relation, None)


def statement(
    name: str, iterators: Sequence[str], bounds: Sequence[int], accesses: Sequence[tuple[AccessKind, str, str]]
) -> Statement:
    """A statement in a box; each access is a kind, an array and its subscripts in isl's notation."""
    condition = " and ".join(f"0 <= {i} < {n}" for i, n in zip(iterators, bounds, strict=True))
    point = f"{name}[{', '.join(iterators)}]"
    instances = 1
    for bound in bounds:
        instances *= bound
    return Statement(
        name=name,
        iterators=tuple(iterators),
        domain=f"{{ {point} : {condition} }}",
        box=tuple((0, bound - 1) for bound in bounds),
        instances=instances,
        betas=(0,) * (len(bounds) + 1),
        directions=(1,) * len(bounds),
        body=Expression("literal", "0"),
        accesses=tuple(
            access(f"r{number}", kind, target, f"{{ {point} -> {target}[{subscripts}] : {condition} }}")
            for number, (kind, target, subscripts) in enumerate(accesses)
        ),
        line=1,
        text="",
    )


def scop(
    name: str,
    arrays: Sequence[Array],
    statements: Sequence[Statement],
    *,
    by_value: Sequence[str] = (),
    bound: dict[str, int] | None = None,
) -> Scop:
    """A function of all arrays that are parameters, in their order."""
    parameters = tuple(
        Parameter(
            a.name,
            f"{a.element} {a.name}" + "".join(f"[{e}]" for e in a.extents),
            a.name,
            is_pointer=a.name not in by_value,
            is_const=False,
            value=(bound or {}).get(a.name),
        )
        for a in arrays
        if a.storage == "parameter"
    )
    return Scop(
        file=f"{name}.c",
        function=SourceFunction(name, "void", parameters, 1),
        statements=tuple(statements),
        arrays=tuple(arrays),
        schedule="",
        source="",
        region=(0, 0),
        definition=(0, 0, 0),
        line=1,
    )


def kernel(
    nest: Scop, identity: str, c: str, *, compile_flags: tuple[str, ...] = (), link_flags: tuple[str, ...] = ()
) -> KernelSource:
    """The harness is what the code generator promises to write."""
    arguments = [
        f"arguments[{n}]" if p.is_pointer else f"*({nest.array(p.array).element} *)arguments[{n}]"
        for n, p in enumerate(nest.function.parameters)
    ]
    cases = [
        f"  if (index == {n}) return (void *)&{a.name};"
        for n, a in enumerate(a for a in nest.arrays if a.storage == "global")
    ]
    call = f"{nest.function.name}({', '.join(arguments)});"
    harness = "\n".join(
        [
            f"void polydl_invoke(void *const *arguments) {{ (void)arguments; {call} }}",
            "void *polydl_global(int index) {",
            *cases,
            "  (void)index; return 0;",
            "}",
        ]
    )
    interface = Interface(nest.function.name)
    return KernelSource(
        identity, nest.function.name, c, interface, harness, compile_flags=compile_flags, link_flags=link_flags
    )


def matmul() -> Scop:
    return scop(
        "matmul",
        [array("C", "float", M, N), array("A", "float", M, K), array("B", "float", K, N)],
        [
            statement(
                "S0",
                "ijk",
                (M, N, K),
                [("read", "C", "i, j"), ("write", "C", "i, j"), ("read", "A", "i, k"), ("read", "B", "k, j")],
            )
        ],
    )


def matmul_kernel(
    identity: str, before: str = "", after: str = "", head: str = "", loops: str = MATMUL_LOOPS
) -> KernelSource:
    """The product, with something else done before it or after it."""
    return kernel(matmul(), identity, f"{head}\n{MATMUL_SIGNATURE} {{\n{before}\n{loops}\n{after}\n}}\n")


# Kernels of the product, all but the first two of which fail, each in its own way.
HOSTILE = {
    "reordered": matmul_kernel(
        "reordered",
        loops=f"""
  #pragma omp parallel for
  for (int i = 0; i < {M}; i++)
    for (int k = {K - 1}; k >= 0; k--)
      for (int j = 0; j < {N}; j++)
        C[i][j] += A[i][k] * B[k][j];
""",
    ),
    "prints": matmul_kernel(
        "prints",
        head="#include <stdio.h>",
        before=r'printf("{\"seconds\": 0}\n"); fflush(stdout); fprintf(stderr, "noise\n");',
    ),
    "one-element": matmul_kernel("one-element", after=f"C[{M - 1}][{N - 1}] += 0.01f;"),
    "beyond": matmul_kernel("beyond", after=f"((volatile float *)C)[{M * N}] = 1.0f;"),
    "ahead": matmul_kernel("ahead", after="((volatile char *)C)[-1] ^= 1;"),
    "input": matmul_kernel("input", after="((volatile float *)A)[5] = 0.25f;"),
    "nan": matmul_kernel("nan", after="C[1][2] = 0.0f / 0.0f;"),
    "segfault": matmul_kernel("segfault", before="*(volatile int *)0 = 0;"),
    "hang": matmul_kernel("hang", before="for (volatile int i = 0;; i++) ;"),
    "exit": matmul_kernel("exit", head="#include <stdlib.h>", before="exit(0);"),
    "abort": matmul_kernel(
        "abort",
        head="#include <stdio.h>\n#include <stdlib.h>",
        before='fputs("last words", stderr); abort();',
    ),
    "syntax": matmul_kernel("syntax", before="int x = ;"),
    "undefined": matmul_kernel("undefined", before="void nowhere(void); nowhere();"),
    "dies-later": matmul_kernel("dies-later", head="static int calls;", before="if (++calls == 30) __builtin_trap();"),
    "wrong-later": matmul_kernel("wrong-later", head="static int calls;", after="if (++calls > 3) C[0][0] += 1.0f;"),
    "forks": matmul_kernel(
        "forks", head="#include <unistd.h>", before="if (fork() == 0) for (;;) sleep(1000); for (;;) ;"
    ),
}
