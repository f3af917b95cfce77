"""``python -m polydl`` is the command ``polydl``."""

from polydl.start import main

main()
