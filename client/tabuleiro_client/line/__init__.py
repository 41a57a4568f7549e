"""The line client: plain text, one line at a time."""
