"""What the screens need of a terminal beyond the library: output that nobody waits for, and a clean way out."""
