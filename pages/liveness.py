"""Whether a run is being worked on, which its stored state alone does not tell."""

from combee_core.workspace import Workspace
from pages.next_step import LIVE


def is_live(workspace: Workspace, run: str, state: str) -> bool:
    """True as long as anything of the run may still change: one just resumed is at work before its state says so."""
    return state in LIVE or workspace.is_live(run)
