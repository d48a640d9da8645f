"""Errors that are the user's to mend, and those of tools."""


class UserError(Exception):
    """Bad input. The message is one clear sentence (file, line and key where there are any); the exit status is 2."""


class ToolError(RuntimeError):
    """A compiler or another tool refused what it was given. The message is a sentence, then the tool's words; the exit status is 1."""
