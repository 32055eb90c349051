"""Errors of tools: what changed between the call that failed and the one that worked, and errors that state a rule.

It looks at tool calls and their results alone; feedback and outcome are somebody else's business.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from combee_core.trace import Message, ToolCall, ToolResult

_ERROR = re.compile(
    r"\b(?:errors?|exception|traceback|invalid|failed|failure|fatal|refused|denied|forbidden|unknown|unexpected|cannot|"
    r"can't|no such|not found|not allowed|not enough|missing|must be|required|does not|doesn't|unterminated|expects)\b",
    re.IGNORECASE,
)
_STATES_A_RULE = re.compile(
    r"\b(?:cannot|can't|must|require[sd]?|expected|only|not allowed|not enough|does not|doesn't|needs?|missing|"
    r"at least|at most)\b",
    re.IGNORECASE,
)
_FAILED_KEY = re.compile(r'^\s*\{\s*"?(?:error|ok"?\s*:\s*false|success"?\s*:\s*false)', re.IGNORECASE)
_SHELLS = re.compile(r"bash|shell|terminal|command|execute|exec|run", re.IGNORECASE)
_COMMAND_FIELDS = ("command", "cmd", "keystrokes", "input", "code", "script")
_BEFORE_PROGRAM = re.compile(r"^(?:\w+=\S*|sudo|time|nohup|env|command|then|do|until|while|if|!|\()$")
_PROMPT = re.compile(r"^(?:New Terminal Output:|\S*[#$>] .*|\s*)$")

ERROR_CHARS, VALUE_CHARS, COMMAND_CHARS, LONGEST_COMMAND = 130, 50, 90, 160


class Mended(NamedTuple):
    """An error of a tool or program (`subject`), and what it teaches.

    `sure` says that the change is in names or in a command line, and not only in values.
    """

    subject: str
    text: str
    evidence: str
    sure: bool


class _Step(NamedTuple):
    call: ToolCall
    program: str
    error: str


def mended_errors(messages: tuple[Message, ...]) -> Iterator[Mended]:
    """For each error after which a changed call of the same tool worked: what the change was."""
    failed: dict[str, _Step] = {}
    for step in _steps(messages):
        subject = step.program or step.call.name
        if step.error:
            failed[subject] = step
        elif before := failed.pop(subject, None):
            change, sure = _command_change(before, step) if step.program else _argument_change(before.call, step.call)
            if change:
                yield Mended(subject, f"When `{subject}` answers “{before.error}”: {change}.", before.error, sure)


def stated_errors(messages: tuple[Message, ...]) -> Iterator[Mended]:
    """Errors that say themselves what a tool does not take, as lessons about that tool."""
    for step in _steps(messages):
        error = re.sub(r"^(?:\w*error|exception)\b\W*", "", step.error, flags=re.IGNORECASE)
        if error and not step.program and _STATES_A_RULE.search(error):
            yield Mended(
                step.call.name, f"When calling `{step.call.name}`: it refuses with “{error}”.", step.error, True
            )


def _steps(messages: tuple[Message, ...]) -> Iterator[_Step]:
    """Calls in order with the program that they run (for a shell) and the error they got (empty when they worked)."""
    calls: dict[str, ToolCall] = {}
    waiting: list[ToolCall] = []
    for message in messages:
        for call in message.tool_calls:
            calls[call.id] = call
            waiting.append(call)
        for result in message.tool_results:
            found = calls.get(result.call_id) if result.call_id else None
            call = found or (waiting[0] if waiting else ToolCall(name=""))
            waiting = [other for other in waiting if other is not call]
            if call.name:
                yield _step(call, result)


def _step(call: ToolCall, result: ToolResult) -> _Step:
    command = _command(call)
    return _Step(call, _program(command) if command else "", _error(result, is_shell=bool(command)))


def _command(call: ToolCall) -> str:
    """The command line of a call to a shell; empty for any other tool."""
    arguments = _arguments(call)
    if arguments is None:
        return call.arguments if _SHELLS.search(call.name) else ""
    texts = (arguments.get(field) for field in _COMMAND_FIELDS)
    found = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return found if _SHELLS.search(call.name) else ""


def _program(command: str) -> str:
    """The program that a command line is about: its first word after assignments, `sudo`, `cd … &&` and loops."""
    for part in re.split(r"&&|\|\||;|\||\n|\bdo\b", command):
        words = [word for word in part.split() if not _BEFORE_PROGRAM.match(word)]
        if words and words[0] not in ("cd", "for", "echo", "set", "export", "cat", "sleep", "mkdir"):
            return words[0].rsplit("/", 1)[-1] if re.fullmatch(r"[\w./+-]+", words[0]) else ""
    return ""


def _error(result: ToolResult, is_shell: bool) -> str:
    """The line that says what went wrong, or nothing."""
    text = result.text.strip()
    if is_shell:
        lines = [line.strip() for line in text.splitlines() if not _PROMPT.match(line.strip())]
        shown = lines[-1:] if "Traceback" in text else lines[:2]
        line = next((line for line in shown if _ERROR.search(line)), "")
        return _short(line, ERROR_CHARS) if len(line) < 400 else ""
    says_so = not text.startswith(("{", "[")) and _ERROR.search(text[:40].split("\n")[0])
    if result.error or _FAILED_KEY.match(text) or says_so:
        return _short(_error_in_json(text) or next(iter(text.splitlines()), ""), ERROR_CHARS)
    return ""


def _error_in_json(text: str) -> str:
    """The words of an error that came as a JSON object."""
    try:
        value = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(value, dict):
        return ""
    said = [value[key] for key in ("error", "message", "detail", "hint") if isinstance(value.get(key), str)]
    return "; ".join(said)


def _command_change(before: _Step, after: _Step) -> tuple[str, bool]:
    """How the part of the command line that runs the program has changed."""
    old, new = (_part_with(step.program, _command(step.call)) for step in (before, after))
    if not old or not new or old == new or max(len(old), len(new)) > LONGEST_COMMAND:
        return "", False
    return f"`{_short(new, COMMAND_CHARS)}` worked, `{_short(old, COMMAND_CHARS)}` did not", True


def _part_with(program: str, command: str) -> str:
    parts = re.split(r"\s*(?:&&|\|\||;(?!;)|\n)\s*", command.strip())
    found = next((part for part in parts if program in part.split() or f"/{program}" in part), parts[0])
    try:
        shlex.split(found)
    except ValueError:
        return " ".join(command.split())
    return " ".join(found.split())


def _argument_change(before: ToolCall, after: ToolCall) -> tuple[str, bool]:
    """How the arguments changed: names first, then values."""
    old, new = _arguments(before), _arguments(after)
    if old is None or new is None or old == new:
        return "", False
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if gone and come:
        return f"pass {_names(come)}, not {_names(gone)}", True
    if come:
        return f"pass {_names(come)} as well", True
    if gone:
        return f"leave out {_names(gone)}", True
    return _value_change(old, new), False


def _value_change(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    changed = [name for name in new if new[name] != old[name]]
    if len(changed) > 1:
        return ""
    name = changed[0]
    right, wrong = (json.dumps(value, ensure_ascii=False) for value in (new[name], old[name]))
    if max(len(right), len(wrong)) > VALUE_CHARS:
        return f"correct `{name}` and call it again"
    return f"pass `{name}` as {right}, not as {wrong}"


def _arguments(call: ToolCall) -> dict[str, object] | None:
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _names(names: list[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _short(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
