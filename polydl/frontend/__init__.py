"""From a C file to a Scop."""
