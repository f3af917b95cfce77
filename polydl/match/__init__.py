"""Recognition of statements: matrix products, convolutions, and assignments of zero."""
