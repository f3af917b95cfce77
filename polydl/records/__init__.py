"""Every measurement that was ever taken, in append-only files that many processes may write to."""
