"""The arena: engines and built-in levels play each other on this machine."""
