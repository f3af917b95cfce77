"""The rewrites that come with polydl, one a file: its step, how it is applied, when it is tried, and how it reads."""
