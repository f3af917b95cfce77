"""Working sets of dependences, and the cache levels that hold them (paper, §4, Algorithms 1 and 2)."""
