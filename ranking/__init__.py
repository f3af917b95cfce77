"""Which variant to run first."""
