"""Polyhedral analysis with isl: dependences, legality, footprints, counting."""
