"""Predicted cache misses against those that valgrind's cachegrind simulates."""
