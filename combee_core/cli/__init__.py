"""The command line: the contract that scripts rely on. Talks, and leaves every decision to the workspace."""

from combee_core.cli.main import main

__all__ = ["main"]
