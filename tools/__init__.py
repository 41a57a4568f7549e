"""Programs for the developers of tabuleiro; none of them is installed with it."""
