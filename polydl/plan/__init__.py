"""Variants applied: where every loop of a nest goes."""
