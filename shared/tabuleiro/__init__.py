"""The rules, notation and protocol that server and client share.

This package knows nothing of sockets, clocks, files or screens: it turns values into other values.
"""

__version__ = "0.1.0"
