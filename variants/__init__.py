"""Which loop structures to try for a nest."""
