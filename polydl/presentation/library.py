"""The output of ``polydl library``: the kernels, the decision, and how far each shape is from its fastest kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polydl.libraries.decision import Condition, Decision, choose
from polydl.libraries.emit import mean_slowdown
from polydl.presentation.notation import counted, duration, first_names, wrapped
from polydl.presentation.tables import rendered, table

if TYPE_CHECKING:
    from polydl.libraries.chosen import ChosenLibrary

# Shown without being asked for: the first kernels, and the shapes that lose most.
_SHOWN_KERNELS, _SHOWN_SHAPES = 6, 4


def library_text(library: ChosenLibrary, *, verbose: bool) -> str:
    """All of it, on a screen unless ``verbose``: then with every kernel and shape, and with the decision."""
    slowdowns = library.slowdowns
    worst = max(slowdowns)
    ranges = ", ".join(map(str, library.nest.ranges))
    count = len(library.kernels)
    slower = (
        f"at most {worst:.2f} times as long as the fastest kernel at {counted(len(library.shapes), 'measured shape')}, "
        f"{mean_slowdown(library):.2f} in the geometric mean"
    )
    defines = "".join(f" -D {name}={value}" for name, value in library.nest.defines.items())
    kernels = counted(count, "kernel") if count else "no kernels: at all sizes the loops run as they were written"
    lines = wrapped(f"Library  {library.exported} for {ranges}{f', with{defines}' if defines else ''}: {kernels}", "")
    lines += wrapped(f"of kernels, {library.without_kernels}" if library.without_kernels else slower, "  ")
    if worst > library.settings.max_slowdown:
        option = "--max-kernels" if count == library.settings.max_kernels else "--shapes"
        more = f"that is more than --max-slowdown {library.settings.max_slowdown:g}: more {option} may help"
        lines += wrapped(more, "  ")
    words = {identity: kernel.words(library.nest, library.product) for identity, kernel in library.kernels.items()}
    if words:
        lines.append("Kernels")
    for identity, text in list(words.items())[: None if verbose else _SHOWN_KERNELS]:
        lines += wrapped(f"{identity}  {text}", "  ")
    if not verbose and count > _SHOWN_KERNELS:
        lines.append(f"  ... {count - _SHOWN_KERNELS} more, with -v")
    if verbose:
        lines += ["Decision", *_decision_lines(library.decision, "  ")]
    names = [path.name for path in library.files.values()]
    lines.append(f"Files  {library.files['c'].parent}")
    lines += [*(wrapped("  ".join(names), "  ") if verbose else [first_names(names)]), ""]
    shown = sorted(range(len(slowdowns)), key=lambda number: -slowdowns[number])
    # Shapes have no leading dimensions: these are the sizes that they are at least.
    sizes = [each.name for each in library.nest.ranges]
    shapes = table(*sizes, "time", "slow-down", "kernel", right=(*sizes, "time", "slow-down"))
    for number in shown if verbose else shown[:_SHOWN_SHAPES]:
        shape, kernel = library.shapes[number], choose(library.decision, library.shapes[number])
        shapes.add_row(
            *(str(shape[name]) for name in sizes),
            duration(library.times[number][kernel]),
            f"{slowdowns[number]:.2f}",
            kernel,
        )
    left = 0 if verbose else max(0, len(shown) - _SHOWN_SHAPES)
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
