"""What goes into the innermost loops."""
