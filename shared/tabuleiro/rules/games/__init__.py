"""One game a file."""
