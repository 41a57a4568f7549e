"""The commands of the command line, one module each; each is loaded only when it is used."""
