"""``polydl doctor``."""

from __future__ import annotations

import click

from polydl.commands.output import FAILURE, show
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.options import debug_option, json_option


@click.command(cls=CheckedCommand)
@json_option
@debug_option
def doctor(json_path: str | None) -> int:
    """Test every component that polydl uses. Ends with status 1 if the main job can't run."""
    from polydl import doctor
    from polydl.presentation import results
    from polydl.report import documents

    components = doctor.examine()
    ready = doctor.ready(components)
    show(json_path, documents.doctor_document(components, ready), results.components_text(components))
    return 0 if ready else FAILURE
