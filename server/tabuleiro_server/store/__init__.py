"""The events of all rooms, the rows that follow from them, and accounts, on disk.

``port`` says what a store promises: the rest of the server knows nothing else. ``sqlite`` keeps it in one file.
"""
