"""Compile, run in a child process, time and verify."""
