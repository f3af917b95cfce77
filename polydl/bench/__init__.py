"""Benchmarks: polydl's best variants against other libraries and compilers, on ready workloads."""
