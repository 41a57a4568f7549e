"""Virus Wars: boards and features as kernels, and alpha-beta over single actions."""
