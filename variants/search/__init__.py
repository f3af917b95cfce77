"""Search strategies: which variants of a space to measure, given what was measured. None knows what a nest computes."""
