"""What the command line takes and shows. Nothing here prints but the progress bar."""
