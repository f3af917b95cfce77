"""What is left of the records, the answers and the temporary folders when commands end in the middle of their work."""
