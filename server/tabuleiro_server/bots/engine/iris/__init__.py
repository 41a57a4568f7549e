"""Iris: boards and playouts as kernels, for Monte-Carlo tree search."""
