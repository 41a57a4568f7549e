"""The client's commands, one a module; :mod:`tabuleiro_client.cli` says how they are found."""
