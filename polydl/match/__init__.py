"""Which statement is a matrix product, a convolution, or sets to zero."""
