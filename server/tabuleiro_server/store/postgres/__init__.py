"""The store in a PostgreSQL database, on which several servers may work at one time.

``store`` is the port's adapter; ``writer`` commits all rooms that wait in one statement; ``queries`` and
``accounts`` hold the other SQL, ``schema`` the tables. ``connection`` opens connections and tells apart what their
faults mean; ``keeper`` has the one that lasts as long as the server; ``ownership`` says which server has a room.
``peers`` and ``notices`` hold what servers know of each other.
"""
