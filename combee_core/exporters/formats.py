"""The text of a prompt version in each export format.

Markdown and ACE text hold the playbook alone, so that equal playbooks give equal bytes; JSON adds version and sources.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import orjson

from combee_core.playbook import Bullet, render
from combee_core.store.versions import Version

Outcomes = Mapping[str, bool | None]
"""Whether the run of a trace was a success, by trace id; None and a missing one where that is not known."""

_LINE_END = re.compile(r"\r\n|\r|\n")


def export(version: Version, format: str, outcomes: Outcomes = MappingProxyType({})) -> str:
    """The version in one of FORMATS. Raises KeyError for a format that does not exist."""
    return FORMATS[format](version, outcomes)


def _markdown(version: Version, outcomes: Outcomes) -> str:
    parts = []
    for section in version.playbook.sections:
        bullets = [bullet for bullet in version.playbook.bullets if bullet.section == section]
        parts.append("\n".join([f"## {section}", "", *(_markdown_bullet(bullet) for bullet in bullets)]))
    return "\n\n".join(parts) + "\n" if parts else ""


def _markdown_bullet(bullet: Bullet) -> str:
    """A list item; further lines are indented, so that they stay part of it."""
    first, *further = _LINE_END.split(bullet.content)
    return "\n".join([f"- {first}", *(f"  {line}" if line else "" for line in further)])


def _ace(version: Version, outcomes: Outcomes) -> str:
    return render(version.playbook)


def _json(version: Version, outcomes: Outcomes) -> str:
    sections = [
        {
            "section": section,
            "bullets": [
                _json_bullet(bullet, version, outcomes)
                for bullet in version.playbook.bullets
                if bullet.section == section
            ],
        }
        for section in version.playbook.sections
    ]
    document = {
        "prompt": version.prompt,
        "version": version.name,
        "status": version.status,
        "approved_by": version.approved_by,
        "run": version.run,
        "sections": sections,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _json_bullet(bullet: Bullet, version: Version, outcomes: Outcomes) -> dict[str, Any]:
    traces = {entry["trace"] for entry in version.sources.get(bullet.id, ())}
    ended = [outcomes.get(trace) for trace in traces]
    return {
        "id": bullet.id,
        "content": bullet.content,
        "helpful": bullet.helpful,
        "harmful": bullet.harmful,
        "support": len(traces),
        "support_success": ended.count(True),
        "support_failure": ended.count(False),
        "sources": [_json_source(entry, version.run) for entry in version.sources.get(bullet.id, ())],
    }


def _json_source(entry: dict[str, Any], run: str | None) -> dict[str, Any]:
    """A source names its run only where that is not the version's own: node ids are unique within a run."""
    shown = {name: entry[name] for name in ("trace", "reflection", "node", "lesson", "via")}
    return shown if entry["run"] == run else shown | {"run": entry["run"]}


FORMATS: dict[str, Callable[[Version, Outcomes], str]] = {"markdown": _markdown, "json": _json, "ace": _ace}
