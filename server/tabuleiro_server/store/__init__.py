"""What the server keeps: the events of all rooms, the rows that follow from them, and accounts.

``port`` says what a store promises, and is what the rest of the server knows; ``metrics`` counts its commits;
``sqlite`` is the store in one SQLite file.
"""
