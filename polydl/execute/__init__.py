"""Execution of kernels: compile, run in a child process, verify, and time."""
