"""Mistakes that the user can mend: shown as one sentence, never as a traceback."""


class CombeeError(Exception):
    """Base of every error whose message is written for the person who reads it: what is wrong, where, what to do."""
