"""What a planned run would take, beside its form, and the button that starts it."""

import streamlit as st

from combee_core.engine.estimate import Estimate, typical
from combee_core.engine.run import tree_plan
from combee_core.errors import CombeeError
from combee_core.workspace import Workspace
from pages import address
from pages.numbers import compact, counted, duration, money
from pages.plan_figure import plan_svg
from pages.run_facts import Fact, facts_html
from pages.run_form import Planned
from pages.session_key import ask_key, session_key


def show_plan(workspace: Workspace, planned: Planned | None) -> None:
    """The tree, what it costs, which model does it, and the start."""
    estimate = None
    if planned is not None:
        try:
            estimate = workspace.estimate(planned.settings, planned.which)
        except CombeeError as error:
            st.warning(str(error))
    if planned is not None and estimate is not None:
        st.image(plan_svg(tree_plan(typical(estimate.sizes), 1, planned.settings)), alt=estimate.tree, width="stretch")
        st.markdown(f"**{estimate.tree}**")
        st.caption(_iterations(estimate, planned))
        _numbers(estimate, planned)
        show_model(workspace)
    if failure := st.session_state.pop("learn_failure", None):
        st.error(failure)
    st.button(
        "Start learning",
        type="primary",
        key="learn_start",
        icon=":material/play_arrow:",
        disabled=estimate is None,
        on_click=_start,
        args=(workspace, planned, st.session_state.setdefault("learn_form", 0)),
    )


def _iterations(estimate: Estimate, planned: Planned) -> str:
    size, last = typical(estimate.sizes), estimate.sizes[-1]
    if planned.settings.batch == "auto":
        tried = "" if estimate.sizes[0] == size else f" after trials from {estimate.sizes[0]:,} on"
        return (
            f"{counted(planned.traces, 'trace')} in batches that the delays decide on, about {size:,}{tried}: about "
            f"{counted(estimate.iterations, 'iteration')}, this tree in most of them."
        )
    shorter = f", the last one of {last:,}" if last != size else ""
    trees = "this tree once" if estimate.iterations == 1 else f"{estimate.iterations:,} such trees, one after the other"
    return f"{counted(planned.traces, 'trace')} in batches of {size:,}{shorter}: {trees}."


def _numbers(estimate: Estimate, planned: Planned) -> None:
    if planned.settings.endpoint is None:
        return
    facts = [
        Fact("Calls", f"{estimate.calls:,}", "One a reflection, one a merge."),
        Fact("Tokens", compact(estimate.input_tokens + estimate.output_tokens), _tokens(estimate)),
        Fact("Cost", money(estimate.cost_usd), "Unknown when no price of this model is known."),
        Fact("Time", _time(estimate.seconds), "At this parallelism, with the seconds a call took so far."),
    ]
    st.html(facts_html(facts))
    if estimate.seconds is None:
        st.caption("The time is known once a call to this model has been measured.")
    elif estimate.sequential_seconds is not None:
        st.caption(f"Learning one trace after the other would take {duration(estimate.sequential_seconds)}.")


def _tokens(estimate: Estimate) -> str:
    both = f"{compact(estimate.input_tokens)} in, {compact(estimate.output_tokens)} out"
    return f"About {both}, from the length of the traces."


def _time(seconds: float | None) -> str:
    return "unknown" if seconds is None else duration(seconds)


def show_model(workspace: Workspace) -> None:
    """Which model learns; a key that is typed here stays in this session and is never stored."""
    endpoint = workspace.endpoint()
    with st.container(horizontal=True, vertical_alignment="center"):
        if endpoint is None:
            st.markdown("Offline rules engine, no language model", width="content")
        else:
            st.text(f"Model: {endpoint.model}", width="content")
        st.page_link("settings.py", label="Settings", icon=":material/settings:")
    if endpoint is not None:
        ask_key()


def _start(workspace: Workspace, planned: Planned, form: int) -> None:
    """Start the run once, also when the button was clicked twice."""
    if form != st.session_state["learn_form"]:
        return
    try:
        run = workspace.start(planned.settings, planned.which, session_key())
    except CombeeError as error:
        st.session_state["learn_failure"] = str(error)
        return
    st.session_state["learn_form"] = form + 1
    address.move(run=run)
