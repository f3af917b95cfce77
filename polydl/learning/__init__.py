"""What rankers are trained and judged on: variants of many nests, measured."""
