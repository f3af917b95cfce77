"""Rewrites of a scop: each gives the same computation other loops or layouts."""
