"""The peers. kinds.py lists them; process.py is the program that runs one of them."""
