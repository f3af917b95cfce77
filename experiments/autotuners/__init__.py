"""polydl's search beside the autotuners of other systems: Halide's of Adams et al. (2019) and TVM's MetaSchedule."""
