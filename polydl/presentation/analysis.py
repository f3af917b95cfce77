"""The output of `polydl analyze`: dependences by source line, and working sets plotted against the caches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polydl.errors import MissingComponentError, OptionError
from polydl.ir.ranking import RankedVariant
from polydl.ir.scop import Scop
from polydl.ir.working_sets import DependenceWorkingSet, WorkingSets
from polydl.machine import Machine
from polydl.plan.nest_plan import Plan
from polydl.presentation.nest import subscripted
from polydl.presentation.notation import size, tile_name, wrapped
from polydl.presentation.tables import rendered, table
from polydl.report.documents import innermost_level
from polydl.reuse.explain import shrink_to_fit

# What a figure is written as, by the ending of its file's name; the first one without any.
_FORMATS = ("svg", "png", "pdf")
_HEADINGS = ("reuse of", "carrier", "nearest", "farthest", "to fit nearer", "kinds")


def dependences_text(scop: Scop, plan: Plan, working_sets: WorkingSets, machine: Machine) -> str:
    """The bytes that each cache holds, and a table of the dependences from each statement, under its source line."""
    held = ", ".join(
        f"{level.name} {size(used)} of {size(level.bytes)}"
        for level, used in zip(machine.caches, working_sets.levels, strict=True)
    )
    text = f"Held  {held}, memory {size(working_sets.memory)} (counted by {working_sets.method})"
    blocks = ["\n".join(wrapped(text, ""))]
    for statement in scop.statements:
        dependences = [d for d in working_sets.dependences if d.source == statement.name]
        if not dependences:
            continue
        rows = table(*_HEADINGS, right=["nearest", "farthest"], fold=["reuse of"])
        named = ("", "")
        for dependence in dependences:
            carried = tile_name(plan.variant, dependence.loop) if dependence.loop else "order"
            names = (references(scop, dependence), " ".join(dependence.kinds))
            # Those of the references above are not said again.
            reference, kinds = names if names != named else ("", "")
            named = names
            rows.add_row(
                reference,
                carried + (" parallel" if dependence.parallel else ""),
                _fit(dependence.minimum_bytes, machine),
                _fit(dependence.maximum_bytes, machine),
                one_level_up(scop, plan, dependence, machine),
                kinds,
            )
        line = wrapped(f"{Path(scop.file).name}:{statement.line}  {statement.name}  {statement.text}", "")
        blocks.append("\n".join([*line, rendered(rows)]))
    return "\n\n".join(blocks)


def _fit(count: int, machine: Machine) -> str:
    return f"{size(count)} {innermost_level(count, machine):3.3}"


def references(scop: Scop, dependence: DependenceWorkingSet) -> str:
    """The array references of the dependence's source and target, as C writes them."""
    texts = []
    for name in dict.fromkeys((dependence.source, dependence.target)):
        statement = scop.statement(name)
        texts += [subscripted(access, statement) for access in statement.accesses if access.array == dependence.array]
    return ", ".join(dict.fromkeys(texts))


def one_level_up(scop: Scop, plan: Plan, dependence: DependenceWorkingSet, machine: Machine) -> str:
    """The loop that would have to shrink for the nearest reuse to fit the next smaller cache; "" if it fits the first.

    Where shrinking one loop is not enough: the size of the reuse as a multiple of that cache.
    """
    smaller = [level for level in machine.caches if level.bytes < dependence.minimum_bytes]
    if not smaller:
        return ""
    level = smaller[-1]
    shrink = shrink_to_fit(scop, plan, dependence, level.bytes)
    if shrink is None:
        return f"{dependence.minimum_bytes / level.bytes:.2g} times {level.name}"
    return f"{shrink.loop} {shrink.now} to {shrink.to}"


def figure_format(path: Path) -> str:
    """What a figure is written as, by the ending of its name. Raises OptionError for an ending of anything else."""
    kind = path.suffix.lstrip(".").lower() or _FORMATS[0]
    if kind not in _FORMATS:
        raise OptionError(
            f"no figure is written as {path.suffix}",
            construct=f"--plot {path}",
            remedy="name a file that ends with .svg, .png or .pdf",
        )
    return kind


def draw_working_sets(path: Path, entries: Sequence[RankedVariant], machine: Machine) -> None:
    """Working sets of the ranked variants as points over the caches' sizes, written as the path's ending says.

    Raises OptionError for other endings, MissingComponentError without matplotlib, ResourceError if the file can't be
    written.
    """
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingComponentError("matplotlib is not installed", remedy="pip install matplotlib") from error
    from io import BytesIO

    from polydl.system.files import write_atomically

    matplotlib.rcParams["svg.hashsalt"] = "polydl"
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    for place, entry in enumerate(entries, 1):
        dependences = entry.working_sets.dependences
        for values, marker, label in (
            ([d.minimum_bytes for d in dependences], "o", "to the nearest reuse"),
            ([d.maximum_bytes for d in dependences], "^", "to the farthest reuse"),
        ):
            axes.scatter(
                [place] * len(values), values, marker=marker, s=18, alpha=0.7,
                color="tab:blue" if marker == "o" else "tab:orange", label=label if place == 1 else None,
            )  # fmt: skip
    for level in machine.caches:
        axes.axhline(level.bytes, color="gray", linewidth=0.8, linestyle="--")
        axes.text(
            1.01,
            level.bytes,
            f"{level.name} {size(level.bytes)}",
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=8,
        )
    axes.set_yscale("log", base=2)
    axes.set_xlim(0.3, len(entries) + 0.7)
    axes.set_xticks(range(1, len(entries) + 1), [e.variant.id[:6] for e in entries], rotation=45, fontsize=7)
    axes.set_xlabel("variants, as ranked")
    axes.set_ylabel("working set of each dependence [bytes]")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2, fontsize=8, frameon=False)
    figure.tight_layout()
    content = BytesIO()
    kind = figure_format(path)
    figure.savefig(content, format=kind, metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(figure)
    write_atomically(path, content.getvalue())
