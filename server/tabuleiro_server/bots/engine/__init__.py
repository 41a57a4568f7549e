"""The fast search: kernels of the games and the searches that suit them."""
