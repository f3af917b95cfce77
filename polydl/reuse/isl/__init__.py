"""Reuse analysis by isl, for nests that are no boxes."""
