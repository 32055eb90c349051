"""Entry of the `combee` command: exit codes, and mistakes told in one sentence.

0 worked, 1 did not, 2 wrong usage, 130 interrupted.
"""

import os
import signal
import sys
from types import FrameType
from typing import Never

import click

from combee_core.cli import batch_size, compare, runs, serve_model, traces, versions
from combee_core.cli.common import say
from combee_core.errors import CombeeError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="combee", prog_name="combee")
def combee() -> None:
    """Turn agent traces into a better system prompt, and stay in charge of what it says."""


for group in (traces, runs, compare, batch_size, versions, serve_model):
    for command in group.COMMANDS:
        combee.add_command(command)


def main(arguments: list[str] | None = None) -> Never:
    """Run one command and end the process with its exit code."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        # Without standalone mode click hands back the code of an early exit.
        return int(combee.main(args=arguments, prog_name="combee", standalone_mode=False) or 0)
    except CombeeError as error:
        say(str(error))
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        say("Interrupted.")
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; a later flush at exit must not complain of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _as_interrupt(number: int, frame: FrameType | None) -> Never:
    raise KeyboardInterrupt
