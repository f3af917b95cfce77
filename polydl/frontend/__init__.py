"""The front end: reads a C file into a Scop."""
