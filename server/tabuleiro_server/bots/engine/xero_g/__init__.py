"""Xero-G: positions and targets of ships as kernels, alpha-beta over actions, and a search without kernels."""
