"""``polydl train`` and ``polydl evaluate``: rankers from measurements, and how good they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.commands.output import show
from polydl.commands.storing import warn_of_damage
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.options import debug_option, json_option, seed_option

if TYPE_CHECKING:
    from polydl.contracts import MeasuredNest
    from polydl.records.store import Damage

data_option = click.option(
    "--data", "data", type=click.Path(path_type=Path), multiple=True, metavar="PATH",
    help="Records: a directory, or a file of them, .xz or not (the user's records). Repeated for several machines.",
)  # fmt: skip


@click.command(cls=CheckedCommand)
@click.option("--ranker", required=True, metavar="NAME", help="dnn, dnn-paper or regression.")
@data_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="PATH", help="Weights (NAME.npz).")
@seed_option("Of all that is drawn.")
@json_option
@debug_option
def train(ranker: str, data: tuple[Path, ...], out: Path | None, seed: int, json_path: str | None) -> int:
    """Train a ranker on records, and write its weights with a card that says where they come from.

    Needs TensorFlow. The same records and the same seed give the same weights.
    """
    from polydl import registry
    from polydl.learning import cards
    from polydl.presentation.learning import card_text
    from polydl.presentation.progress import progress_bar
    from polydl.system.files import write_atomically

    if ranker not in registry.names("trainers"):
        known = ", ".join(registry.names("trainers"))
        raise OptionError(f"{ranker!r} can't be trained", construct="--ranker", remedy=f"choose from {known}")
    sources, nests = _measured(data)
    with progress_bar(wanted=json_path != "-") as progress:
        trained = cards.train(ranker, nests, sources=sources, seed=seed, progress=progress)
    path = out or Path(f"{ranker}.npz")
    write_atomically(path, trained.ranker.to_bytes(trained.card))
    return show(json_path, trained.card, f"{card_text(trained.card)}\n\nWeights  {path}")


@click.command(cls=CheckedCommand)
@data_option
@click.option("--ranker", "rankers", multiple=True, metavar="NAME", help="Judge these alone. May be repeated.")
@click.option("--figures", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Draw plots there.")
@click.option("--regression-errors", is_flag=True, help="Errors of several regressions, with and without logarithms.")
@seed_option("Of all that is drawn.")
@json_option
@debug_option
def evaluate(
    data: tuple[Path, ...],
    rankers: tuple[str, ...],
    figures: Path | None,
    regression_errors: bool,
    seed: int,
    json_path: str | None,
) -> int:
    """Judge rankers on networks and matrix products that their training never saw.

    Each of them is held out in turn, on all machines at once, and what must be trained is trained without it.
    """
    from polydl import registry
    from polydl.learning import evaluation
    from polydl.presentation import learning
    from polydl.presentation.progress import progress_bar

    unknown = [name for name in rankers if name not in registry.names("rankers")]
    if unknown:
        known = ", ".join(registry.names("rankers"))
        raise OptionError(f"{unknown[0]!r} is no ranker", construct="--ranker", remedy=f"choose from {known}")
    _, nests = _measured(data)
    errors: tuple[evaluation.RegressionError, ...] = ()
    with progress_bar(wanted=json_path != "-") as progress:
        evaluated = evaluation.evaluate(nests, rankers=rankers or evaluation.RANKERS, seed=seed, progress=progress)
        if regression_errors:
            errors = evaluation.regression_errors(nests, seed=seed, progress=progress)
    text = learning.evaluation_text(evaluated)
    if errors:
        text += f"\n\n{learning.regression_table(errors)}"
    if figures is not None:
        drawn = learning.draw_distributions(evaluated, figures)
        text += "\n\n" + "\n".join(f"Drawn  {path}" for path in drawn)
    return show(json_path, learning.evaluation_document(evaluated, errors), text)


def _measured(data: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[MeasuredNest, ...]]:
    """Where records are, and the nests that were measured there, each with its machine."""
    from polydl.learning.samples import ANALYSIS, nests_in
    from polydl.records.store import default_directory

    sources = data or (default_directory(),)
    damaged: list[Damage] = []
    nests = nests_in(sources, damaged.append)
    warn_of_damage(damaged)
    if not nests:
        listed = ", ".join(map(str, sources))
        raise OptionError(f"no run in {listed} holds enough variants", remedy="measure some with `polydl collect`")
    older = sum(len(nest.candidates) for nest in nests if nest.analysis != ANALYSIS)
    if older:
        click.echo(
            f"polydl: {older} records have features that another version of polydl computed; "
            "`polydl collect --export PATH` computes those of your records anew",
            err=True,
        )
    return sources, nests
