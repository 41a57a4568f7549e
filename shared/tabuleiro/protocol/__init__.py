"""The wire: messages, their bytes and their limits."""
