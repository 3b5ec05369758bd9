"""What ends a command."""


class CommandError(Exception):
    """What the user must know, in one line; the exit status is 2."""
