"""The figures of a page: drawn by matplotlib, in colours that the page's style sheet sets for light and dark."""
