"""The values that flow: scop, statements, schedules, variants, working sets, kernels and measurements."""
