"""Working sets of dependences and the caches that hold them (Algorithms 1 and 2)."""
