"""Terminal plumbing beyond the library: output that nobody waits for, and a clean way out."""
