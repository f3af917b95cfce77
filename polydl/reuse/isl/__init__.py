"""Reuse analysis by isl, for nests outside of the closed form's class."""
