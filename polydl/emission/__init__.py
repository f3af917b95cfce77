"""What the user takes home: C, a header, a shared library, and how they are built into programs."""
