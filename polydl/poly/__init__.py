"""Polyhedral analysis with isl: dependences, legality, schedules, counting."""
