"""Options of the command line, and results as text. Nothing here prints but the progress bar."""
