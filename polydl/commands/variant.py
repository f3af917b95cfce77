"""One variant that a person names: by its id, or by a file of its steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.errors import OptionError
from polydl.presentation.completion import complete_files
from polydl.presentation.options import require_alone

if TYPE_CHECKING:
    from polydl.ir.variant import Step, Variant
    from polydl.variants.generation import Generation

# Of a step at fault, as it stands in its file.
_SHOWN_CHARACTERS = 200

variant_option = click.option(
    "--variant", "variant", metavar="ID|FILE", shell_complete=complete_files,
    help="This variant alone: an id that `polydl variants` lists, or its start, or a JSON file of steps.",
)  # fmt: skip


def is_file_of_steps(text: str) -> bool:
    """Whether what names a variant is a file; ids are hexadecimal digits alone."""
    return text.endswith(".json") or Path(text).is_file()


def require_no_choice(text: str | None, option: str, *others: str) -> None:
    """Raises OptionError for options that choose among generated variants, beside the file of one variant's steps.

    ``text`` is what ``option`` names the variant by; None without one. ``others`` are further parameters of the command
    that have no effect beside such a file. Beside an id, all of these say among which variants it is looked up.
    """
    if text is not None and is_file_of_steps(text):
        require_alone(f"{option} FILE", "pins", "max_variants", "fewer_products", *others)


def variant_from_file(path: str) -> Variant:
    """The variant whose steps a JSON file lists, by themselves or as ``steps`` of an object.

    Raises OptionError if the file can't be read or holds anything else. It shows the step at fault and its place.
    """
    import json
    import textwrap

    from polydl.ir.variant import Variant
    from polydl.system.files import reason_of, text_of
    from polydl.variant_json import variant_from_json

    remedy = "write what `polydl variants FILE --json -` lists as the `steps` of a variant"
    try:
        document = json.loads(text_of(Path(path)))
    except (OSError, ValueError) as error:
        raise OptionError(f"no variant can be read: {reason_of(error)}", file=path, remedy=remedy) from error
    steps = document.get("steps") if isinstance(document, dict) else document
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise OptionError("this is no list of steps", file=path, remedy=remedy)
    read: list[Step] = []
    for number, step in enumerate(steps, 1):
        try:
            read += variant_from_json([step]).steps
        except OptionError as error:
            place = f"step {number} of the {len(steps)} in the list: {error.message}"
            shown = textwrap.shorten(json.dumps(step), _SHOWN_CHARACTERS, placeholder=" ...")
            raise OptionError(place, file=path, construct=shown, remedy=error.remedy or remedy) from error
    return Variant(tuple(read))


def chosen_variant(text: str, generate: Callable[[], Generation], option: str = "--variant") -> Variant:
    """The variant that ``text`` names: the file of its steps, or the start of the id of one that is generated.

    ``option`` is what named it on the command line. Raises OptionError if that is none, or several.
    """
    if is_file_of_steps(text):
        return variant_from_file(text)
    generation = generate()
    same = [variant for variant in generation.variants if variant.id.startswith(text)]
    if len(same) != 1:
        raise OptionError(
            f"{len(same)} of the {len(generation.variants)} variants have an id that starts with {text!r}",
            construct=f"{option} {text}",
            remedy="give an id that `polydl variants` lists for the same options, or a JSON file of steps",
        )
    return same[0]
