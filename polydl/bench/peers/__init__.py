"""The peers: kinds.py lists them, process.py is what runs in a process of its own for each."""
