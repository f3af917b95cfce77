"""What the operating system sees of polydl: files, signals, clocks, and the sandbox of code that runs."""
