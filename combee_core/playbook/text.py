"""ACE's text form of a playbook: read and written."""

import re

from combee_core.errors import CombeeError
from combee_core.playbook.bullets import DEFAULT_SECTION, ID_PATTERN, Bullet, Playbook, one_line

_HEADING = re.compile(r"\s*#+\s*(?P<section>.*)", re.DOTALL)
_BULLET = re.compile(
    rf"\s*(?:[-*]\s+)?\[(?P<id>{ID_PATTERN})\]\s*helpful=(?P<helpful>[0-9]{{1,18}})\s*"
    r"harmful=(?P<harmful>[0-9]{1,18})\s*:: ?(?P<content>.*)",
    re.DOTALL,
)
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r"}
_PLAIN = {escaped: plain for plain, escaped in _ESCAPED.items()}
_ESCAPED_TEXT = re.compile(r"(?:[^\\]|\\[\\nr])*")


class PlaybookError(CombeeError):
    """A playbook text that cannot be read; the message names the line, counted from 1, and what belongs there."""


def parse(text: str) -> Playbook:
    """Read ACE's text form: `## SECTION` headings, and one `[id] helpful=0 harmful=0 :: content` line per bullet.

    Takes Windows line ends, blank lines, repeated and empty headings, and bullets before any heading (section OTHERS).
    In content, `\\n`, `\\r` and `\\\\` stand for a newline, a carriage return and a backslash; content with any other
    backslash, such as `\\d+`, was not written by `render` and is taken literally as a whole.

    Raises `PlaybookError` for a line that is none of these, and for an id that is used twice.
    """
    section = DEFAULT_SECTION
    bullets: list[Bullet] = []
    line_of: dict[str, int] = {}
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        if heading := _HEADING.fullmatch(line):
            section = one_line(heading["section"]) or DEFAULT_SECTION
            continue
        bullet = _read_bullet(line, number, section)
        if bullet.id in line_of:
            raise PlaybookError(
                f"Line {number}: the id {bullet.id} is already used in line {line_of[bullet.id]}; give one of the two "
                "bullets another id."
            )
        line_of[bullet.id] = number
        bullets.append(bullet)
    return Playbook(bullets=tuple(bullets))


def render(playbook: Playbook) -> str:
    """ACE's text form of a playbook; `parse(render(playbook)) == playbook` holds for every playbook."""
    blocks = []
    for section in playbook.sections:
        lines = [_write_bullet(bullet) for bullet in playbook.bullets if bullet.section == section]
        blocks.append("\n".join([f"## {section}", *lines]) + "\n")
    return "\n".join(blocks)


def _read_bullet(line: str, number: int, section: str) -> Bullet:
    match = _BULLET.fullmatch(line)
    if not match:
        raise PlaybookError(
            f"Line {number}: expected a heading (## SECTION) or a bullet ([calc-00012] helpful=0 harmful=0 :: text), "
            f"but found: {line.strip()[:60]}"
        )
    content = _unescape(match["content"])
    if not content.strip():
        raise PlaybookError(f"Line {number}: bullet {match['id']} has no text after the ::, write some or remove it.")
    return Bullet(
        id=match["id"],
        section=section,
        content=content,
        helpful=int(match["helpful"]),
        harmful=int(match["harmful"]),
    )


def _write_bullet(bullet: Bullet) -> str:
    return f"[{bullet.id}] helpful={bullet.helpful} harmful={bullet.harmful} :: {_escape(bullet.content)}"


def _escape(content: str) -> str:
    # A regular expression such as \d+ reaches the agent as it is: only what would be misread is escaped.
    if "\n" not in content and "\r" not in content and _unescape(content) == content:
        return content
    return re.sub(r"[\\\n\r]", lambda match: _ESCAPED[match[0]], content)


def _unescape(content: str) -> str:
    if not _ESCAPED_TEXT.fullmatch(content):
        return content
    plain = re.sub(r"\\[\\nr]", lambda match: _PLAIN[match[0]], content)
    return plain if plain.strip() else content
