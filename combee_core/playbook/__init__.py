"""The playbook: bullets in sections, their text form, and the operations that change them.

Pure data and functions: a playbook is never changed in place, every change gives a new one. This package does not know
who proposes an operation (a learner), who accepts it (the review) or where versions are kept (the store).
"""

from combee_core.playbook.bullets import DEFAULT_SECTION, Bullet, Playbook, section_name, tag
from combee_core.playbook.operations import (
    Applied,
    AppliedOperation,
    Contradiction,
    Merged,
    Operation,
    OperationKind,
    RejectedOperation,
    apply,
    first_free_number,
)
from combee_core.playbook.text import PlaybookError, parse, render

__all__ = [
    "DEFAULT_SECTION",
    "Applied",
    "AppliedOperation",
    "Bullet",
    "Contradiction",
    "Merged",
    "Operation",
    "OperationKind",
    "Playbook",
    "PlaybookError",
    "RejectedOperation",
    "apply",
    "first_free_number",
    "parse",
    "render",
    "section_name",
    "tag",
]
