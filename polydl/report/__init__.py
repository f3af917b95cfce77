"""Results as JSON documents, of which pages are drawn."""
