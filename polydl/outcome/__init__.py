"""The values of an optimization's result, below all that writes, shows or searches."""
