"""Running rooms: tasks, directory, journal and archive around the pure room core."""
