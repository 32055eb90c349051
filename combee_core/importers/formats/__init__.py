"""One module a format: what the file is, who writes it, which versions were seen, and how it becomes traces."""
