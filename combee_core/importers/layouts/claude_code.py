"""Claude Code logs with the logs of their subagents in a folder beside them: `<session>/subagents/agent-*.jsonl`.

Written by Claude Code from version 2 on. Subagents are kept in the metadata of their session: they are no runs of
their own.
"""

from collections.abc import Callable, Iterator, Sequence

from combee_core.importers.base import Reject
from combee_core.importers.formats.claude_code import ClaudeCode, plain_messages
from combee_core.importers.reading import read_blob
from combee_core.importers.runs import Files, Run, parent
from combee_core.trace import Trace


class ClaudeCodeFolder:
    """A log with a folder of its subagents' logs beside it."""

    name = ClaudeCode.name
    title = ClaudeCode.title

    def runs(self, files: Files) -> Iterator[Run]:
        for folder in files.folders:
            main, agents = f"{parent(folder)}.jsonl", files.in_folder(folder)
            if folder.rpartition("/")[2] == "subagents" and main in files and agents:
                parts = dict.fromkeys(agents, f"log of a subagent, kept with {main.rpartition('/')[2]}")
                reason = "is a log with its subagents beside it"
                yield Run(files[main], self.name, reason, _reader(files, main, agents), parts)


def _reader(files: Files, main: str, agents: Sequence[str]) -> Callable[[], Iterator[Trace | Reject]]:
    def read() -> Iterator[Trace | Reject]:
        subagents = [
            {"agent": path.rpartition("/")[2], "messages": plain_messages(entry.messages)}
            for path in agents
            for entry in read_blob(files[path])
            if isinstance(entry, Trace)
        ]
        for entry in read_blob(files[main]):
            if isinstance(entry, Trace):
                known = [*entry.metadata.get("subagents", []), *subagents]
                yield entry.model_copy(update={"metadata": {**entry.metadata, "subagents": known}})
            else:
                yield entry

    return read
