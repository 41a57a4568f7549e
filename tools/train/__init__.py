"""The training of the bots' estimates, from games that they play themselves."""
