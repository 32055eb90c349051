"""Combee: turn agent traces into a better system prompt, and stay in charge of what it says.

from combee_core import Workspace
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from combee_core.workspace import RunSettings, TraceFilter, Workspace

__all__ = ["RunSettings", "TraceFilter", "Workspace"]


def __getattr__(name: str) -> object:
    """Load the workspace when it is first asked for: the ground floor alone needs no database."""
    if name in __all__:
        from combee_core import workspace

        return getattr(workspace, name)
    raise AttributeError(f"module 'combee_core' has no attribute {name!r}")
