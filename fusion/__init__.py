"""Element-wise operators fused into heavy ones."""
