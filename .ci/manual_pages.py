"""Writes the manual pages of all commands into a folder: ``python .ci/manual_pages.py FOLDER``."""

from __future__ import annotations

import sys
from importlib.metadata import version

from click_man.core import write_man_pages

from polydl.cli import COMMANDS, command, main

for name in COMMANDS:
    main.add_command(command(name))
write_man_pages("polydl", main, version=version("polydl"), target_dir=sys.argv[1])
