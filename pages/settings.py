"""Settings: the model in use, who reviews, defaults for runs, and where the data is."""

from pathlib import Path

import streamlit as st

from combee_core.workspace import RunSettings, Workspace
from pages.common import get_workspace
from pages.endpoint_form import show_endpoint
from pages.numbers import counted
from pages.run_form import RUN_DEFAULTS

_NUMBERS = {
    "batch": ("Batch size", 1, 100_000, "Traces in one iteration: one merge tree, one version."),
    "parallel": ("Parallel", 1, 4_096, "Calls in flight at most, at any time."),
    "copies": ("Copies", 1, 16, "Each reflection goes to this many groups."),
    "epochs": ("Epochs", 1, 100, "How often a run goes through all traces."),
    "seed": ("Seed", 0, 2**31, "Decides which trace meets which: the same seed gives the same tree."),
}


def main() -> None:
    """The model on the left, the rest on the right."""
    st.html(Path(__file__).with_name("traces.css"))
    workspace = get_workspace()
    st.title("Settings", anchor=False)
    model, rest = st.columns([3, 2], gap="large")
    with model:
        st.subheader("Model", anchor=False)
        show_endpoint(workspace)
    with rest:
        show_reviewer(workspace)
        show_defaults(workspace)
        show_data(workspace)


def show_reviewer(workspace: Workspace) -> None:
    """The name that approvals carry."""
    st.subheader("Reviewer", anchor=False)
    st.session_state["settings_reviewer"] = workspace.preference("reviewer") or ""
    st.text_input(
        "Your name",
        key="settings_reviewer",
        max_chars=100,
        help="Stands beside the versions that you approve.",
        on_change=lambda: workspace.set_preference("reviewer", st.session_state["settings_reviewer"].strip()),
    )


def show_defaults(workspace: Workspace) -> None:
    """The values with which the form of a new run begins; a change is stored at once."""
    st.subheader("Defaults for runs", anchor=False)
    values = RunSettings(prompt="any").model_dump() | (workspace.preference(RUN_DEFAULTS) or {})

    def store() -> None:
        workspace.set_preference(RUN_DEFAULTS, {name: st.session_state[f"settings_{name}"] for name in _NUMBERS})

    places = st.columns(3) + st.columns(3)
    for place, (name, (label, least, most, help_)) in zip(places, _NUMBERS.items(), strict=False):
        st.session_state[f"settings_{name}"] = values[name]
        place.number_input(
            label, min_value=least, max_value=most, step=1, key=f"settings_{name}", help=help_, on_change=store
        )


def show_data(workspace: Workspace) -> None:
    """Where everything is kept, and how much it is."""
    st.subheader("Data", anchor=False)
    st.code(str(workspace.path.parent), language=None, wrap_lines=True)
    files = [path for path in workspace.path.parent.glob(f"{workspace.path.name}*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    traces, runs = workspace.trace_counts()["total"], len(workspace.runs())
    st.caption(
        f"{size:,.1f} MB with {counted(traces, 'trace')} and {counted(runs, 'run')}. Set COMBEE_HOME to move it."
    )


main()
