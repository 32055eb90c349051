"""The command that serves a model file on this machine: serve-model."""

import os
import threading
from pathlib import Path

import click

from combee_core.cli.common import say
from combee_core.llm.serving import serve_model as serve


@click.command("serve-model")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0 takes any free one.")
@click.option("--context", type=click.IntRange(256), default=8192, show_default=True, help="Tokens of one call.")
@click.option("--slots", type=click.IntRange(1, 64), default=4, show_default=True, help="Calls answered at once.")
@click.option("--threads", type=click.IntRange(1), help="Threads that answer [default: one a core].")
def serve_model(file: Path, port: int, context: int, slots: int, threads: int | None) -> None:
    """Serve a model in a GGUF FILE of your own on this machine, until Ctrl-C; prints the base URL."""
    say(f"Loading {file.name} …")
    served = serve(file, port, context, slots, threads)
    try:
        click.echo(served.base_url)
        say(
            f"Ready. In another terminal: combee learn --prompt NAME --base-url {served.base_url} "
            f"--model {served.model} --parallel {slots}. Ctrl-C stops it."
        )
        threading.Event().wait()
    except KeyboardInterrupt:
        say("Stopped.")
        # The server would first write its answers to the end, which may take minutes; nobody waits for them any more.
        os._exit(0)


COMMANDS = (serve_model,)
