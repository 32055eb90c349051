"""One sentence for a file that holds no traces: what it looks like."""

import re

from combee_core.importers.json_text import clean_text

_MAGIC = (
    (b"PAR1", "a parquet table"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"Rar!", "a RAR archive: unpack it first"),
    (b"\xfd7zXZ", "an xz archive: unpack it first"),
    (b"BZh", "a bzip2 archive: unpack it first"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x80\x04", "a Python pickle, which Combee never opens"),
    (b"\x7fELF", "a program"),
)
_LFS = b"version https://git-lfs"
_HTML = re.compile(rb"\A\s*<(?:!doctype html|html|head|body)", re.IGNORECASE)
_XML = re.compile(rb"\A\s*<\?xml")


def known_junk(head: bytes) -> str | None:
    """What a file is, from its first bytes, when it can hold no trace; None when it may."""
    if not head.strip(b"\x00 \t\r\n\f\v\xef\xbb\xbf"):
        return "it is empty"
    if head.startswith(_LFS):
        return (
            "it is a Git LFS pointer, a note in place of the real file: run `git lfs pull`, then import the file again"
        )
    if _HTML.match(head):
        return "it is an HTML page, often an error or a login page saved in place of the file: download the file again"
    if _XML.match(head):
        return "it is XML"
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return f"it is {what}"
    if head[:4096].count(0) > len(head[:4096]) // 20:
        return "it is binary data"
    return None


def is_fault(looks: str) -> bool:
    """Whether the words of a refusal say that the file is damaged, and not just of another kind."""
    return looks.startswith(("it is a Git LFS", "it is an HTML")) or "cut off" in looks


def describe(value: object) -> str:
    """A record in a few words: "an object with id, name, steps"."""
    if isinstance(value, dict):
        keys = [clean_text(str(key))[:30] for key in list(value)[:6]]
        more = ", …" if len(value) > len(keys) else ""
        return f"an object with {', '.join(keys)}{more}" if keys else "an empty object"
    if isinstance(value, list):
        return f"a list that starts with {describe(value[0])}" if value else "an empty list"
    if isinstance(value, str):
        return "text"
    return "null" if value is None else "true or false" if isinstance(value, bool) else "a number"


def refusal(name: str, looks: str) -> str:
    """The sentence: the file, and what it looks like."""
    return f"{name} holds no traces that Combee can read: {looks}."
