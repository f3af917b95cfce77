"""Training and evaluation of rankers on measured variants of many nests."""
