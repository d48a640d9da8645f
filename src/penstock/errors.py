"""Errors that are the user's to mend."""


class UserError(Exception):
    """Bad input. The message is one clear sentence (file, line and key where there are any); the exit status is 2."""
