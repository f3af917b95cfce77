"""Measurements of polydl against the libraries and compilers that others use. Not part of the installed package."""
