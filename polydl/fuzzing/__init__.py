"""Random loop nests from C text to checked binaries: what ``polydl fuzz`` runs."""
