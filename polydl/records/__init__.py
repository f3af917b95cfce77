"""Records of measurements: append-only files, one per nest, that several processes may write to."""
