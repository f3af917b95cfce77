"""One HTML page of a result, from its JSON document alone: figures, code and numbers, with nothing from the network."""
