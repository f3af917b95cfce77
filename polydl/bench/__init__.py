"""polydl's best picks beside other libraries and compilers, on ready workloads."""
