"""The output of ``polydl library``: the kernels, the decision, and how far each shape is from its fastest kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polydl.libraries.decision import Condition, Decision, choose
from polydl.libraries.emit import mean_slowdown
from polydl.presentation.tables import rendered, table

if TYPE_CHECKING:
    from polydl.libraries.build import Library

# Shapes that are shown without being asked for: the slowest.
_SHOWN = 5


def library_text(library: Library, *, verbose: bool) -> str:
    """All of it; ``verbose`` with every shape, else with those that lose most."""
    slowdowns = library.slowdowns
    worst = max(slowdowns)
    ranges = ", ".join(map(str, library.nest.ranges))
    count = len(library.kernels)
    lines = [
        f"Library  {library.exported} for {ranges}: {count} kernel{'' if count == 1 else 's'}",
        f"  at most {worst:.2f} times as long as the fastest kernel at {len(library.shapes)} measured shapes, "
        f"{mean_slowdown(library):.2f} in the geometric mean",
    ]
    if worst > library.settings.max_slowdown:
        lines.append(
            f"  that is more than --max-slowdown {library.settings.max_slowdown:g}: more --max-kernels may help"
        )
    words = {identity: kernel.words(library.nest, library.product) for identity, kernel in library.kernels.items()}
    lines += ["Kernels", *(f"  {identity}  {text}" for identity, text in words.items())]
    lines += ["Decision", *_decision_lines(library.decision, "  ")]
    lines += [f"Files  {library.files['c'].parent}", f"  {', '.join(path.name for path in library.files.values())}", ""]
    shown = sorted(range(len(slowdowns)), key=lambda number: -slowdowns[number])
    shapes = table(*library.nest.sizes, "seconds", "slow-down", "kernel", right=(*library.nest.sizes, "slow-down"))
    for number in shown if verbose else shown[:_SHOWN]:
        shape, kernel = library.shapes[number], choose(library.decision, library.shapes[number])
        shapes.add_row(
            *(str(shape[name]) for name in library.nest.sizes),
            f"{library.times[number][kernel]:.3g}",
            f"{slowdowns[number]:.2f}",
            kernel,
        )
    left = 0 if verbose else max(0, len(shown) - _SHOWN)
    return "\n".join([*lines, rendered(shapes), *([f"  ... {left} more, with -v"] if left else [])])


def _decision_lines(decision: Decision, indent: str) -> list[str]:
    """The decision as C has it."""
    if isinstance(decision, Condition):
        return [
            f"{indent}if ({' * '.join(decision.sizes)} <= {decision.bound})",
            *_decision_lines(decision.holds, f"{indent}  "),
            f"{indent}else",
            *_decision_lines(decision.fails, f"{indent}  "),
        ]
    return [f"{indent}{decision.kernel}"]
