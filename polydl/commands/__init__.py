"""Commands of ``polydl``, a module each; ``polydl.cli`` gathers them."""
