"""Computer players: levels, worker processes and the seats they take."""
