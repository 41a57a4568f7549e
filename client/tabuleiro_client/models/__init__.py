"""Models without a user interface that the line client and the screens share."""
