"""The pages: templates filled with a run, or with two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from polydl.errors import MissingComponentError
from polydl.page import comparison, units, views
from polydl.page.benchmark import Benchmark, ShownWorkload
from polydl.page.downloads import benchmark_downloads, document_text, downloads
from polydl.page.figures.canvas import NARROW, WIDE, Width
from polydl.page.run import Run

_TEMPLATES = Path(__file__).parent / "templates"
_REMEDY = "pip install 'polydl[report]'"


def require() -> None:
    """Raises MissingComponentError unless everything is there that pages are made with."""
    from importlib.util import find_spec

    for module, name in (("jinja2", "Jinja2"), ("matplotlib", "matplotlib"), ("pygments", "Pygments")):
        if find_spec(module) is None:
            raise MissingComponentError(f"{name} is not installed", remedy=_REMEDY)


def run_page(run: Run) -> str:
    """The page of one run, complete. Raises MissingComponentError."""
    from polydl.page.figures.ranked import ranked
    from polydl.page.figures.reuse import reuse
    from polydl.page.figures.roofline import roofline
    from polydl.page.figures.times import is_logarithmic, shown, times

    bars = shown(run.timed)
    best = run.winner.id if run.winner is not None else ""
    return _filled(
        "run.html.j2",
        run=run,
        title=f"{run.function}: polydl",
        figures={
            "roofline": _both(lambda width: roofline(run, width)),
            "times": _both(lambda width: times(run.function, bars, best, width)),
            "ranked": _both(lambda width: ranked(run, width)),
            "reuse": _both(lambda width: reuse(run, width)),
        },
        logarithmic=bool(bars) and is_logarithmic(bars),
        original=_highlighted(run.original_code),
        winning=_highlighted(run.winner_code),
        documents=[document_text(run.document)],
    )


def comparison_page(first: Run, second: Run) -> str:
    """The page of two runs beside each other, complete. Raises MissingComponentError."""
    from polydl.page.figures.pair import pair

    first, second = comparison.alike(first, second)
    return _filled(
        "comparison.html.j2",
        first=first,
        second=second,
        title=f"{first.function}: two runs, polydl",
        figure=_both(lambda width: pair(first, second, width)),
        first_code=_highlighted(first.winner_code),
        second_code=_highlighted(second.winner_code),
        documents=[document_text(first.document), document_text(second.document)],
    )


def benchmark_page(benchmark: Benchmark) -> str:
    """The page of a run of ``polydl bench``, complete. Raises MissingComponentError."""
    return _filled(
        "benchmark.html.j2",
        benchmark=benchmark,
        title=f"{views.plural(len(benchmark.workloads), 'workload')}: polydl bench",
        figures=[(workload, _bars(workload)) for workload in benchmark.workloads],
        documents=[document_text(benchmark.document)],
    )


def _bars(workload: ShownWorkload) -> list[tuple[str, str]]:
    from polydl.page.figures.times import shown, times

    return _both(lambda width: times(workload.name, shown(workload.timed), workload.best, width))


def fragment(run: Run) -> str:
    """A short form of the page for a notebook: the headline and the table of variants. Needs Jinja2 alone."""
    return _filled("fragment.html.j2", run=run)


def _both(draw: Callable[[Width], str | None]) -> list[tuple[str, str]]:
    """A figure for wide and for narrow windows, each after the name of its width; none if there is nothing to draw."""
    drawings = [(width.name, draw(width)) for width in (WIDE, NARROW)]
    return [(name, svg) for name, svg in drawings if svg is not None]


def _highlighted(c: str | None) -> str | None:
    if c is None:
        return None
    from polydl.page.highlight import highlighted

    return highlighted(c)


def _filled(template: str, **values: Any) -> str:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingComponentError("Jinja2 is not installed", remedy=_REMEDY) from None
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined,
    )  # fmt: skip
    environment.filters.update(
        duration=units.duration,
        size=units.size,
        bandwidth=units.bandwidth,
        operations=units.operations,
        gflops=units.gflops,
        factor=units.factor,
        percentage=units.percentage,
        significant=units.significant,
    )
    environment.globals.update(
        views=views,
        comparison=comparison,
        downloads=downloads,
        benchmark_downloads=benchmark_downloads,
        plural=views.plural,
        nothing=units.NOTHING,
    )
    return environment.get_template(template).render(**values)
