"""The closed form of reuse analysis, for many schedules at once as arrays."""
