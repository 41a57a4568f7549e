"""``python -m tabuleiro_client``: the same as the command ``tabuleiro``."""

from tabuleiro_client.cli.main import main

if __name__ == "__main__":
    main()
