"""Microkernels: implementations of small matrix products that replace the innermost loops of a nest."""
