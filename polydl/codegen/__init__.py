"""From a plan to C: isl's AST builder for the loops, pet's expressions for the statements."""
