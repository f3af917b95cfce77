"""The class of all commands: what is said on the command line is something, and a mistake there names the command."""

from __future__ import annotations

import click

from polydl.errors import OptionError

_STREAM = "-"


class CheckedCommand(click.Command):
    """A command that takes no empty values, and no ``-`` for a path; those that write streams take it as text."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, which would make the present folder of an empty path. Raises OptionError, UsageError."""
        try:
            if not ctx.resilient_parsing:
                given, _, parameters = self.make_parser(ctx).parse_args(list(args))
                for parameter in parameters:
                    _require_words(parameter, given.get(parameter.name or ""))
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            # Click's parser leaves it out where an option lacks its value.
            error.ctx = error.ctx or ctx
            raise


class CheckedGroup(click.Group):
    """A group of such commands."""

    command_class = CheckedCommand


def _require_words(parameter: click.Parameter, given: object) -> None:
    """Raises OptionError for a value, or one of several, that is empty or a stream in place of a path."""
    name = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
    for value in given if isinstance(given, list | tuple) else (given,):
        if value == "":
            remedy = "write what is meant" if parameter.required else "write what is meant, or leave it out"
            raise OptionError("a value is empty", construct=f'{name} ""', remedy=remedy)
        if value == _STREAM and isinstance(parameter.type, click.Path):
            raise OptionError(
                "a path is needed, not a standard stream",
                construct=f"{name} {_STREAM}",
                remedy=f"name a path; one that is called {_STREAM} is ./{_STREAM}",
            )
