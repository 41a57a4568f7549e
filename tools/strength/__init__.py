"""The generator of server/STRENGTH.md: games between levels, and a page of their scores."""
