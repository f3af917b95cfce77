"""The native part: LIBXSMM as a shared library and the C runtime."""
