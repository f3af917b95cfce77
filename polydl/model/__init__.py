"""Estimates of time and traffic."""
