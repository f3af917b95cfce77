"""One library for a range of sizes: kernels that are right for any size, and the choice between them."""
